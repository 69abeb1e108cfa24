"""Code blocks: which of them show the problem, and which the fix."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from fullgraph.codemods.tickets.limits import INLINE
from fullgraph.codemods.tickets.markdown.blocks import Block
from fullgraph.codemods.tickets.markdown.inline import plain
from fullgraph.codemods.tickets.markdown.sections import Section
from fullgraph.codemods.tickets.model import CodeBlock, CodeKind, Lines
from fullgraph.codemods.tickets.parts.references import lines_in, places_in
from fullgraph.codemods.tickets.parts.snippet import parse_snippet
from fullgraph.codemods.tickets.text import Lined, repair

KINDS: dict[str, CodeKind] = {"fix": "fix", "verification": "test", "review": "other", "related": "other"}
PYTHON = {"", "python", "py", "python3", "pycon", "py3", "ipython", "diff", "patch", "suggestion"}
AFTER = re.compile(
    r"\b(?:after|fix(?:ed)?|instead|should be|replace(?:d)? (?:\w+ )?(?:with|by)|good|better|proposed|suggested|"
    r"correct(?:ed)?|recommended|becomes?|new code|expected|change (?:it |this )?to|rewrite)\b",
    re.IGNORECASE,
)
BEFORE = re.compile(
    r"\b(?:before|current(?:ly)?|bad|wrong|problem(?:atic)?|offending|original|old code|existing|today|actual|as is|"
    r"now)\b",
    re.IGNORECASE,
)
TOLD_BEFORE = re.compile(
    r"\W*(?:before|current(?:ly)?|instead of|from|today|old)\b(?:\s+(?:code|version|behaviou?r))?[\w\s`(),]{0,30}:\W*$",
    re.IGNORECASE,
)
TURN = re.compile(
    r"#+\s*(?:[\u274c\u2705\u2717\u2713]\s*)?(?P<word>before|after|bad|good|current|fixed|proposed|old|new|wrong|right|now|instead)"
    r"\b(?:\s+(?:code|fix|version|the fix))?\s*(?:[:.(\u2013\u2014-].*)?$",
    re.IGNORECASE,
)
LATER = {"after", "good", "fixed", "proposed", "new", "right", "instead"}
FRAME = re.compile(r"""File "[^"\n]{1,300}", line \d|\bat \S{1,300}\.py:\d|\bTraceback\b|\(\S{1,300}\.py:\d""")
SAID_LINES = re.compile(
    r"(?:#|//)\s*(?:.{0,60}\b)?(?:lines?\b|(?=L\d))[\s:]*(?P<lines>[~L\d][\dL,\s\u2013\u2014~and-]*)", re.IGNORECASE
)
NUMBERED = re.compile(r"\s*(?P<number>\d{1,6})(?:\s*[|:\u2502]\s?|\t|\s{2,}|$)(?P<code>.*)$")


def code_of(lined: Lined, section: Section) -> Iterator[CodeBlock]:
    """Every code block of a ticket in order; a diff, or a block with a `# After` inside, is two."""
    for inner in section.walk():
        label = ""
        for block in inner.blocks:
            if block.kind == "code":
                yield from read_code(lined, block, inner, label)
            else:
                label = plain(block.text)[-300:] if block.text else ""


def read_code(lined: Lined, block: Block, section: Section, label: str) -> Iterator[CodeBlock]:
    words = block.language.split()
    language = words[0].strip("{.}").casefold() if words else ""
    whole = CodeBlock(kind_of(language, section, label), language, repair(block.text), label=label, where=block.where)
    whole = replace(whole, path=path_said(block.language, whole.text))
    if language in ("diff", "patch"):
        yield from sides_of(whole)
    elif language not in PYTHON:
        yield framed(whole)
    else:
        yield from (part if part.snippet else framed(part) for part in map(parsed, turns(lined, whole)))


def framed(block: CodeBlock) -> CodeBlock:
    """A log or a traceback with the place that it names last, of the user's own code if there is any."""
    if not FRAME.search(block.text[:INLINE]):
        return block
    frames = [place for place in places_in(block.text) if place.lines]
    own = [place for place in frames if not re.search(r"site-packages|dist-packages|/lib/python|<", place.path)]
    last = (own or frames)[-1:]
    return replace(block, path=last[0].path, lines=last[0].lines[-1:]) if last else block


