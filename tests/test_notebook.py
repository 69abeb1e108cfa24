"""Notebooks: what codemods see of them, and that an edit changes nothing but the characters it names."""

from __future__ import annotations

import ast
import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullgraph.codemods.model import Edit, SourceError, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.notebook import NotebookSource, decode_notebook, place
from fullgraph.codemods.source import decode, splice_text

PATH = "train.ipynb"
PICTURE = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=\n", "text/plain": ["<é \\u00e9>"]}}


def lines_of(text: str) -> list[str]:
    """As Jupyter writes a source: one item per line, each with its line break."""
    return text.splitlines(keepends=True) if "\r" not in text else [text]


def code(source: str | list[str], **more: Any) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [PICTURE], "source": source, **more}


def notebook(*cells: str | dict[str, Any], language: str = "python") -> dict[str, Any]:
    """A notebook; texts become code cells."""
    return {
        "cells": [code(lines_of(cell)) if isinstance(cell, str) else cell for cell in cells],
        "metadata": {"kernelspec": {"display_name": "Kernel", "language": language, "name": "kernel"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def as_jupyter_writes(book: dict[str, Any]) -> bytes:
    return (json.dumps(book, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def read(*cells: str | dict[str, Any]) -> NotebookSource:
    return decode_notebook(PATH, as_jupyter_writes(notebook(*cells)))


def replace(source: NotebookSource, old: str, new: str) -> Edit:
    start = source.text.index(old)
    return Edit(PATH, Span(start, start + len(old)), new)


def sources(raw: bytes) -> list[Any]:
    return [cell["source"] for cell in json.loads(raw.removeprefix(codecs.BOM_UTF8))["cells"]]


def parsed(*cells: str) -> str:
    source = read(*cells)
    assert len(source.parsed) == len(source.text)
    ast.parse(source.parsed)
    return source.parsed


# What codemods see


def test_the_cells_are_one_text_so_that_names_are_seen_over_cells() -> None:
    module = Module(decode(PATH, as_jupyter_writes(notebook("import torch", "x = torch.ones(3)\n", "x.sum()"))))
    assert module.text == "import torch\n\nx = torch.ones(3)\n\nx.sum()\n\n"
    assert module.resolve(module.nodes(ast.Call)[0].func) == "torch.ones"


def test_markdown_raw_and_empty_cells_are_not_part_of_the_text() -> None:
    markdown = {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]}
    raw = {"cell_type": "raw", "metadata": {}, "source": "x = 1"}
    assert read(markdown, "a = 1", raw, "", code("")).text == "a = 1\n\n"


@pytest.mark.parametrize(
    ("line", "read_as"),
    [
        ("%matplotlib inline", "0                 "),
        ("!pip install torch", "0                 "),
        ("files = !ls *.pt", "files = 0       "),
        ("best = %timeit -o f(x)", "best = 0              "),
        ("torch.compile?", "0             "),
        ("torch.compile??", "0              "),
        ("?torch.compile", "0             "),
        ("    !nvidia-smi", "    0          "),
        ("!echo \"it's (", "0            "),
        ("!pip install \\\n  torch", "0             \n       "),
        ("%timeit -n 10 f(x)", "0                 "),
    ],
)
def test_a_line_of_ipython_is_blanked(line: str, read_as: str) -> None:
    before = "if True:\n" if line.startswith(" ") else "x = 1\n"
    assert parsed(before + line + "\ny = 2") == before + read_as + "\ny = 2\n\n"


def test_the_python_in_a_timed_line_is_seen() -> None:
    assert parsed("%time model = compile(model)\nt = %time f(x)") == "0;    model = compile(model)\nt =       f(x)\n\n"


def test_a_timed_block_is_blanked_because_it_cannot_stand_behind_a_semicolon() -> None:
    assert parsed("%time for x in y: f(x)") == "0                     \n\n"


@pytest.mark.parametrize("text", ['"""\n%magic\n!shell\n"""', "x = (7\n%3)", "y = [a\n, b]", "s = 'what?'"])
def test_what_merely_looks_like_ipython_stays(text: str) -> None:
    assert parsed(text) == text + "\n\n"
    assert parsed("!ls\n" + text + "\n!ls") == "0  \n" + text + "\n0  \n\n"


@pytest.mark.parametrize(
    "text",
    [
        *("x = 'a' % y", "x = f(a) % y", "x = [1]  # why?", "x = a[0] / b", "x = y \\\n% z", "x = {\n'a': 1}\ny = 2"),
        *("x = (a,\n-b)", "s = '''a\n!b'''; t = 'c'", "s = 'it\\'s' % 2", "x = [')'] % 2"),
    ],
)
def test_python_next_to_a_line_of_ipython_stays(text: str) -> None:
    assert parsed(f"!ls\n{text}\n%who") == f"0  \n{text}\n0   \n\n"


def test_a_cell_magic_that_runs_python_is_blanked() -> None:
    assert parsed("\n%%capture out\n%%time\n!ls\nf(x)") == "\n             \n      \n0  \nf(x)\n\n"


@pytest.mark.parametrize("magic", ["bash", "html", "javascript", "writefile train.py", "cython", "!", "sql x <<", "R"])
def test_a_cell_magic_is_not_python(magic: str) -> None:
    assert read("a = 1", f"%%{magic}\nx = 1", "b = 2").text == "a = 1\n\nb = 2\n\n"


def test_a_cell_that_is_not_python_does_not_lose_the_others() -> None:
    source = read("a = 1", "pip install torch\nx = 1", "print 'old'", "b = 2")
    assert source.text == "a = 1\n\npip install torch\nx = 1\n\nprint 'old'\n\nb = 2\n\n"
    assert source.parsed.split() == ["a", "=", "1", "b", "=", "2"]
    assert Module(source).is_blanked(Span(8, 10))


@pytest.mark.parametrize("cell", ["if x:", "x = \\", "'''", "\ufeffx = 1", "  x = 1", "x = '\ud800'", "(" * 3000])
def test_a_cell_that_only_its_neighbours_could_complete_is_blanked(cell: str) -> None:
    book = json.dumps(notebook("a = 1", code(cell), "b = 2")).encode()
    assert decode_notebook(PATH, book).parsed.split() == ["a", "=", "1", "b", "=", "2"]


def test_newer_syntax_in_a_cell_is_read() -> None:
    source = read("%time\ndef f[T](x: T): return x", "f(1)")
    assert len(source.parsed) == len(source.text)
    assert source.parsed.startswith("0    \ndef f")
    function = Module(source).nodes(ast.FunctionDef)[0]
    assert (function.name, function.lineno) == ("f", 2)


@pytest.mark.parametrize("language", ["julia", "R", "javascript", "scala"])
def test_a_notebook_of_another_language_has_no_text(language: str) -> None:
    book = notebook("x = 1", language=language)
    assert decode_notebook(PATH, as_jupyter_writes(book)).text == ""
    book["metadata"] = {"language_info": {"name": language}}
    assert decode_notebook(PATH, as_jupyter_writes(book)).text == ""


@pytest.mark.parametrize("metadata", [{}, {"kernelspec": None}, {"language_info": {"name": "ipython"}}])
def test_a_notebook_without_a_language_is_python(metadata: dict[str, Any]) -> None:
    assert decode_notebook(PATH, as_jupyter_writes({**notebook("x = 1"), "metadata": metadata})).text == "x = 1\n\n"


def test_a_notebook_of_format_3_is_read_and_edited() -> None:
    cells = [{"cell_type": "code", "input": ["import torch\n", "x = 1"], "language": "python", "outputs": []}]
    source = decode_notebook(PATH, json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode())
    after = json.loads(source.splice([replace(source, "x = 1", "x = 2")]))
    assert after["worksheets"][0]["cells"][0]["input"] == ["import torch\n", "x = 2"]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"cells": [\n  {"cell_type": }\n]}', "line 2: not a notebook: Expecting value"),
        (b"", "line 1: not a notebook: Expecting value"),
        (b"[]", "line 1: not a notebook: "),
        (b'{"a": 1}', "line 1: not a notebook: it has no cells"),
        (b'{"cells": 1}', "line 1: not a notebook: it has no cells"),
        (b'{"cells": [1]}', "line 1: not a notebook: "),
        (b'{"cells": [{"cell_type": "code", "source": [1]}]}', "line 1: not a notebook: "),
        (b'{"cells": [{"cell_type": "code", "source": 1}]}', "line 1: not a notebook: "),
        (b'{"cells":\n "\xff"}', "line 2: not a notebook: not UTF-8 text"),
        (b"[" * 100_000, "line 1: not a notebook: "),
    ],
)
def test_what_is_not_a_notebook_is_an_error_with_its_line(raw: bytes, reason: str) -> None:
    with pytest.raises(SourceError) as error:
        decode_notebook(PATH, raw)
    assert error.value.reason.startswith(reason)


def test_a_notebook_is_python_if_its_kernel_or_its_language_is() -> None:
    book = notebook("x = 1")
    for kernel, language in (("python", "sagemath"), ("coconut", "ipython3")):
        book["metadata"] = {"kernelspec": {"language": kernel}, "language_info": {"name": language}}
        assert decode_notebook(PATH, as_jupyter_writes(book)).text == "x = 1\n\n"


def test_a_mark_at_the_start_does_not_shift_the_line_of_an_error() -> None:
    with pytest.raises(SourceError, match="line 2: not a notebook: not UTF-8 text"):
        decode_notebook(PATH, codecs.BOM_UTF8 + b'{\n"\xff"}')


@pytest.mark.parametrize("style", [{}, {"indent": 1}, {"ensure_ascii": False}])
def test_every_character_of_a_cell_stands_somewhere_in_the_file(style: dict[str, Any]) -> None:
    """The place in the file spells that character; what the file does not hold stands behind its cell."""
    source = decode_notebook(PATH, json.dumps(notebook("x = 1\ny = 'é'", code("z = 3")), **style).encode())
    for name in ("x", "= 1", "y", "z", "3"):
        assert source.json.startswith(name, source.file_offset(source.text.index(name)))
    assert source.json[source.file_offset(source.text.index("é")) :].startswith(("é'", r"\u00e9'"))
    for cell in source.cells:
        assert source.json[source.file_offset(cell.end - 1)] == '"'


def test_a_place_is_told_as_cell_and_line() -> None:
    markdown = {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]}
    source = read(markdown, "a = 1\nb = 2", "%%bash\nls", "c = 3\n\nd = 4")
    assert [place(source, source.text.index(name)) for name in "abcd"] == [(2, 1), (2, 2), (4, 1), (4, 3)]
    assert place(source, len(source.text)) == (4, 3)
    assert place(decode("a.py", b"x = 1"), 0) is None


