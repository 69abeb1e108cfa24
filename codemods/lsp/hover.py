"""What a finding claims, and what was measured of such findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.lsp.diagnostics import docs_page, told
from fullgraph.codemods.model import Finding
from fullgraph.codemods.ui.measured import numbers_text, stored_rows
from fullgraph.validate.launch import python_of

VERSION = re.compile(r"""__version__ = ['"]([^'"]+)""")
PLACES = ("lib/python*/site-packages/torch/version.py", "Lib/site-packages/torch/version.py")


def hover_text(findings: Sequence[Finding], codemods: Sequence[Codemod], torch: str) -> str:
    """All findings at a place, as Markdown. `torch` is the version that the project runs on, if it is known."""
    kinds = {codemod.name: codemod for codemod in codemods}
    return "\n\n---\n\n".join("\n\n".join(about(finding, kinds.get(finding.codemod), torch)) for finding in findings)


def about(finding: Finding, codemod: Codemod | None, torch: str) -> Iterator[str]:
    page = docs_page(finding.codemod)
    yield f"**[{finding.codemod}]({page.as_uri()})**" if page else f"**{finding.codemod}**"
    yield "  \n".join(told(finding))
    if codemod and codemod.why:
        yield codemod.why
    if codemod and codemod.claim:
        yield f"Claimed: {codemod.claim}"
    yield from measured(finding.codemod, torch)


def measured(name: str, torch: str) -> Iterator[str]:
    """What came out when the codemod's fixtures were proven; and whether that was on the project's torch."""
    rows = list(stored_rows(name))
    if not rows:
        yield "Nothing was measured of it yet."
        return
    yield "\n".join(f"- Measured: {row_text(case, row)}" for case, row in rows)
    if torch and not any(plain(str(row["torch"])) == plain(torch) for _, row in rows):
        yield f"This project has torch {torch}: `fullgraph explain {name} --measure` measures it there."


def row_text(case: str, row: dict[str, object]) -> str:
    return f"torch {row['torch']}, {row['device']}, fixture `{case}`: **{row['ruling']}**: {numbers_text(row)}"


def plain(version: str) -> str:
    """A version without the build that stands behind its plus sign."""
    return version.partition("+")[0]


def torch_version(root: Path, python: str) -> str:
    """The version of torch that the project's interpreter has, read from its files: torch is never imported."""
    prefix = Path(python_of(python, root)).parent.parent
    for place in PLACES:
        for file in sorted(prefix.glob(place)):
            with suppress(OSError, UnicodeDecodeError):
                if found := VERSION.search(file.read_text("utf-8")):
                    return found[1]
    return ""
