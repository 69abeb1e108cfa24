"""The difference of two versions of a file, as `git apply` reads it; and an edited patch read back."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

from codemods.model import FullgraphError

CONTEXT = 3
NO_NEWLINE = b"\\ No newline at end of file\n"
HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+")


def patch(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> bytes:
    """One patch for all files that differ, by path."""
    changed = [path for path in sorted(after) if before[path] != after[path]]
    return b"".join(file_patch(path, before[path], after[path]) for path in changed)


def file_patch(path: str, before: bytes, after: bytes) -> bytes:
    tab = "\t" if " " in path else ""
    head = f"--- a/{path}{tab}\n+++ b/{path}{tab}\n".encode()
    return head + b"".join(hunks(split_lines(before), split_lines(after)))


def split_lines(data: bytes) -> list[bytes]:
    """Lines as git counts them: a line break is `\\n` and nothing else."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


def hunks(old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    start = max(0, same - CONTEXT)
    matcher = difflib.SequenceMatcher(None, old[start:], new[start:], autojunk=False)
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


def span_of(start: int, stop: int) -> str:
    length = stop - start
    return f"{start + 1 if length else start},{length}"


def marked(sign: bytes, lines: list[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield sign + line
        if not line.endswith(b"\n"):
            yield b"\n" + NO_NEWLINE


def apply_patch(before: Mapping[str, bytes], edited: bytes) -> dict[str, bytes]:
    """What the files become under a patch that a person has edited. Counts in its headers may be wrong by then."""
    after = dict(before)
    for section in re.split(rb"(?m)^(?=--- a/)", edited)[1:]:
        path = section.partition(b"\n")[0][len("--- a/") :].rstrip(b"\t\r").decode()
        if path not in before:
            raise FullgraphError(f"the edited patch names {path}, which is not part of this finding")
        after[path] = apply_hunks(path, split_lines(before[path]), section)
    return after


def apply_hunks(path: str, old: list[bytes], section: bytes) -> bytes:
    result: list[bytes] = []
    position = 0
    for hunk in re.split(rb"(?m)^(?=@@ )", section)[1:]:
        header, *body = split_lines(hunk)
        match = HUNK.match(header)
        if not match:
            raise FullgraphError(f"{path}: {header.decode(errors='replace').strip()!r} is no hunk header")
        start = int(match[1]) - (0 if match[2] == b"0" else 1)
        result += old[position:start]
        position = start
        for line in without_missing_newlines(body):
            sign, text = line[:1], line[1:]
            if sign in (b" ", b"-", b"\n"):
                text = text if sign != b"\n" else b"\n"
                if position >= len(old) or old[position] != text:
                    raise FullgraphError(f"{path}: the edited patch does not fit at line {position + 1}")
                position += 1
            if sign in (b" ", b"+", b"\n"):
                result.append(text)
    return b"".join([*result, *old[position:]])


def without_missing_newlines(body: list[bytes]) -> list[bytes]:
    """The hunk's lines, with the line break taken off where the next line says that there is none."""
    lines: list[bytes] = []
    for line in body:
        if line.startswith(b"\\"):
            lines[-1] = lines[-1].removesuffix(b"\n")
        elif not line.startswith(b"#"):
            lines.append(line)
    return lines