# What edits do


def test_only_the_edited_characters_change() -> None:
    raw = as_jupyter_writes(notebook("import torch\nx = 1", "y = 'é'\n", code("z = 3")))
    source = decode_notebook(PATH, raw)
    after = source.splice([replace(source, "x = 1", 'x = "ä"'), replace(source, "z = 3", "z = 4")])
    assert after == raw.replace(b"x = 1", 'x = \\"ä\\"'.encode()).replace(b"z = 3", b"z = 4")
    assert source.splice([]) == raw


@pytest.mark.parametrize(
    ("old", "new", "after"),
    [
        ("b = 2\n", "", ["a = 1\n", "c = 3"]),
        ("a = 1\n", "", ["b = 2\n", "c = 3"]),
        ("c = 3\n", "", ["a = 1\n", "b = 2"]),
        ("1\nb = ", "", ["a = 2\n", "c = 3"]),
        ("b = 2", "if b:\n    b = 2", ["a = 1\n", "if b:\n", "    b = 2\n", "c = 3"]),
        ("c = 3", "c = 3\nd = 4\n", ["a = 1\n", "b = 2\n", "c = 3\n", "d = 4\n"]),
        ("c = 3\n", "c = 3\nd = 4\n", ["a = 1\n", "b = 2\n", "c = 3\n", "d = 4"]),
        ("a = 1\nb = 2\nc = 3\n", "", [""]),
    ],
)
def test_a_list_keeps_one_line_per_item(old: str, new: str, after: list[str]) -> None:
    source = read("a = 1\nb = 2\nc = 3", "z = 9")
    result = source.splice([replace(source, old, new)])
    assert sources(result) == [after, ["z = 9"]]
    if after != [""] and not after[-1].endswith("\n"):
        assert result == as_jupyter_writes(notebook("".join(after), "z = 9"))


