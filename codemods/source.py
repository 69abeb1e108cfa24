"""From bytes to the text that codemods see, and back, so that whatever was not edited keeps its bytes."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from fullgraph.codemods.model import Edit, SourceError

COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
NO_BREAK = re.compile(r"[^\r\n]")
BLANK = re.compile(rb"[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|$)")
LATIN_1 = ("latin-1", "iso-8859-1", "iso-latin-1")
ASCII = bytes(range(32, 92)) + bytes(range(93, 127)) + rb"\n\u0041"


@dataclass(frozen=True, slots=True)
class Source:
    """One file. `text` is what edits count in; `parsed` has the same length, with what `ast` cannot read blanked."""

    path: str
    raw: bytes
    text: str
    parsed: str
    encoding: str = "utf-8"
    prefix: bytes = b""

    def splice(self, edits: Iterable[Edit]) -> bytes:
        """The file's bytes with the edits made; an edit that the file's encoding cannot hold is an error."""
        text = splice_text(self.text, edits)
        try:
            return self.prefix + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            lost = text[error.start : error.end]
            raise SourceError(self.path, f"{lost!r} cannot be written in {self.encoding}") from error

    def with_text(self, text: str) -> Source:
        """The same file with other text, as an editor's unsaved buffer holds it."""
        return decode(self.path, self.prefix + text.encode(self.encoding))


def splice_text(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made. Edits that clash must have been sorted out before."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(set(edits), key=lambda edit: (edit.span, edit.new_text)):
        if not position <= edit.span.start <= edit.span.end <= len(text):
            raise ValueError(f"{edit.path}: edits overlap, or leave the text, at character {edit.span.start}")
        pieces += [text[position : edit.span.start], edit.new_text]
        position = edit.span.end
    return "".join([*pieces, text[position:]])


def blank_out(text: str) -> str:
    """Spaces instead of the text; its line breaks stay."""
    return NO_BREAK.sub(" ", text)


def decode(path: str, raw: bytes) -> Source:
    """Read one file's bytes as Python source (or as a notebook, by its name)."""
    if path.endswith(".ipynb"):
        from fullgraph.codemods.notebook import decode_notebook

        return decode_notebook(path, raw)
    if b"\0" in raw:
        raise SourceError(path, f"line {1 + raw[: raw.index(0)].count(10)}: holds a NUL byte; not Python source")
    prefix = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    encoding = declared_encoding(path, raw[len(prefix) :])
    if prefix and encoding != "utf-8":
        raise SourceError(path, f"declares {encoding}, but begins with the byte order mark of UTF-8")
    try:
        text = raw[len(prefix) :].decode(encoding)
    except UnicodeDecodeError as error:
        line = 1 + raw.count(b"\n", 0, len(prefix) + error.start)
        raise SourceError(path, f"line {line}: not {encoding} text") from error
    if prefix + text.encode(encoding) != raw:
        raise SourceError(path, f"{encoding} text that would not come back byte for byte")
    return Source(path, raw, text, text, encoding, prefix)


def declared_encoding(path: str, raw: bytes) -> str:
    """The encoding that a PEP 263 cookie in the first two lines names, else UTF-8."""
    position = 0
    for _ in range(2):
        line = BLANK.match(raw, position)
        if not line:
            break
        if cookie := COOKIE.match(line.group()):
            return known_encoding(path, cookie.group(1).decode())
        position = line.end()
    return "utf-8"


def known_encoding(path: str, name: str) -> str:
    """The encoding behind a cookie's name, if Python source can be written in it: ASCII must stand for itself."""
    try:
        found = codecs.lookup(normal_name(name)).name
    except LookupError as error:
        raise SourceError(path, f"unknown encoding {name!r}") from error
    with suppress(LookupError, UnicodeError):
        if ASCII.decode(found) == ASCII.decode():
            return found
    raise SourceError(path, f"Python source cannot be written in the encoding {name!r}")


def normal_name(name: str) -> str:
    """As Python reads it: whatever follows `utf-8-` or `latin-1-` (Emacs adds `unix`) does not count."""
    plain = name[:12].lower().replace("_", "-")
    if f"{plain}-".startswith("utf-8-"):
        return "utf-8"
    return "iso-8859-1" if f"{plain}-".startswith(tuple(f"{latin}-" for latin in LATIN_1)) else name
