"""LibCST's codemods as codemods of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph import FullgraphError, Safety
from tests.foreign.running import load, look, named, only, rewritten

HEAD = """
    import libcst as cst
    from libcst.codemod import Codemod, CodemodCommand, ContextAwareTransformer, SkipFile, VisitorBasedCodemodCommand
"""
RENAME = (
    HEAD
    + """
    class Rename(VisitorBasedCodemodCommand):
        "Rename old to new."
        def leave_Name(self, original_node, updated_node):
            return updated_node.with_changes(value="new") if updated_node.value == "old" else updated_node
"""
)


def test_imports_are_added_and_metadata_is_there() -> None:
    kind = named("libcst_rename.py", "use_fsum")
    assert rewritten(kind(), b"import os\n\nx = sum([])\n") == b"import os\nfrom math import fsum\n\nx = fsum([])\n"
    assert rewritten(kind(), b"from mine import sum\nx = sum([1.0])\n") == b"from mine import sum\nx = sum([1.0])\n"


def test_all_hunks_of_a_file_are_one_finding_that_says_where_it_comes_from() -> None:
    finding = only(named("libcst_rename.py", "use_fsum")(), b"import os\nx = sum([])\n\n\ny = sum([])\n")
    assert [edit.new_text for edit in finding.edits] == ["from math import fsum\n\n", "fsum", "fsum"]
    assert finding.message == "Sum floats with math.fsum."
    assert finding.safety is Safety.UNSAFE
    assert "LibCST, which says nothing about safety" in finding.caveat
    assert finding.notes == ("pkg.module: fsum returns a float",)
    assert (finding.line, finding.symbol) == (2, "<module>")


def test_a_change_inside_one_function_has_its_symbol(tmp_path: Path) -> None:
    (kind,) = load(tmp_path, RENAME)
    finding = only(kind(), b"class A:\n    @old\n    def f(self):\n        return old\n")
    assert finding.symbol == "A.f"
    assert [edit.new_text for edit in finding.edits] == ["new", "new"]


@pytest.mark.parametrize(
    "raw",
    [
        b"\x0cold = 1\n",
        b"\xef\xbb\xbfold = 1\n",
        b"\xef\xbb\xbf\x0c\r\nold = 1\r\n",
        b"\\\nold = 1\n",
        b"a = 1\r\nold = 2\nb = 3\rold = 4",
        b"def f():\n\told\n\x0c\n\told",
        b"old = 1\r",
        b"# -*- coding: latin-1 -*-\nold = '\xe9'\n",
        "é = '\u2028'\nold = 1\n".encode(),
    ],
)
def test_whatever_is_not_changed_keeps_its_bytes(tmp_path: Path, raw: bytes) -> None:
    (kind,) = load(tmp_path, RENAME)
    assert rewritten(kind(), raw) == raw.replace(b"old", b"new")


def test_added_lines_end_as_the_lines_around_them() -> None:
    kind = named("libcst_rename.py", "use_fsum")
    assert rewritten(kind(), b"import os\r\n\r\nx = sum([])\r\n") == (
        b"import os\r\nfrom math import fsum\r\n\r\nx = fsum([])\r\n"
    )


def test_a_file_that_libcst_does_not_give_back_is_reported_only_if_it_would_change(tmp_path: Path) -> None:
    (kind,) = load(tmp_path, RENAME)
    odd = b"def f():\n    \x0c    y\n    z\n"
    if look(kind(), odd + b"old\n").findings:
        pytest.skip("this LibCST gives it back")
    assert "LibCST" in look(kind(), odd + b"old\n").error
    assert not look(kind(), odd).findings


def test_a_file_without_change_has_no_finding(tmp_path: Path) -> None:
    (kind,) = load(tmp_path, RENAME)
    for raw in (b"", b"\x0cx = 1\n", b"x = 1"):
        result = look(kind(), raw)
        assert (result.findings, result.error) == ((), "")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise SkipFile('not this one')", "theirs skips it: not this one"),
        ("raise KeyError('x')", "theirs failed: KeyError: 'x' (theirs.py, line 7)"),
        ("raise SystemExit", "theirs failed: SystemExit (theirs.py, line 7)"),
        ("return None", "theirs failed: AttributeError"),
        ("return self.transform_module_impl(tree)", "theirs: nested too deeply"),
    ],
)
def test_what_a_command_raises_is_an_error_of_that_file(tmp_path: Path, body: str, said: str) -> None:
    command = f"class Theirs(CodemodCommand):\n        def transform_module_impl(self, tree):\n            {body}\n"
    (kind,) = load(tmp_path, f"{HEAD}\n    {command}")
    assert look(kind(), b"x = 1\n").error.startswith(said)


def test_what_libcst_cannot_parse_is_reported_with_its_line(tmp_path: Path) -> None:
    (kind,) = load(tmp_path, RENAME)
    assert look(kind(), b"if 1:\n  \\\n  old\n").error.startswith("LibCST cannot parse line 3: ")


def test_the_context_names_file_module_and_package(tmp_path: Path) -> None:
    body = """
    class Say(CodemodCommand):
        def transform_module_impl(self, tree):
            print("to nobody")
            self.warn(f"{self.context.filename} {self.context.full_module_name} {self.context.full_package_name}")
            return tree.with_changes(body=[]) if tree.body else tree
    """
    (kind,) = load(tmp_path, HEAD + body)
    assert only(kind(), b"x = 1\n").notes == ("/nowhere/pkg/module.py pkg.module pkg",)
    (finding,) = look(kind(), b"x = 1\n", "pkg/sub/__init__.py").findings
    assert finding.notes[0].endswith(" pkg.sub pkg.sub")


def test_what_a_command_prints_does_not_reach_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (kind,) = load(tmp_path, RENAME.replace('"Rename old', 'print("x"); "').replace("return", "print('hi');return"))
    only(kind(), b"old\n")
    assert capsys.readouterr().out == ""


def test_full_repository_metadata_is_there(tmp_path: Path) -> None:
    body = """
    from libcst.metadata import FullyQualifiedNameProvider
    class Qualify(VisitorBasedCodemodCommand):
        METADATA_DEPENDENCIES = (FullyQualifiedNameProvider,)
        def leave_Name(self, original_node, updated_node):
            names = {found.name for found in self.get_metadata(FullyQualifiedNameProvider, original_node, ())}
            return updated_node.with_changes(value="new") if names == {"pkg.module.old"} else updated_node
    """
    (kind,) = load(tmp_path, HEAD + body)
    assert rewritten(kind(), b"old = 1\n") == b"new = 1\n"


def test_helpers_beside_a_command_and_abstract_classes_are_no_codemods(tmp_path: Path) -> None:
    body = """
    class Helper(ContextAwareTransformer): ...
    class Base(CodemodCommand): ...
    class _Private(VisitorBasedCodemodCommand): ...
    """
    assert [kind.name for kind in load(tmp_path, RENAME + body)] == ["rename"]


def test_a_plain_codemod_counts_where_there_is_no_command(tmp_path: Path) -> None:
    (kind,) = load(tmp_path, HEAD + "    class Plain(ContextAwareTransformer):\n        'Does nothing.'\n")
    assert (kind.name, kind.__doc__) == ("plain", "Does nothing.")


# Arguments


def rename(**options: str) -> bytes:
    return rewritten(named("libcst_rename.py", "rename_name")(options), b"a = old\n")


def test_arguments_come_from_options() -> None:
    assert rename(old="old", new="new", only_loads="true") == b"a = new\n"
    assert rename(old="a", new="b") == b"b = old\n"
    assert rename(**{"old-name": "a", "new": "b"}) == b"b = old\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"new": "x"}, r"rename_name: .*required: --old-name; give .* --option rename_name\.NAME=VALUE"),
        ({"old": "x"}, "rename_name: .*required: new"),
        ({"old": "x", "new": "y", "only_load": "true"}, "no option 'only_load'; did you mean 'only_loads'"),
        ({"old": "x", "new": "y", "only_loads": "maybe"}, r"rename_name\.only_loads: 'maybe' is not true or false"),
    ],
)
def test_wrong_arguments_are_one_clear_line(options: dict[str, str], said: str) -> None:
    with pytest.raises(FullgraphError, match=said):
        named("libcst_rename.py", "rename_name")(options)


def test_a_constructor_tells_its_arguments_where_the_command_does_not(tmp_path: Path) -> None:
    body = """
    class Keep(CodemodCommand):
        def __init__(self, context, count: int, word: str = "x", deep: bool = False, odd: list[str] | None = None):
            super().__init__(context)
            self.said = f"{count + 1} {word} {deep}"
        def transform_module_impl(self, tree):
            self.warn(self.said)
            return tree.with_changes(body=[])
    """
    (kind,) = load(tmp_path, HEAD + body)
    assert only(kind({"count": "2", "deep": "true"}), b"x = 1\n").notes == ("3 x True",)
    with pytest.raises(FullgraphError, match=r"keep: .*required: --count"):
        kind()
    with pytest.raises(FullgraphError, match="keep: argument --count: invalid int value: 'two'"):
        kind({"count": "two"})


def test_an_argument_that_no_option_can_hold_is_named(tmp_path: Path) -> None:
    body = """
    class Keep(CodemodCommand):
        def __init__(self, context, table: dict[str, int]): ...
        def transform_module_impl(self, tree): ...
    """
    (kind,) = load(tmp_path, HEAD + body)
    with pytest.raises(FullgraphError, match=r"keep needs table: dict\[str, int\], which --option cannot give"):
        kind()


def test_lists_switches_and_choices_are_read_as_argparse_reads_them(tmp_path: Path) -> None:
    body = """
    import argparse
    class Take(CodemodCommand):
        @staticmethod
        def add_args(parser):
            parser.add_argument("--many", nargs="+", type=int)
            parser.add_argument("-e", "--each", action="append")
            parser.add_argument("--no-format", dest="format", action="store_false")
            parser.add_argument("--deep", action=argparse.BooleanOptionalAction, default=True)
            parser.add_argument("-n", type=int, default=0)
            parser.add_argument("--kind", choices=["a", "b"])
            parser.add_argument("--rest", nargs=argparse.REMAINDER)
            parser.add_argument("--level", action="count")
        def __init__(self, context, **arguments):
            super().__init__(context)
            self.arguments = arguments
        def transform_module_impl(self, tree):
            return tree
    """
    (kind,) = load(tmp_path, HEAD + body)
    options = {"many": "1,2", "each": "-x,y", "format": "false", "deep": "false", "n": "3", "kind": "b"}
    arguments = kind(options).arguments  # type: ignore[attr-defined]
    expected = {"many": [1, 2], "each": ["-x", "y"], "format": False, "deep": False, "n": 3, "kind": "b"}
    assert arguments == {**expected, "rest": None, "level": None}
    for wrong, said in (("kind", "invalid choice"), ("rest", "cannot be given"), ("level", "cannot be given")):
        with pytest.raises(FullgraphError, match=said):
            kind({wrong: "true"})