@pytest.mark.parametrize(
    "style", [{}, {"indent": 1}, {"indent": "\t"}, {"separators": (",", ":")}, {"indent": 2, "separators": (",", ":")}]
)
def test_the_first_new_line_of_a_cell_is_laid_out_as_the_file_is(style: dict[str, Any]) -> None:
    source = decode_notebook(PATH, json.dumps(notebook("a = 1"), **style).encode())
    after = source.splice([replace(source, "a = 1", "a = 1\nb = 2")])
    assert after == json.dumps(notebook("a = 1\nb = 2"), **style).encode()


def test_an_insertion_belongs_to_the_cell_that_it_touches() -> None:
    source = read("a = 1", "b = 2")
    behind_text, behind_line, before_next = (Edit(PATH, Span(at, at), "new\n") for at in (5, 6, 7))
    assert sources(source.splice([Edit(PATH, Span(5, 5), " + 1")])) == [["a = 1 + 1"], ["b = 2"]]
    assert sources(source.splice([behind_line])) == [["a = 1\n", "new"], ["b = 2"]]
    assert sources(source.splice([before_next])) == [["a = 1"], ["new\n", "b = 2"]]
    assert sources(source.splice([Edit(PATH, Span(14, 14), "new\n")])) == [["a = 1"], ["b = 2\n", "new"]]
    with pytest.raises(SourceError, match="cell 1: the result would not be valid Python"):
        source.splice([behind_text])


