"""Bowler's queries as codemods of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph import Codemod, FullgraphError, Safety
from tests.foreign.running import load, look, named, only, rewritten


def old_to_new() -> Codemod:
    return named("bowler_rename.py", "old_to_new")()


def one(folder: Path, text: str) -> Codemod:
    (kind,) = load(folder, "    from bowler import Query\n" + text)
    return kind()


def test_a_query_is_run_in_this_process_and_gives_one_finding(capfd: pytest.CaptureFixture[str]) -> None:
    finding = only(old_to_new(), b"def old():\n    pass\n\n\nold()\n")
    assert [edit.new_text for edit in finding.edits] == ["new", "new"]
    assert finding.message.startswith("Bowler queries as their authors write them")
    assert finding.safety is Safety.UNSAFE
    assert "Bowler, which says nothing about safety" in finding.caveat
    assert capfd.readouterr() == ("", "")


def test_a_function_that_returns_a_query_is_called() -> None:
    codemod = named("bowler_rename.py", "train_to_fit")()
    assert rewritten(codemod, b"def train(x): pass\ntrain(1)\n") == b"def fit(x): pass\nfit(1)\n"
    assert only(codemod, b"def train(x): pass\n").message == "`train` is called `fit`."


@pytest.mark.parametrize(
    "raw",
    [
        b"old()",
        b"\x0cold()\n",
        b"\xef\xbb\xbfold()\r\nold()\r\n",
        b"x = 1\r\nold()\ny = '''\r\n'''\n",
        b"if x:\n\told()\n\x0c\n\told()",
        b"if x:\n    old()\n    # last",
        b"# coding: latin-1\nold('\xe9')\n",
        b"print(old(), file=x)\nif (a := old()): pass\n",
    ],
)
def test_whatever_is_not_changed_keeps_its_bytes(raw: bytes) -> None:
    assert rewritten(old_to_new(), raw) == raw.replace(b"old", b"new")


def test_added_lines_end_as_the_lines_around_them(tmp_path: Path) -> None:
    text = """
    from fissix.fixer_util import Newline, Name
    def add(node, capture, filename):
        if "import new" not in str(node):
            node.insert_child(0, Newline())
            node.insert_child(0, Name("import new"))
    query = Query().select_root().modify(add)
    """
    assert rewritten(one(tmp_path, text), b"x = 1\r\ny = 2\r\n") == b"import new\r\nx = 1\r\ny = 2\r\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("match x:\n    case 1: old()\n", "Bowler cannot parse line 1: bad input 'x'"),
        ("x = 1\nwith (a as b, c as d): old()\n", "Bowler cannot parse line 2: bad input 'as'"),
        ("try: old()\nexcept* E: pass\n", "Bowler cannot parse line 2: bad input '*'"),
        ("def f(a, /): old()\n", "Bowler cannot parse line 1: bad input '/'"),
        ("x = 1\rold()\n", "Bowler cannot parse line 1: bad token '\\r'"),
    ],
)
def test_a_file_that_bowler_cannot_parse_is_reported_and_the_next_is_done(code: str, said: str) -> None:
    codemod = old_to_new()
    result = look(codemod, code.encode())
    assert (result.error, result.findings) == (said, ())
    assert rewritten(codemod, b"old()\n") == b"new()\n"


def test_what_a_callback_raises_is_an_error_of_that_file(tmp_path: Path) -> None:
    text = """
    def check(node, capture, filename):
        return {}[filename]
    query = Query().select_function("old").modify(check)
    """
    error = look(one(tmp_path, text), b"def old(): pass\n").error
    assert error == "theirs failed: KeyError: '/nowhere/pkg/module.py' (theirs.py, line 4)"
    assert not look(one(tmp_path, text), b"x = 1\n").error


def test_the_file_name_matcher_and_the_processors_of_a_query_count(tmp_path: Path) -> None:
    matcher = """
    query = Query(filename_matcher=lambda name: "test" in name).select_function("old").rename("new")
    """
    assert not look(one(tmp_path, matcher), b"old()\n").findings
    processor = """
    seen = []
    def keep(filename, hunk):
        return not any("keep" in line for line in hunk)
    query = Query().select_function("old").rename("new").process(keep)
    """
    raw = b"old(1)\n" + b"\n" * 9 + b"old('keep')\n" + b"\n" * 9 + b"old(2)"
    assert [e.span.start for e in only(one(tmp_path, processor), raw).edits] == [0, raw.rindex(b"old")]


def test_a_fixer_is_run(tmp_path: Path) -> None:
    text = """
    from fissix.fixer_base import BaseFix
    from fissix.fixer_util import Name
    class Fix(BaseFix):
        PATTERN = "'old'"
        def __init__(self): ...
        def transform(self, node, results):
            return Name("new", prefix=node.prefix)
    query = Query().fixer(Fix)
    """
    assert rewritten(one(tmp_path, text), b"x = old\n") == b"x = new\n"


def test_a_query_that_does_not_compile_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(FullgraphError, match=r"theirs: not a query: "):
        one(tmp_path, "    query = Query().select('(unclosed')\n")


# What a file runs when it is imported


def victim(folder: Path) -> Path:
    file = folder / "victim.py"
    file.write_text("def old(): pass\n")
    return file


@pytest.mark.parametrize("run", ["write()", "execute(write=True, interactive=False)", "diff()", "idiff()", "silent()"])
def test_a_query_that_is_run_on_import_touches_nothing(
    tmp_path: Path, run: str, capfd: pytest.CaptureFixture[str]
) -> None:
    file = victim(tmp_path)
    codemod = one(tmp_path, f"    Query({str(file)!r}).select_function('old').rename('new').{run}\n")
    assert file.read_text() == "def old(): pass\n"
    assert capfd.readouterr() == ("", "")
    assert codemod.name == "theirs"
    assert rewritten(codemod, b"old()\n") == b"new()\n"


def test_after_loading_bowler_runs_again(tmp_path: Path) -> None:
    from bowler import Query

    file = victim(tmp_path)
    one(tmp_path, "    Query().select_function('old').rename('new').write()\n")
    Query(str(file)).select_function("old").rename("new").write()
    assert file.read_text() == "def new(): pass\n"


def test_a_file_that_runs_bowlers_tool_itself_is_refused(tmp_path: Path) -> None:
    file = victim(tmp_path)
    text = f"""
    from bowler import BowlerTool
    BowlerTool(Query().select_function('old').rename('new').compile(), write=True).run([{str(file)!r}])
    """
    with pytest.raises(FullgraphError, match=r"theirs\.py: runs Bowler's tool itself"):
        one(tmp_path, text)
    assert file.read_text() == "def old(): pass\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def main():\n        Query().select_function('old').rename('new').write()", ["theirs"]),
        ("def main():\n        Query().write()\n    main()", ["theirs"]),
        ("def make() -> 'Query':\n        return Query()\n    query = make()", ["theirs"]),
        ("def make():\n        q = Query()\n        return q.select_root()", ["make"]),
        ("def make(name='x', *rest):\n        return Query()\n    def needs(x) -> Query: ...", ["make"]),
        ("a = Query()\n    b = Query()\n    same = a\n    _hidden = Query()", ["a", "b"]),
        ("def two() -> Query:\n        Query().write()\n        return Query().write()", ["two", "two_2"]),
    ],
)
def test_each_query_of_a_file_is_found_once(tmp_path: Path, text: str, names: list[str]) -> None:
    found = load(tmp_path, f"    from bowler import Query\n    {text}\n")
    assert [kind.name for kind in found] == names


def test_a_function_that_says_nothing_of_a_query_is_not_called(tmp_path: Path) -> None:
    text = (
        "def explode():\n        raise ValueError\n    def other() -> int:\n        raise ValueError\n    a = Query()"
    )
    assert len(load(tmp_path, f"    from bowler import Query\n    {text}\n")) == 1
