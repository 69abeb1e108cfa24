"""The difference of two versions of a file, as `git apply` reads it; and an edited patch read back."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence

from fullgraph.codemods.model import FullgraphError

CONTEXT = 3
LONG = 5_000
"""Lines from which on common lines anchor nothing: the time would grow with the square of their number."""

NO_NEWLINE = b"\\ No newline at end of file\n"
HUNK = re.compile(rb"^@@ -(\d+)(?:,\d+)? \+")
SECTION = re.compile(rb"""(?m)^(?=--- (?:"?a/[^\n]*|/dev/null)\n\+\+\+ "?b/[^\n]*\n(?:#[^\n]*\n)*(?:@@ |--- |\Z))""")
NOWHERE = b"/dev/null"
NEW_FILE = re.compile(rb"(?m)^diff --git [^\n]*\nnew file mode \d+\r?\n")
SPECIAL = {b"\n": rb"\n", b"\t": rb"\t", b"\r": rb"\r", b'"': rb"\"", b"\\": rb"\\"}


def patch(before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> bytes:
    """One patch for all files that differ, by path, new ones behind the others, empty ones last; None is no file there.

    Of an empty file there is only a head, which git would take for that of the file behind it.
    """
    ordered = sorted(after, key=lambda path: (not (before[path] or after[path]), before[path] is None, path))
    changed = [path for path in ordered if before[path] != after[path]]
    return b"".join(file_patch(path, before[path], after[path]) for path in changed)


def file_patch(path: str, before: bytes | None, after: bytes | None) -> bytes:
    old, new = quoted("a/" + path), quoted("b/" + path)
    if not before and not after:
        return b"%s\n%s file mode 100644\n" % (git_head(path), b"new" if before is None else b"deleted")
    head = b"--- %s\n+++ %s\n" % (NOWHERE if before is None else old, NOWHERE if after is None else new)
    return head + b"".join(hunks(split_lines(before or b""), split_lines(after or b"")))


def git_head(path: str) -> bytes:
    """The line by which git knows that an empty file comes or goes.

    Others do without: `git apply` counts paths from the repository's root where it stands, else from the folder that
    it is called in, and passes over what is not below that folder without a word.
    """
    return b"diff --git %s %s" % (quoted("a/" + path).rstrip(b"\t"), quoted("b/" + path).rstrip(b"\t"))


def quoted(path: str) -> bytes:
    """A path as git writes it: in quotes if it holds a quote, a backslash or a control character."""
    raw = os.fsencode(path)
    special = re.compile(rb'["\\\x00-\x1f\x7f]')
    if special.search(raw):
        return b'"' + special.sub(lambda found: SPECIAL.get(found[0], b"\\%03o" % ord(found[0])), raw) + b'"'
    return raw + (b"\t" if b" " in raw else b"")


def split_lines(data: bytes) -> list[bytes]:
    """Lines as git counts them: a line break is `\\n` and nothing else."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


def hunks(old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    start = max(0, same - CONTEXT)
    is_long = len(old) > LONG
    matcher = difflib.SequenceMatcher(None, old[start:], new[start:], autojunk=is_long)
    matcher.opcodes = slid_down(matcher.get_opcodes(), old[start:], new[start:])  # type: ignore[attr-defined]
    for group in matcher.get_grouped_opcodes(CONTEXT):
        first, last = group[0], group[-1]
        old_range = span_of(start + first[1], start + last[2])
        new_range = span_of(start + first[3], start + last[4])
        yield f"@@ -{old_range} +{new_range} @@\n".encode()
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from marked(b" ", old[start + i1 : start + i2])
            else:
                yield from marked(b"-", old[start + i1 : start + i2])
                yield from marked(b"+", new[start + j1 : start + j2])


Opcode = tuple[str, int, int, int, int]


def slid_down(opcodes: Sequence[Opcode], old: list[bytes], new: list[bytes]) -> list[Opcode]:
    """The same differences, each as far down as it can stand: a new function then ends with its blank lines."""
    codes: list[Opcode] = list(opcodes)
    for number in range(1, len(codes) - 1):
        tag, i1, i2, j1, j2 = codes[number]
        after = codes[number + 1]
        lines, first, last = (new, j1, j2) if tag == "insert" else (old, i1, i2)
        if tag not in ("insert", "delete") or codes[number - 1][0] != "equal" or after[0] != "equal":
            continue
        room, by = after[2] - after[1] - 1, 0
        while by < room and lines[first + by] == lines[last + by]:
            by += 1
        _, a1, a2, b1, b2 = codes[number - 1]
        codes[number - 1] = ("equal", a1, a2 + by, b1, b2 + by)
        codes[number] = (tag, i1 + by, i2 + by, j1 + by, j2 + by)
        codes[number + 1] = ("equal", after[1] + by, after[2], after[3] + by, after[4])
    return codes


def span_of(start: int, stop: int) -> str:
    length = stop - start
    return f"{start + 1 if length else start},{length}"


def marked(sign: bytes, lines: list[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield sign + line
        if not line.endswith(b"\n"):
            yield b"\n" + NO_NEWLINE


def apply_patch(before: Mapping[str, bytes | None], edited: bytes) -> dict[str, bytes | None]:
    """What the files become under a patch that a person has edited. Counts in its headers may be wrong by then.

    A new file that the patch does not name any more is not made.
    """
    edited = edited if edited.endswith(b"\n") else edited + b"\n"
    heads = {found.group().partition(b"\n")[0].rstrip(b"\r") for found in NEW_FILE.finditer(edited)}
    after = {path: b"" if git_head(path) in heads else raw for path, raw in before.items()}
    named = {quoted(("b/" if raw is None else "a/") + path).rstrip(b"\t"): path for path, raw in before.items()}
    preamble, *sections = SECTION.split(NEW_FILE.sub(b"", edited))
    if re.search(rb"(?m)^@@ ", preamble):
        raise FullgraphError("the edited patch has lost the line `--- a/...` that names the file")
    by_name: dict[bytes, bytes] = {}
    for section in sections:  # a second header of the same file is text that looks like one
        by_name[section_name(section)] = by_name.get(section_name(section), b"") + section
    for name, section in by_name.items():
        if name not in named:
            raise FullgraphError(f"the edited patch names {os.fsdecode(name[2:])}, which is not part of this finding")
        path = named[name]
        after[path] = apply_hunks(path, split_lines(before[path] or b""), section)
    return after


def section_name(section: bytes) -> bytes:
    old, new, *_ = section.split(b"\n")
    line = new.removeprefix(b"+++ ") if old.rstrip(b"\r") == b"--- " + NOWHERE else old.removeprefix(b"--- ")
    return line.rstrip(b"\t\r")


def apply_hunks(path: str, old: list[bytes], section: bytes) -> bytes:
    result: list[bytes] = []
    position = 0
    for hunk in re.split(rb"(?m)^(?=@@ )", section)[1:]:
        header, *body = split_lines(hunk)
        lines = list(signed_lines(path, body))
        taken = [text for sign, text in lines if sign in b" -"]
        start = first_line(path, header, is_insertion=not taken)
        if start < position or old[start : start + len(taken)] != taken:
            raise FullgraphError(f"{path}: the edited patch does not fit at line {start + 1}")
        result += [*old[position:start], *(text for sign, text in lines if sign in b" +")]
        position = start + len(taken)
    return b"".join([*result, *old[position:]])


def first_line(path: str, header: bytes, is_insertion: bool) -> int:
    """The index of the line that a hunk begins at; one that takes no line stands behind the line that it names."""
    match = HUNK.match(header)
    if not match:
        raise FullgraphError(f"{path}: {header.decode(errors='replace').strip()!r} is no hunk header")
    return int(match[1]) if is_insertion else max(0, int(match[1]) - 1)


def signed_lines(path: str, body: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """The hunk's lines apart from their signs. An editor may have taken the blank off an empty line."""
    for line in without_missing_newlines(body):
        if line in (b"\n", b"\r\n"):
            yield b" ", line
        elif line[:1] in (b" ", b"+", b"-"):
            yield line[:1], line[1:]
        else:
            shown = line.decode(errors="replace").strip()
            raise FullgraphError(f"{path}: {shown!r} in the edited patch begins with none of `+`, `-` and a blank")


def without_missing_newlines(body: list[bytes]) -> list[bytes]:
    """The hunk's lines, with the line break taken off where the next line says that there is none."""
    lines: list[bytes] = []
    for line in body:
        if line.startswith(b"\\"):
            lines[-1:] = [last.removesuffix(b"\n") for last in lines[-1:]]
        elif not line.startswith(b"#"):
            lines.append(line)
    return lines
