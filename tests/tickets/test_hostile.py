"""Whatever a file holds, it is read or refused by name, soon."""

from __future__ import annotations

import codecs
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullgraph.codemods.tickets import Ticket, TicketError, read_tickets
from fullgraph.codemods.tickets.parts.snippet import parse_snippet
from fullgraph.codemods.tickets.text import open_ticket

from .test_read import spans_in

SOON = 8.0
"""Seconds of the processor, however busy the machine is; everything below takes about a fifth of it."""

HEAD = "# T\n\n**Severity:** P1\n**File:** `a.py`\n\n"
PIECES = [
    *(
        "# ",
        "## Issue 1: ",
        "**Severity:** P1",
        "**File:** `a.py:3`",
        "| a | b |\n|-|-|\n",
        "| Status | open |",
        "- [ ] ",
    ),
    *(
        "```python\n",
        "```",
        "x = f(...)",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "> ",
        "- ",
        "1. ",
        "---\n",
        "[...]",
        "REJECT",
        "# ...",
    ),
    *(
        "**Fix:**",
        "## Review",
        "Verdict",
        "\u00e2\u2020\u2019",
        "<b>",
        "`",
        "*",
        "~~",
        "\f",
        "\u2028",
        "\x85",
        "def f(...):",
        " ",
    ),
]


def read(raw: bytes, path: str = "a.md") -> list[Ticket] | str:
    begin = time.process_time()
    try:
        found: list[Ticket] | str = read_tickets(path, raw)
    except TicketError as error:
        found = str(error)
    assert time.process_time() - begin < SOON
    return found


HUGE = {
    "ten megabytes": "words and words\n" * 700_000,
    "100,000 headings": "# a\n" * 100_000,
    "headings": "# a\n" * 9_000,
    "boxes": "# Verification\n" + "- [ ] a\n" * 9_900,
    "labels": "**Severity:** P1\n" * 9_900,
    "rows": "|Severity|File|Verdict|\n|-|-|-|\n" + "|P1|a.py|REJECT|\n" * 9_900,
    "columns": "|Severity" * 9_000 + "|\n" + "|-" * 9_000 + "|\n" + "|P1" * 9_000 + "|\n",
    "issues": "## Issue 1: x\n**Severity:** P1\n" * 450,
    "too many issues": "## Issue 1: x\n**Severity:** P1\n" * 2_000,
    "quotes": ">" * 100_000,
    "lists": "".join("  " * depth + "- a\n" for depth in range(400)),
    "html": "<div>" * 90_000,
    "files": "\n\n".join(["**File:** " + "a.py:1 " * 700] * 90),
    "one word": "**File:** " + "a" * 400_000,
    "dots": "\n\n".join(["**File:** " + "." * 4_900] * 90),
    "verdicts": "# Review\n\n" + "not a bug " * 40_000,
    "code": "\n".join(["```python\n" + "x=...\n" * 3_000 + "```"] * 3),
    "quotes around nothing": "**File:** " + "`" * 300_000,
    "brackets in code": "```python\n" + "](" * 200_000 + "\n```\n",
    "deep code": "```python\n" + "(" * 19_000 + "\n```\n",
    "garbled": "**Severity:** P1 \u00e2\u20ac\u201d CPU\u00e2\u2020\u2019GPU\n\n" * 4_900,
}


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_file_is_read_or_refused_soon(name: str) -> None:
    read(HUGE[name].encode())
    read((HEAD + HUGE[name]).encode())


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "holds no text"),
        (b" \r\n\n", "holds no text"),
        (HEAD.encode() + b"a\0b", "line 6: holds the control character '\\x00'; not a text file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "not a text file"),
        (b"**Severity:** \x81\xff", "neither UTF-8 nor any other text"),
        (b"x" * 600_000, "600,000 bytes; more than 500,000 are not read as a ticket"),
        (b"# a\n" * 100_000, "100,001 lines; more than 10,000 are not read as a ticket"),
        (b"Just words.", "no ticket in it"),
        (b"<script>alert(1)</script>", "no ticket in it"),
    ],
)
def test_what_is_no_ticket_is_refused_by_name(raw: bytes, said: str) -> None:
    found = read(raw)
    assert isinstance(found, str)
    assert found.startswith("a.md: ")
    assert said in found


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig", "cp1252"])
def test_other_encodings_are_read_and_can_be_written_back(encoding: str) -> None:
    raw = HEAD.replace("# T", "# T\u00e9").encode(encoding)
    (ticket,) = read_tickets("a.md", raw)
    assert ticket.title == "T\u00e9"
    assert open_ticket("a.md", raw).splice([]) == raw


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_endings_do_not_move_lines(ending: str) -> None:
    found = read(HEAD.replace("\n", ending).encode())
    assert isinstance(found, list)
    severity = found[0].field("severity")
    assert severity
    assert severity.where
    assert severity.where.first == 3


