"""`# fullgraph: ignore[name]` on a line silences the findings of that codemod on it."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Finding
from fullgraph.codemods.module import Module

MARK = re.compile(rb"fullgraph:\s*ignore")
COMMENT = re.compile(r"#\s*fullgraph:\s*ignore\b(?:\[([^\]]*)\])?")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One name in one comment."""

    line: int
    name: str


def may_suppress(raw: bytes) -> bool:
    """Whether the bytes could hold a suppression. The first test alone would be met by `fullgraph: bool`."""
    return b"fullgraph:" in raw and MARK.search(raw) is not None


def silence(
    module: Module, findings: Sequence[Finding], codemods: Sequence[Codemod]
) -> tuple[list[Finding], int, tuple[Suppression, ...]]:
    """The findings that are not silenced, how many were, and the suppressions that silenced nothing.

    A suppression counts on the first and on the last line of a finding. One for a codemod that did not run is not
    unused: nobody asked.
    """
    if not may_suppress(module.text.encode(errors="replace")):
        return list(findings), 0, ()
    suppressions = set(suppressions_in(module))
    used: set[Suppression] = set()
    kept: list[Finding] = []
    for finding in findings:
        ends = (finding.line, finding.last_line)
        hits = {Suppression(line, finding.codemod) for line in ends} & suppressions
        used |= hits
        if not hits:
            kept.append(finding)
    ran = {codemod.name for codemod in codemods}
    unused = [left for left in suppressions - used if left.name in ran or not is_known(left.name)]
    return kept, len(findings) - len(kept), tuple(sorted(unused, key=lambda left: (left.line, left.name)))


def is_known(name: str) -> bool:
    from fullgraph.codemods.registry import all_codemods

    return name in all_codemods()


def suppressions_in(module: Module) -> Iterator[Suppression]:
    """The suppressions in the comments of a module; the same words in a string are no suppression.

    A comment that names no codemod silences none: its name is empty.
    """
    text = io.StringIO(module.parsed, newline=None)  # lines end where Python ends them, at a lone CR too
    try:
        tokens = list(tokenize.generate_tokens(text.readline))
    except (tokenize.TokenError, SyntaxError):
        return
    for token in tokens:
        if token.type == tokenize.COMMENT:
            for comment in COMMENT.finditer(token.string):
                for name in (comment.group(1) or "").split(","):
                    yield Suppression(token.start[0], name.strip())
