"""A third party's file, written, loaded and run on bytes."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from fullgraph import Codemod, Finding, Project
from fullgraph.codemods.foreign.load import load_codemods
from fullgraph.codemods.rewrite.find import FileResult, find
from tests.cases import FIXTURES, apply

FOREIGN = FIXTURES / "foreign"


def load(folder: Path, text: str, name: str = "theirs.py") -> list[type[Codemod]]:
    file = folder / name
    file.write_text(dedent(text))
    return load_codemods(file)


def named(file: str, name: str) -> type[Codemod]:
    """One codemod of a file in fixtures/foreign."""
    return next(kind for kind in load_codemods(FOREIGN / file) if kind.name == name)


def look(codemod: Codemod, raw: bytes, path: str = "pkg/module.py") -> FileResult:
    files = {"pkg/__init__.py": b"", path: raw}
    return find(Project(Path("/nowhere"), files, files), path, [codemod])


def only(codemod: Codemod, raw: bytes) -> Finding:
    """The one finding in a file that can be looked at."""
    result = look(codemod, raw)
    assert not result.error
    (finding,) = result.findings
    return finding


def rewritten(codemod: Codemod, raw: bytes) -> bytes:
    """The bytes after all edits; a second run must find nothing."""
    path = "pkg/module.py"
    result = look(codemod, raw)
    assert not result.error
    after = apply({path: raw}, list(result.findings))[path]
    assert not look(codemod, after).findings
    return after