def kind_of(language: str, section: Section, label: str) -> CodeKind:
    """By the part it stands in; the words just above it decide where no part does, or in the problem's."""
    last = label.rstrip().rpartition("\n")[2][-120:]
    if section.part in KINDS:
        kind = KINDS[section.part]
        return "evidence" if kind == "fix" and TOLD_BEFORE.match(last) and language in PYTHON else kind
    if language not in PYTHON:
        return "other"
    is_fix = AFTER.search(last) and not BEFORE.search(last) and last.rstrip().endswith((":", "with", "to", "be"))
    return "fix" if is_fix or language == "suggestion" else "evidence"


def turns(lined: Lined, block: CodeBlock) -> Iterator[CodeBlock]:
    """The parts of a block that are headed `# Before` and `# After`; the block itself without such a heading."""
    lines = block.text.split("\n")
    found = [
        (number, turn.group("word").casefold())
        for number, line in enumerate(lines)
        if (turn := TURN.match(line.strip()))
    ]
    if not any(word in LATER for _, word in found) or block.kind not in ("evidence", "fix") or not block.where:
        yield block
        return
    begins = [(0, "before"), *found] if found[0][0] else found
    for (begin, word), (end, _) in zip(begins, [*begins[1:], (len(lines), "")], strict=True):
        text = "\n".join(lines[begin:end])
        place = lined.where(block.where.first + begin, block.where.first + end - 1)
        if text.strip():
            yield replace(block, kind="fix" if word in LATER else "evidence", text=text, where=place)


def sides_of(block: CodeBlock) -> Iterator[CodeBlock]:
    """A diff as what it takes away and what it puts there."""
    lines = [line for line in block.text.split("\n") if not line.startswith(("---", "+++", "diff ", "index "))]
    numbers = tuple(Lines(int(at), int(at)) for line in lines for at in re.findall(r"^@@ -(\d{1,7})", line))
    kinds: tuple[tuple[CodeKind, str, str], ...] = (("evidence", "-", "+"), ("fix", "+", "-"))
    for kind, kept, gone in kinds:
        side = ["..." if line.startswith("@@") else line[1:] for line in lines if not line.startswith(gone)]
        if any(line.startswith(kept) for line in lines):
            text = "\n".join(side[1:] if lines[0].startswith("@@") else side)
            yield replace(parsed(replace(block, kind=kind, text=text)), lines=numbers)


def parsed(block: CodeBlock) -> CodeBlock:
    """With its parsed form, and the lines that its comments or its margin name."""
    text, numbers = without_numbers(block.text)
    said = [match.group("lines") for line in block.text.split("\n")[:500] if (match := SAID_LINES.search(line[:300]))]
    ranges = numbers or tuple(dict.fromkeys(found for words in said for found in lines_in(words)))
    return replace(block, text=text, snippet=parse_snippet(text), lines=ranges)


def without_numbers(text: str) -> tuple[str, tuple[Lines, ...]]:
    """The code without a margin of rising line numbers, and the lines that it named."""
    lines = text.rstrip("\n").split("\n")
    margins = [NUMBERED.match(line) for line in lines if line.strip()]
    numbers = [int(margin.group("number")) for margin in margins if margin]
    if len(margins) < 2 or len(numbers) < len(margins) or any(b <= a for a, b in pairwise(numbers)):
        return text, ()
    bare = [margin.group("code") if (margin := NUMBERED.match(line)) else "" for line in lines]
    return "\n".join(bare), (Lines(numbers[0], numbers[-1]),) if numbers[0] else ()


def path_said(info: str, text: str) -> str:
    """A Python file that the fence names (`python title="a.py"`), or a comment in the first line, or a diff's head."""
    first = text.lstrip().split("\n", 1)[0][:300]
    diffed = re.search(r"^--- (?:a/)?(?P<path>\S+\.py)\b", text[:2000], re.MULTILINE)
    candidates = places_in(info[:300]) + (places_in(first) if first.startswith("#") else [])
    return diffed.group("path") if diffed else candidates[0].path if candidates else ""