def test_a_module_inserts_behind_the_last_line_of_a_cell_and_before_the_first_of_the_next() -> None:
    source = read("a = 1", "b = 2")
    module = Module(source)
    first, second = module.nodes(ast.Assign)
    behind = module.insert(module.line_end(module.span(first).start), "after_a()\n")
    before = module.insert(module.line_start(module.span(second).start), "before_b()\n")
    assert sources(source.splice([behind, before])) == [["a = 1\n", "after_a()"], ["before_b()\n", "b = 2"]]


def test_an_edit_over_two_cells_is_refused() -> None:
    source = read("a = 1", "b = 2")
    with pytest.raises(SourceError, match="cell 1: an edit reaches into the next cell"):
        source.splice([replace(source, "1\n\nb", "1\nb")])


def test_a_cell_that_is_not_valid_is_never_edited() -> None:
    source = read("a = 1", "print 'old'")
    for edit in (replace(source, "old", "new"), Edit(PATH, Span(7, 7), "x = 1\n")):
        with pytest.raises(SourceError, match="cell 2: not valid Python"):
            source.splice([edit])


def test_a_notebook_without_python_cannot_be_edited() -> None:
    with pytest.raises(SourceError, match="no Python cells"):
        read("%%bash\nls").splice([Edit(PATH, Span(0, 0), "x")])


