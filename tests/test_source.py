"""From bytes to text and back: what Python reads is read, what it refuses is refused, nothing else moves."""

from __future__ import annotations

import codecs
import io
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.codemods.model import Edit, SourceError, Span
from fullgraph.codemods.source import decode, splice_text

READABLE = {
    "utf-8": b"x = '\xc3\xa9'\n",
    "utf-8 with BOM": codecs.BOM_UTF8 + b"x = 1\n",
    "utf-8 with BOM and cookie": codecs.BOM_UTF8 + b"# coding: utf-8\nx = 1\n",
    "latin-1": b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
    "latin-1 in the second line": b"#!/usr/bin/env python\n# vim: set fileencoding=iso-8859-1 :\nx = '\xe9'\n",
    "behind an empty line": b"\n# coding: latin-1\nx = '\xe9'\n",
    "behind a form feed": b"\f# coding: latin-1\nx = '\xe9'\n",
    "cp1252": b"# coding: cp1252\nx = '\x80'\n",
    "emacs utf-8": b"# -*- coding: utf-8-unix -*-\nx = 1\n",
    "emacs latin-1": b"# -*- coding: latin-1-dos -*-\r\nx = '\xe9'\r\n",
    "emacs iso-latin-1": b"# -*- coding: iso-latin-1-unix -*-\nx = '\xe9'\n",
    "utf-8-sig": b"# coding: utf-8-sig\nx = 1\n",
    "UTF8 in capitals": b"# coding: UTF8\nx = 1\n",
    "third line": b"#\n#\n# coding: latin-1\nx = 1\n",
    "behind code": b"x = 1\n# coding: latin-1\n",
    "in a string": b"'''\n# coding: latin-1\n'''\n",
    "euc-jp": b"# coding: euc-jp\nx = '\xa4\xa2'\n",
    "crlf": b"# coding: latin-1\r\nx = '\xe9'\r\n",
    "lone cr": b"# coding: latin-1\rx = '\xe9'\r",
    "lone cr, second line": b"#!python\r# coding: latin-1\rx = '\xe9'\r",
    "mixed": b"a = 1\r\nb = 2\nc = 3\rd = 4",
    "tabs and form feeds": b"\f\nif x:\n\ty = 1\n\x0c\n",
    "no final newline": b"x = 1",
    "empty": b"",
    "only a BOM": codecs.BOM_UTF8,
    "very long line": b"x = [" + b"1, " * 400_000 + b"]\n",
}


@pytest.mark.parametrize("raw", READABLE.values(), ids=READABLE.keys())
def test_what_python_reads_comes_back_byte_for_byte(raw: bytes) -> None:
    compile(raw, "module.py", "exec")
    source = decode("module.py", raw)
    assert source.splice([]) == raw
    assert source.text == raw.removeprefix(codecs.BOM_UTF8).decode(source.encoding)


