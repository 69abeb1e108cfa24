"""Other ways to lay out the same program: what a codemod writes must follow, and nothing else may move."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from dataclasses import dataclass

Files = dict[str, bytes]


@dataclass(frozen=True)
class Layout:
    """Line ending, byte order mark, final line break, a form feed and a comment at the top."""

    newline: str = "\n"
    bom: bool = False
    final_newline: bool = True
    form_feed: bool = False
    latin_1: bool = False

    def lay_out(self, files: Files) -> Files:
        return {path: self._lay_out(raw) if path.endswith(".py") else raw for path, raw in files.items()}

    def _lay_out(self, raw: bytes) -> bytes:
        text = raw.decode().replace("\r\n", "\n")
        if self.form_feed:
            text = "\f\n" + text
        if self.latin_1:
            text = "# -*- coding: latin-1 -*-\n# d\xe9j\xe0 vu\n" + text
        if not self.final_newline:
            text = text.rstrip("\n")
        data = text.replace("\n", self.newline).encode("latin-1" if self.latin_1 else "utf-8")
        return codecs.BOM_UTF8 + data if self.bom and not self.latin_1 else data


def is_plain(files: Files) -> bool:
    """Whether a case can be laid out anew: ASCII, `\\n`, and no layout of its own."""
    return all(raw.isascii() and b"\r" not in raw and b"\f" not in raw for raw in files.values())


def imports_torch(raw: bytes) -> bool:
    return re.search(rb"(?m)^import torch$", raw) is not None


def rename_torch(files: Files, alias: str) -> Files:
    """The files with torch imported under another name."""
    return {path: rename_in(raw.decode(), alias).encode() for path, raw in files.items()}


def rename_in(text: str, alias: str) -> str:
    lines = text.splitlines(keepends=True)
    names = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.string == "torch"]
    for token in reversed(names):
        row, start = token.start
        line = lines[row - 1]
        is_part = line[:start].rstrip().endswith(".") or re.match(r"\s*(import|from)\b", line)
        if token.type == tokenize.NAME and not is_part:
            lines[row - 1] = line[:start] + alias + line[start + len("torch") :]
    return re.sub(r"(?m)^import torch$", f"import torch as {alias}", "".join(lines))
