"""The texts that the client has open, kept as the client keeps them, and their bytes as files would hold them."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Mapping

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from fullgraph.codemods.lsp.positions import Lines
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.source import declared_encoding

MARK = "\ufeff"


class Buffer(TextDocument):
    """One open text. pygls would end lines at form feeds too, and so misplace every change behind one."""

    def _apply_incremental_change(self, change: types.TextDocumentContentChangePartial) -> None:
        text = self.source
        span = Lines(text, self.position_codec.encoding or "utf-16").span(change.range)
        self._source = text[: span.start] + change.text + text[span.end :]


class Buffers(Workspace):
    """All open texts, notebooks and folders."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> Buffer:
        return Buffer(
            doc_uri,
            source=source,
            version=version,
            language_id=language_id,
            sync_kind=types.TextDocumentSyncKind.Incremental,
            position_codec=self.position_codec,
        )


def buffer_bytes(path: str, text: str, on_disk: bytes = b"") -> bytes:
    """The bytes that saving a buffer would write: in the encoding that it declares, with the file's own mark.

    A text that this encoding cannot hold is left to whoever reads the bytes: it is an error of that file.
    """
    plain = text.encode("utf-8", "surrogatepass")
    prefix = BOM_UTF8 if on_disk.startswith(BOM_UTF8) and not text.startswith(MARK) else b""
    try:
        encoding = "utf-8" if path.endswith(".ipynb") else declared_encoding(path, plain.removeprefix(BOM_UTF8))
        return prefix + text.encode(encoding)
    except (SourceError, UnicodeEncodeError):
        return plain


def notebook_bytes(notebook: types.NotebookDocument, texts: Mapping[str, Buffer]) -> bytes:
    """An open notebook as a file: its cells in their order, those in Python as code."""
    cells = [cell_json(texts.get(cell.document), cell) for cell in notebook.cells]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def cell_json(buffer: Buffer | None, cell: types.NotebookCell) -> dict[str, str]:
    is_code = buffer and cell.kind is types.NotebookCellKind.Code and buffer.language_id == "python"
    return {"cell_type": "code" if is_code else "markdown", "source": buffer.source if buffer else ""}