@pytest.mark.parametrize("raw", READABLE.values(), ids=READABLE.keys())
def test_the_encoding_is_the_one_that_python_detects(raw: bytes) -> None:
    lines = io.BytesIO(raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
    detected, _ = tokenize.detect_encoding(lines.readline)
    assert decode("module.py", raw).encoding == codecs.lookup(detected.removesuffix("-sig")).name


REFUSED = {
    "nul": (b"x = 1\ny = '\0'\n", "line 2: holds a NUL byte"),
    "utf-16": ("x = 1\n".encode("utf-16"), "line 1: holds a NUL byte"),
    "not utf-8": (b"x = 1\ny = '\xe9'\n", "line 2: not utf-8 text"),
    "not utf-8 below an empty line": (b"\n'\xe9'\n", "line 2: not utf-8 text"),
    "not utf-8 behind a BOM": (codecs.BOM_UTF8 + b"\n'\xe9'\n", "line 2: not utf-8 text"),
    "nul below an empty line": (b"\n\0", "line 2: holds a NUL byte"),
    "unknown": (b"# coding: klingon\n", "unknown encoding 'klingon'"),
    "not what it says": (b"# coding: ascii\nx = '\xe9'\n", "line 2: not ascii text"),
    "BOM and latin-1": (codecs.BOM_UTF8 + b"# coding: latin-1\n", "begins with the byte order mark"),
}


@pytest.mark.parametrize(("raw", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_what_python_refuses_is_refused_with_the_reason(raw: bytes, reason: str) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        compile(raw, "module.py", "exec")
    with pytest.raises(SourceError, match=reason) as caught:
        decode("module.py", raw)
    assert caught.value.path == "module.py"


REFUSED_CODECS = [
    *("utf-7", "rot13", "base64", "hex", "zlib", "bz2", "uu", "quopri", "unicode_escape", "raw_unicode_escape"),
    *("punycode", "undefined", "utf-16", "utf-16-le", "utf-32", "cp037", "cp500", "hz"),
]


@pytest.mark.parametrize("codec", REFUSED_CODECS)
def test_codecs_in_which_ascii_means_something_else_are_refused(codec: str) -> None:
    raw = f"# coding: {codec}\nx = '+AGE-' '\\\\x41 \\\\u0041' ~{{}}\n".encode()
    with pytest.raises(SourceError):
        decode("module.py", raw)


cookies = st.builds(
    lambda before, word, name, after: before + word + name + after,
    st.sampled_from([b"", b"#", b" #", b"\f#", b"x#", b"#!py\n#", b"\n#", b"\r\n#", b"\\\n#", b"'''\n#", b"#\n\n#"]),
    st.sampled_from(
        [b"", b"coding:", b"coding=", b"-*- coding: ", b"encoding:\t", b"coding :", b"Coding: ", b"coding: "]
    ),
    st.sampled_from(
        [b"utf-8", b"latin-1", b"iso-8859-15", b"ascii", b"cp1252", b"UTF_8", b"utf-8-mac", b"latin_1_x", b"nope"]
    ),
    st.sampled_from([b"", b"\n", b" -*-\n", b"\r\nx = 1", b"\rx = 1\n", b"'''\n"]),
)


@given(cookies)
def test_a_cookie_means_what_it_means_to_python(raw: bytes) -> None:
    try:
        expected, _ = tokenize.detect_encoding(io.BytesIO(raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")).readline)
    except SyntaxError:
        with pytest.raises(SourceError):
            decode("module.py", raw)
    else:
        assert decode("module.py", raw).encoding == codecs.lookup(expected).name


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs"], blacklist_characters="\0#")), st.data())
def test_bytes_outside_of_an_edit_stay(text: str, data: st.DataObject) -> None:
    raw = text.encode()
    source = decode("module.py", raw)
    start = data.draw(st.integers(0, len(source.text)))
    end = data.draw(st.integers(start, len(source.text)))
    before, after = source.text[:start].encode(), source.text[end:].encode()
    expected = source.prefix + before + b"new" + after
    assert source.splice([Edit("module.py", Span(start, end), "new")]) == expected


def test_text_that_the_encoding_cannot_hold_is_an_error_that_names_it() -> None:
    source = decode("module.py", b"# coding: latin-1\nx = 1\n")
    with pytest.raises(SourceError, match="'\N{SNOWMAN}' cannot be written in iso8859-1"):
        source.splice([Edit("module.py", Span(18, 19), "\N{SNOWMAN}")])


def test_the_same_edit_twice_is_made_once() -> None:
    edit = Edit("a.py", Span(1, 1), "x")
    assert splice_text("ab", [edit, edit]) == "axb"


def test_insertions_at_one_place_and_at_an_edge_all_stand() -> None:
    edits = [Edit("a.py", Span(1, 2), "B"), Edit("a.py", Span(1, 1), "y"), Edit("a.py", Span(1, 1), "x")]
    assert splice_text("abc", [*edits, Edit("a.py", Span(2, 2), "z")]) == "axyBzc"


def test_insertions_at_one_place_are_always_in_the_same_order() -> None:
    """Sets have no order: with nine texts luck would not do."""
    edits = [Edit("a.py", Span(1, 1), str(number)) for number in range(9)]
    assert splice_text("ab", reversed(edits)) == "a012345678b"


def test_edits_that_touch_do_not_overlap() -> None:
    edits = [Edit("a.py", Span(0, 2), "x"), Edit("a.py", Span(2, 4), "y"), Edit("a.py", Span(4, 4), "z")]
    assert splice_text("abcd", edits) == "xyz"


@pytest.mark.parametrize("raw", [b"# coding: iso2022_jp\nx = '\x1b(B'\n", b"# coding: cp932\nx = '\xfa\x4a'\n"])
def test_text_that_would_come_back_as_other_bytes_is_refused(raw: bytes) -> None:
    """Python reads it, but a file of which only one word changes would not keep the rest."""
    compile(raw, "module.py", "exec")
    with pytest.raises(SourceError, match="would not come back byte for byte"):
        decode("module.py", raw)


@pytest.mark.parametrize(
    "raw", [codecs.BOM_UTF8 + b"x = 1\n", b"# coding: latin-1\nx = '\xe9'\n", b"x = 1\r\n", b"x = '\xc3\xa9'"]
)
def test_a_buffer_of_an_editor_is_kept_in_the_bytes_of_its_file(raw: bytes) -> None:
    source = decode("module.py", raw)
    other = source.with_text(source.text.replace("x", "y"))
    assert (other.raw, other.path) == (raw.replace(b"x", b"y"), "module.py")


@pytest.mark.parametrize("span", [Span(1, 3), Span(3, 2), Span(4, 9)])
def test_edits_that_overlap_or_leave_the_text_are_an_error(span: Span) -> None:
    with pytest.raises(ValueError, match=r"a\.py: edits overlap, or leave the text"):
        splice_text("abcd", [Edit("a.py", Span(0, 2), "x"), Edit("a.py", span, "y")])
