"""The files that are open in the client, with the projects that they belong to."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

from lsprotocol.types import NotebookDocument
from pygls.uris import from_fs_path, to_fs_path, uri_scheme

from fullgraph.codemods.lsp.buffers import MARK, Buffer, Buffers, buffer_bytes, notebook_bytes
from fullgraph.codemods.lsp.pages import Page, cells_page, text_page
from fullgraph.codemods.lsp.projects import real_path, root_of
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.plain_file import read_plain
from fullgraph.codemods.rewrite.walk import SUFFIXES
from fullgraph.codemods.source import Source, decode

Home = tuple[Path, str]
"""A project's root, and the path of a file below it."""


@dataclass(frozen=True)
class OpenFile:
    """One file that the client has open, as it is at this moment. `parts`: its texts' URIs and versions, in order."""

    root: Path
    path: str
    uri: str
    raw: bytes
    parts: tuple[tuple[str, int | None], ...]
    has_cells: bool = False
    has_mark: bool = False

    def page(self, encoding: str) -> Page:
        source = read(self.path, self.raw)
        if self.has_cells:
            return cells_page(source, self.parts, encoding)
        return text_page(source, *self.parts[0], encoding, self.has_mark)


def read(path: str, raw: bytes) -> Source:
    """The file's text. What cannot be read has a place all the same, for the line that says so."""
    try:
        return decode(path, raw)
    except SourceError:
        text = raw.decode("utf-8", "replace").removeprefix(MARK)
        return Source(path, raw, text, text)


class OpenFiles:
    """All that is open. Where a file belongs is kept until folders or markers may have changed."""

    def __init__(self, buffers: Buffers) -> None:
        self.buffers = buffers
        self.homes: dict[str, Home] = {}

    def all(self) -> list[OpenFile]:
        cells = self.buffers._cell_in_notebook
        texts = {uri: buffer for uri, buffer in self.buffers.text_documents.items() if uri not in cells}
        plain = [self.of_text(buffer) for buffer in texts.values() if is_python(buffer)]
        return [*plain, *(self.of_notebook(notebook) for notebook in self.buffers.notebook_documents.values())]

    def find(self, uri: str) -> OpenFile | None:
        """The open file that a text of the client is, or is a cell of."""
        wanted = unquote(uri)
        return next((file for file in self.all() if any(unquote(part) == wanted for part, _ in file.parts)), None)

    def of_text(self, buffer: Buffer) -> OpenFile:
        root, path = self.home(buffer.uri)
        text = buffer.source
        raw = buffer_bytes(path, text, first_bytes(root / path))
        parts = ((buffer.uri, buffer.version),)
        return OpenFile(root, path, buffer.uri, raw, parts, has_mark=text.startswith(MARK))

    def of_notebook(self, notebook: NotebookDocument) -> OpenFile:
        root, path = self.home(notebook.uri)
        texts = {cell.document: self.buffers.text_documents.get(unquote(cell.document)) for cell in notebook.cells}
        parts = tuple((uri, buffer.version if buffer else None) for uri, buffer in texts.items())
        known = {uri: buffer for uri, buffer in texts.items() if buffer}
        name = path if path.endswith(".ipynb") else f"{path}.ipynb"
        return OpenFile(root, name, notebook.uri, notebook_bytes(notebook, known), parts, has_cells=True)

    def home(self, uri: str) -> Home:
        if uri not in self.homes:
            self.homes[uri] = self._find_home(uri)
        return self.homes[uri]

    def _find_home(self, uri: str) -> Home:
        """A name that no disk could hold is a text without a file: it must not be in the way of the others."""
        fs_path = to_fs_path(uri) if uri_scheme(uri) == "file" else None
        if fs_path is None or "\0" in fs_path:
            return lone_home(uri, self.folders())
        try:
            file = real_path(fs_path)
            root = root_of(file, self.folders())
        except OSError:
            return lone_home(uri, self.folders())
        return root, file.relative_to(root).as_posix()

    def folders(self) -> list[Path]:
        given = [folder.uri for folder in self.buffers.folders.values()] or [self.buffers.root_uri or ""]
        paths = [to_fs_path(uri) for uri in given if uri_scheme(uri) == "file"]
        return [real_path(path) for path in paths if path]


def lone_home(uri: str, folders: Iterable[Path]) -> Home:
    """A text without a file: a project of its own, with the configuration of the client's first folder."""
    around = next(iter(folders), Path(tempfile.gettempdir()))
    return around / f".untitled-{sha256(uri.encode()).hexdigest()[:8]}", "untitled.py"


def is_python(buffer: Buffer) -> bool:
    suffix = Path(unquote(buffer.uri)).suffix
    return suffix in SUFFIXES or (buffer.language_id == "python" and suffix == "")


def first_bytes(file: Path) -> bytes:
    """The bytes at which a byte order mark would stand."""
    try:
        return read_plain(file)[:3]
    except OSError:
        return b""


def uri_of(root: Path, path: str, files: Iterable[OpenFile]) -> str:
    """The client's own name for a file, if it has it open."""
    own = next((file.uri for file in files if (file.root, file.path) == (root, path)), None)
    return own or from_fs_path(str(root / path)) or ""