@pytest.mark.parametrize(
    "text",
    [
        *("[" * 100_000, '{"a":' * 100_000, "9" * 100_000, '[{"a":', "null", '"x"', "[]", '{"name": "x"}', "{]"),
        '[{"title": NaN, "line": NaN, "severity": 1e999, "file": []}]',
        '[{"title": "\\ud800", "line": 1, "file": "\\udfff.py"}]',
        '[{"title": [], "message": {"text": {"text": 1}}, "line": {"start": "x"}, "file": [[["a"]]], "reviews": [1]}]',
        '{"version": 1, "runs": [{"results": [{"message": 1, "locations": [1, {}], "fixes": {}, "ruleIndex": 9}]}]}',
        '[{"title": "x", "body": "", "labels": 7, "comments": {"a": 1}, "number": []}]',
        json.dumps([{"title": "x", "file": "a.py", "line": 3}] * 20_000),
        json.dumps([{"title": "x", "body": "**Severity:** P1\n" * 9_000}] * 30),
        json.dumps([{"title": "x", "file": "a.py", "snippet": "x = f(...)\n" * 200}] * 2_000),
        json.dumps([{"title": "x", "file": "a.py:1 " * 2_000}] * 500),
        json.dumps([{"a": 1}] * 300_000),
        '{"data":' * 900 + '{"title": "x", "file": "a.py"}' + "}" * 900,
        '[{"fields": {"summary": "x", "description": {"content": [{"content": [7, {"text": 7}]}]}}, "key": 7}]',
        '{"identifier": {}, "title": "x", "priority": "1", "state": 7, "labels": {"nodes": 7}}',
    ],
    ids=lambda text: text[:30],
)
def test_broken_json_is_read_or_refused(text: str) -> None:
    read(text.encode(), "a.json")
    read(text.encode(), "a.sarif")


def test_a_ticket_never_opens_what_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    read_tickets("a.md", HEAD.encode())

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("opened")

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr("os.open", refuse)
    assert read_tickets("a.md", HEAD.replace("a.py", "/etc/passwd").encode())


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(["a.md", "a.json", "a.sarif", "a"]))
def test_any_bytes_are_read_or_refused(raw: bytes, path: str) -> None:
    check(raw, path)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=60))
def test_any_text_is_read_or_refused(pieces: list[str]) -> None:
    check("".join(pieces).encode(errors="replace"), "a.md")


def check(raw: bytes, path: str) -> None:
    found = read(raw, path)
    if isinstance(found, list):
        source = open_ticket(path, raw)
        assert found
        assert all(0 <= span.start <= span.end <= len(source.text) for ticket in found for span in spans_in(ticket))
        assert source.splice([]) == raw


KEYS = (
    "title message file line lines severity body runs results version locations text physicalLocation region startLine "
    "fixes reviews verdict findings status labels tool"
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=5),
    max_leaves=30,
)


@settings(max_examples=200, deadline=None)
@given(JSON)
def test_any_json_is_read_or_refused(data: object) -> None:
    check(json.dumps(data).encode(), "a.json")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from([*PIECES, "if x:", "else:", "    ", "{'a': 1, ...}", "f(a=1, ...)", "@d", "'", '"""']),
        max_size=20,
    )
)
def test_any_code_is_parsed_or_not(pieces: list[str]) -> None:
    snippet = parse_snippet("".join(pieces))
    if snippet:
        snippet.tree()
        assert all(0 <= hole.span.start < hole.span.end <= len(snippet.text) for hole in snippet.holes)


def test_a_mark_of_utf_8_is_kept() -> None:
    assert open_ticket("a.md", codecs.BOM_UTF8 + HEAD.encode()).prefix == codecs.BOM_UTF8
