"""Other ways to lay out the same program: what a codemod writes must follow, and nothing else may move."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from collections.abc import Callable
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


def rename_torch(alias: str) -> Callable[[Files], Files]:
    """Import torch under another name, in every file that says `import torch`."""

    def rename(files: Files) -> Files:
        return {path: rename_in(raw, alias) if path.endswith(".py") else raw for path, raw in files.items()}

    return rename


def rename_in(raw: bytes, alias: str) -> bytes:
    text = raw.decode()
    if not re.search(r"(?m)^import torch$", text):
        return raw
    lines = text.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        line = lines[token.start[0] - 1]
        if token.type == tokenize.NAME and token.string == "torch" and not re.match(r"\s*(import|from)\b", line):
            start = token.start[1]
            if not line[:start].rstrip().endswith("."):
                lines[token.start[0] - 1] = line[:start] + alias + line[start + 5 :]
    return re.sub(r"(?m)^import torch$", f"import torch as {alias}", "".join(lines)).encode()
