"""What the codemods of all other tools have in common: text in, text out, one finding for a whole file."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.difference import replacements
from fullgraph.codemods.foreign.blame import blamed_on
from fullgraph.codemods.model import Edit, Finding, Safety, SourceError, Span
from fullgraph.codemods.module import NEWLINE, Module, Scope
from fullgraph.codemods.project import Project

BLANK = re.compile(r"[\s\\\ufeff]*")


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What a tool made of a file. `before` is the file as the same tool gives it back when nothing is changed."""

    before: str
    after: str
    notes: tuple[str, ...] = ()


class ForeignCodemod(Codemod):
    """A codemod of another tool. It changes a file as a whole, so all of its edits there are one finding."""

    origin: ClassVar[Path]
    """The file that it was loaded from."""

    tool: ClassVar[str]
    description: ClassVar[str]

    def rewrite(self, module: Module, project: Project) -> Rewrite | None:
        """What the tool makes of the module; None when it changes nothing."""
        raise NotImplementedError

    def find(self, module: Module, project: Project) -> Iterable[Finding]:
        project.was_asked = True  # nobody knows what else a third party's code looks at
        with blamed_on(self.name, module.path, self.origin), redirect_stdout(sys.stderr):
            rewrite = self.rewrite(module, project)
        edits = self.edits(module, rewrite) if rewrite else ()
        return [self.whole_file(module, edits, rewrite.notes)] if rewrite and edits else []

    def edits(self, module: Module, rewrite: Rewrite) -> tuple[Edit, ...]:
        """The rewrite as edits of the original text, with the line endings that are used there."""
        if rewrite.before == rewrite.after:
            return ()
        shift = self.place(module, rewrite.before)
        edits = []
        for span, text in replacements(rewrite.before, rewrite.after):
            span = Span(span.start + shift, span.end + shift)
            if module.text[span.start : span.end] != module.source.parsed[span.start : span.end]:
                line = module.line(span.start)
                raise SourceError(module.path, f"line {line}: {self.name} would change what is not Python")
            edits.append(Edit(module.path, span, with_newlines_of(module, span, text)))
        return tuple(edits)

    def place(self, module: Module, before: str) -> int:
        """Where the text that the tool saw begins: it may have dropped a form feed or the like at either end."""
        text = module.source.parsed
        start = text.find(before)
        if start < 0 or not BLANK.fullmatch(text[:start]) or not BLANK.fullmatch(text[start + len(before) :]):
            same = next((i for i, (a, b) in enumerate(zip(text, before, strict=False)) if a != b), len(before))
            raise SourceError(module.path, f"line {module.line(same)}: {self.tool} does not give this back as it is")
        return start

    def whole_file(self, module: Module, edits: tuple[Edit, ...], notes: tuple[str, ...]) -> Finding:
        span = Span(edits[0].span.start, edits[-1].span.end)
        return Finding(
            codemod=self.name,
            path=module.path,
            span=span,
            symbol=symbol_around(module, span),
            message=self.description,
            edits=edits,
            safety=Safety.UNSAFE,
            caveat=f"written for {self.tool}, which says nothing about safety: read the whole diff",
            notes=tuple(dict.fromkeys(notes)),
            line=module.line(span.start),
            column=span.start - module.line_start(span.start) + 1,
            last_line=module.line(max(span.start, span.end - 1)),
        )


def with_newlines_of(module: Module, span: Span, text: str) -> str:
    """The new text with the line endings used around it, unless they are all that it changes."""
    replaced = module.text[span.start : span.end]
    if NEWLINE.sub("\n", replaced) == NEWLINE.sub("\n", text):
        return text
    return NEWLINE.sub(module.newline_at(span.start), text)


def symbol_around(module: Module, span: Span) -> str:
    """The innermost function or class that holds all of these characters, its decorators included."""
    around = "<module>"
    for scope in module.nodes(*Scope.__args__):
        first = min((scope, *scope.decorator_list), key=lambda node: node.lineno)
        start = module.line_start(module.span(first).start)
        if Span(start, module.span(scope).end).covers(span):
            around = module.symbol(scope)
    return around


def first_line(*texts: str | None) -> str:
    """The first line of the first text that says anything."""
    lines = (line.strip() for text in texts for line in (text or "").strip().splitlines()[:1])
    return next((line for line in lines if line), "")
