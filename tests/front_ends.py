"""The ways to fullgraph: each says what it finds in a project, and what the project is once all of it is fixed."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from lsprotocol.types import CreateFile, Diagnostic, TextDocumentEdit

from fullgraph.codemods.lsp.diagnostics import diagnose
from fullgraph.codemods.lsp.edits import Abilities, Composer
from fullgraph.codemods.lsp.fixing import accept_all, fix_project
from fullgraph.codemods.lsp.pages import Page, text_page
from fullgraph.codemods.lsp.positions import Lines
from fullgraph.codemods.lsp.projects import LiveProject
from fullgraph.codemods.lsp.settings import ClientSettings
from fullgraph.codemods.notebook import NotebookSource
from fullgraph.codemods.rewrite.walk import SUFFIXES, find_root
from fullgraph.codemods.source import Source, decode
from fullgraph.codemods.ui.cli import main
from tests.cases import Case
from tests.lsp.client import edited, path_of, uri_of

ENCODING = "utf-16"
ABILITIES = Abilities(documents=True, operations=frozenset({"create", "delete"}))


@dataclass(frozen=True, order=True)
class Said:
    """What a front end says of one finding."""

    path: str
    line: int
    column: int
    codemod: str
    key: str
    message: str


def write_case(case: Case, root: Path) -> Path:
    """A fixture as a project on disk, with its codemod and options chosen there."""
    tables = [f"[tool.fullgraph]\nselect = [{json.dumps(case.codemod_name)}]\n"]
    if options := case.config.get("options"):
        tables.append(f"[tool.fullgraph.options.{case.codemod_name}]")
        tables += [f"{key} = {json.dumps(value)}" for key, value in options.items()]
    for path, data in {**case.before, "pyproject.toml": "\n".join(tables).encode()}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def files_of(root: Path) -> dict[str, bytes]:
    """Every file that a codemod may change, by its path."""
    found = (file for file in root.rglob("*") if file.suffix in SUFFIXES and ".fullgraph" not in file.parts)
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in sorted(found)}


def source_of(root: Path, path: str) -> Source:
    return decode(path, (root / path).read_bytes())


# The command line


def run_cli(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, [*arguments, "--format", "json", "--no-cache", "--jobs", "1"])
    assert done.exit_code in (0, 1), done.output
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def named(root: Path) -> list[str]:
    """Every file by its name, as editors know it: each then belongs to the project that is nearest to it."""
    return [str(root / path) for path in files_of(root)]


def found_by_cli(root: Path) -> list[Said]:
    findings = run_cli("check", *named(root))["findings"]
    return sorted(
        Said(
            os.path.relpath(os.path.join(found["root"], found["path"]), root),
            *(found[name] for name in ("line", "column", "codemod", "key", "message")),
        )
        for found in findings
    )


def fixed_by_cli(root: Path) -> dict[str, bytes]:
    run_cli("fix", "--yes", "--unsafe", *named(root))
    return files_of(root)


# The language server, without the protocol


def page_of(root: Path, path: str) -> Page:
    return text_page(source_of(root, path), uri_of(root / path), None, ENCODING)


def homes(root: Path) -> dict[Path, list[str]]:
    """The files of a project by the project that is nearest to each."""
    found: dict[Path, list[str]] = {}
    for path in files_of(root):
        found.setdefault(find_root(root / path), []).append(path)
    return found


def found_by_server(root: Path) -> list[Said]:
    """What diagnostics say."""
    said = []
    for home, paths in homes(root).items():
        live = LiveProject(home, ClientSettings())
        for path in paths:
            result = live.look((root / path).relative_to(home).as_posix(), {})
            for _, found in diagnose(result, page_of(root, path)):
                said.append(said_by(root, path, found))
    return sorted(said)


def said_by(root: Path, path: str, found: Diagnostic) -> Said:
    assert found.data is not None, found.message
    line, column = place_in(root, path, Lines(text_of(root, path)).offset(found.range.start))
    return Said(path, line, column, str(found.code), str(found.data["key"]), found.message.splitlines()[0])


def fixed_by_server(root: Path) -> dict[str, bytes]:
    """What the action that fixes a project makes of it."""
    for home in homes(root):
        fixed = fix_project(LiveProject(home, ClientSettings()), {}, accept_all(True), lambda path: None)
        for change in composer_for(home).compose(fixed, confirm=False).document_changes or ():
            make(change)
    return files_of(root)


def composer_for(home: Path) -> Composer:
    return Composer(ABILITIES, lambda path, _: page_of(home, path), lambda path: uri_of(home / path))


def make(change: object) -> None:
    """One change of an edit, as an editor makes and saves it."""
    if isinstance(change, CreateFile):
        file = Path(path_of(change.uri))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(exist_ok=False)
    elif isinstance(change, TextDocumentEdit):
        file = Path(path_of(change.text_document.uri))
        source = source_of(file.parent, file.name)
        after = edited(text_of(file.parent, file.name), change.edits, ENCODING)
        file.write_bytes(source.prefix + after.encode(source.encoding))
    else:
        raise AssertionError(change)


def text_of(root: Path, path: str) -> str:
    """A file as an editor shows it: without a byte order mark, in the encoding that it declares."""
    source = source_of(root, path)
    return source.json if isinstance(source, NotebookSource) else source.text


def place_in(root: Path, path: str, offset: int) -> tuple[int, int]:
    """The line and column that the command line gives to a character that the editor has."""
    source = source_of(root, path)
    if isinstance(source, NotebookSource):
        offset = next(at for at in range(len(source.text) + 1) if source.file_offset(at) == offset)
    starts = Lines(source.text).starts
    line = sum(start <= offset for start in starts)
    return line, offset - starts[line - 1] + 1