def test_edits_that_overlap_are_an_error() -> None:
    source = read("abc = 1")
    with pytest.raises(ValueError, match="overlap"):
        source.splice([Edit(PATH, Span(0, 2), "x"), Edit(PATH, Span(1, 3), "y")])


def test_the_text_cannot_be_replaced_as_a_whole() -> None:
    with pytest.raises(SourceError, match="as a whole"):
        read("a = 1").with_text("b = 2\n")


def test_escapes_stay_as_they_are_written() -> None:
    cell = rb'"x = \"\u00e9\ud83d\ude00\/\t\u0041\\u00e9\"\ny = 1"'
    raw = b'{"cells": [{"cell_type": "code", "source": ' + cell + b"}]}"
    source = decode_notebook(PATH, raw)
    assert source.splice([replace(source, "y = 1", "y = 2")]) == raw.replace(b"y = 1", b"y = 2")
    assert source.splice([replace(source, "😀", "")]) == raw.replace(rb"\ud83d\ude00", b"")


def test_new_text_is_escaped_as_the_file_escapes() -> None:
    book = notebook("x = 'é'\ny = 1")
    for ensure_ascii in (True, False):
        source = decode_notebook(PATH, json.dumps(book, ensure_ascii=ensure_ascii).encode())
        after = source.splice([replace(source, "y = 1", 'y = "😀\\n"')])
        assert after == json.dumps(notebook("x = 'é'\ny = \"😀\\n\""), ensure_ascii=ensure_ascii).encode()


def test_new_text_is_not_escaped_where_nothing_shows_that_the_file_escapes() -> None:
    """Jupyter writes UTF-8, so a file that happens to be ASCII gets UTF-8, too."""
    book = {"cells": [code("y = 1", outputs=[])], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    source = decode_notebook(PATH, json.dumps(book).encode())
    assert "y = 'ü'".encode() in source.splice([replace(source, "y = 1", "y = 'ü'")])


def test_new_text_is_not_escaped_in_a_file_that_holds_both() -> None:
    cell = code("s = 'é'\ny = 1", outputs=[])
    raw = json.dumps({"cells": [cell], "metadata": {"a": "ö"}, "nbformat": 4}, ensure_ascii=False)
    source = decode_notebook(PATH, raw.replace("ö", r"\u00f6").encode())
    assert "y = 'ü'".encode() in source.splice([replace(source, "y = 1", "y = 'ü'")])


def test_half_a_character_is_always_escaped() -> None:
    source = read("y = 'é'\n")
    edit = replace(source, "y = 'é'", "y = 'é'  # \ud800")
    with pytest.raises(SourceError, match="cell 1: the result would not be valid Python"):
        source.splice([edit])
    assert source.spell(source.cells[0], "\ud800é") == [(r"\ud800", ""), ("é", "")]


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_cell_ends_as_it_did(end: str) -> None:
    source = read(code(f"a = 1{end}"), code([f"b = 2{end}"]))
    after = source.splice([replace(source, "1", "3"), replace(source, "2", "4")])
    assert sources(after) == [f"a = 3{end}", [f"b = 4{end}"]]


def test_insertions_at_one_place_are_always_in_the_same_order() -> None:
    """Sets have no order: with nine texts luck would not do."""
    source = read("x = []")
    edits = [Edit(PATH, Span(5, 5), f"{number},") for number in range(9)]
    assert sources(source.splice(reversed(edits))) == [["x = [0,1,2,3,4,5,6,7,8,]"]]


def test_items_that_are_not_lines_stay_where_they_are() -> None:
    source = read(code(["a = ", "1\nb", " = 2\nc = 3", "", "\n", "d = 4"]))
    after = source.splice([replace(source, "c", "e = 5\nc")])
    assert sources(after) == [["a = ", "1\nb", " = 2\ne = 5\n", "c = 3", "", "\n", "d = 4"]]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("end", ["", "\n", "\n\n  "])
def test_line_endings_byte_order_mark_and_end_of_the_file_stay(newline: str, bom: bytes, end: str) -> None:
    def write(text: str) -> bytes:
        return bom + (json.dumps(notebook(text, "z = 1"), indent=1) + end).replace("\n", newline).encode()

    source = decode_notebook(PATH, write("a = 1\nb = 2"))
    assert source.splice([replace(source, "b = 2", "b = 2\nc = 3")]) == write("a = 1\nb = 2\nc = 3")


# For all notebooks

LINES = [
    "x = 1",
    "f(x)",
    "s = 'é😀'",
    't = "\\n"',
    "",
    "# ü",
    "%time",
    "!ls",
    "if x:\n    %who\n    y = 2",
    "z = '\\\\'",
]
HEADS = st.sampled_from(["", "%%time\n", "%%bash\n", "print 'old'\n", "\n"])
CELLS = st.builds(str.__add__, HEADS, st.lists(st.sampled_from(LINES), max_size=5).map("\n".join))
NEW = st.sampled_from(["", "a = 5\n", "# é\n", "b = '\"😀'\nc = 6\n", "# \\\\ \t\n\n"])
STYLES: list[dict[str, Any]] = [
    {"indent": 1, "ensure_ascii": False},
    {"indent": 4},
    {"separators": (",", ":")},
    {"indent": "\t", "sort_keys": True},
    {},
]


@settings(deadline=None)
@given(st.data())
def test_a_round_trip_changes_the_edited_cells_and_nothing_else(data: st.DataObject) -> None:
    texts = data.draw(st.lists(CELLS, min_size=1, max_size=4))
    as_list = [data.draw(st.booleans()) for _ in texts]
    book = notebook(*(code(lines_of(text) if listed else text) for text, listed in zip(texts, as_list, strict=True)))
    raw = json.dumps(book, **data.draw(st.sampled_from(STYLES))).encode()
    source = decode_notebook(PATH, raw)
    ast.parse(source.parsed)
    assert len(source.parsed) == len(source.text)
    expected, edits = list(texts), []
    for cell in source.cells:
        if cell.parsed is None or not data.draw(st.booleans()):
            continue
        module = ast.parse(cell.parsed)
        lines = cell.shown[:-1].splitlines(keepends=True)
        free = [statement.lineno - 1 for statement in module.body if statement.col_offset == 0] or [len(lines)]
        first = data.draw(st.sampled_from([*free, len(lines)]))
        last = data.draw(st.sampled_from([line for line in [*free, len(lines)] if line >= first]))
        start, end = (sum(map(len, lines[:line])) for line in (first, last))
        local = Edit(PATH, Span(start, end), data.draw(NEW))
        edits.append(Edit(PATH, Span(cell.start + start, cell.start + end), local.new_text))
        new = splice_text(cell.shown[:-1], [local])
        expected[cell.number - 1] = new.removesuffix("\n") if cell.lacks_break else new
    after = source.splice(edits)
    assert ["".join(text) for text in sources(after)] == expected
    for index, listed in enumerate(as_list):
        found = sources(after)[index]
        assert isinstance(found, list) == listed
        assert not listed or found in (lines_of(expected[index]), [""])
    changed = json.loads(after)
    for cell, before in zip(changed["cells"], book["cells"], strict=True):
        assert {**cell, "source": 0} == {**before, "source": 0}
    assert re.fullmatch(".*".join(map(re.escape, outside(source, edits))), after.decode(), re.DOTALL)


def outside(source: NotebookSource, edits: list[Edit]) -> Iterator[str]:
    """The pieces of the file before, between and behind the sources of the edited cells."""
    position = 0
    for edit in edits:
        cell = source.cell_of(edit)
        yield source.json[position : cell.literals[0].start]
        position = cell.literals[-1].end
    yield source.json[position:]
