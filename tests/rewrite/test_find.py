"""Asking codemods about one file: in order, with keys that last, and whatever a codemod does wrong is one line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.codemods.catalog.breaks.select_without_branch import SelectWithoutBranch
from fullgraph.codemods.catalog.stability.clone_at_boundary import CloneAtBoundary
from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Finding, Site
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.as_json import dump_finding, load_finding
from fullgraph.codemods.rewrite.find import FileResult, find
from tests.rewrite.sample import FailSometimes, RenameField, ShareImport, SwapCall


def ask(text: str | bytes, *codemods: Codemod, others: dict[str, bytes] | None = None) -> FileResult:
    files = {"a.py": text if isinstance(text, bytes) else text.encode(), **(others or {})}
    return find(Project(Path("/nowhere"), files, files), "a.py", codemods)


def test_findings_come_in_the_order_of_the_text() -> None:
    result = ask("bare()\nold(old())\nbare()\n", SwapCall(), ShareImport())
    assert [(finding.line, finding.column) for finding in result.findings] == [(1, 1), (2, 1), (2, 5), (3, 1)]


def test_who_is_expected_to_find_something_is_asked_once() -> None:
    class Counting(SwapCall):
        asked = 0

        def hits(self, raw: bytes) -> list[int]:
            return [raw.index(b"old()")]

        def find(self, module: Module, project: Project) -> Iterator[Finding]:
            Counting.asked += 1
            yield from super().find(module, project)

    text = b"def f():\n    old()\n" + b"# much more\n" * 1_000
    project = Project(Path("/nowhere"), ["a.py"], {"a.py": text})
    first = find(project, "a.py", [Counting()])
    assert Counting.asked == 2
    again = find(project, "a.py", [Counting()], expected={Counting.name})
    assert Counting.asked == 3
    assert again == first


def test_lines_that_a_codemod_was_told_are_lines_of_the_whole_file() -> None:
    class AtSites(SwapCall):
        def hits(self, raw: bytes) -> list[int]:
            return [raw.index(b"old()")]

        def find(self, module: Module, project: Project) -> Iterator[Finding]:
            lines = {site.line for site in self.sites or ()}
            yield from (finding for finding in super().find(module, project) if finding.line in lines)

    idle = "def idle(one):\n    return one\n\n\n" * 500
    codemod = AtSites()
    text = f"{idle}def busy():\n    old()\n"
    line = text[: text.index("old()")].count("\n") + 1
    codemod.sites = (Site("a.py", line, "GB0170"),)
    assert [finding.line for finding in ask(text, codemod).findings] == [line]


def test_a_file_that_no_codemod_is_interested_in_is_not_parsed() -> None:
    assert ask("this is no Python", SwapCall()) == FileResult("a.py")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"x = 1\nold( = 2\n", "line 2: "),
        (b"old()\n\0", "line 2: holds a NUL byte"),
        (b"old('\xe9')\n", "line 1: not utf-8 text"),
        (b"# coding: rot13\nold()\n", "cannot be written in the encoding 'rot13'"),
        (b"old()\n" + b"(" * 500 + b")" * 500, "line 2: too many nested parentheses"),
        (b"old()\nx = " + b"-" * 100_000 + b"1\n", "cannot be parsed"),
        (b"old()\nif x:\n" + b"".join(b" " * n + b"if x:\n" for n in range(1, 120)), "line "),
    ],
)
def test_what_cannot_be_read_is_one_line(raw: bytes, words: str) -> None:
    result = ask(raw, SwapCall())
    assert words in result.error
    assert "\n" not in result.error


class SwapCallAt(SwapCall):
    """Knows where it could find something, so that big files are glanced at first."""

    name = "swap_call_at"

    def hits(self, raw: bytes) -> Iterator[int]:
        return (hit.start() for hit in re.finditer(b"old", raw))


def test_what_cannot_be_glanced_at_is_one_line() -> None:
    text = "if x: old()\n" + "elif x: old()\n" * 20_000
    assert ask(text, SwapCallAt()).error.startswith("cannot be parsed: ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("raise_it()\nold()\n", "fail_sometimes failed: KeyError: 'no such thing' (sample.py, line "),
        ("leave_it()\nold()\n", "fail_sometimes failed: SystemExit: 3"),
        ("recurse_it()\nold()\n", "fail_sometimes: nested too deeply"),
    ],
)
def test_a_codemod_that_fails_is_named_and_the_others_are_asked(text: str, words: str) -> None:
    result = ask(text, FailSometimes(), SwapCall())
    assert words in result.error
    assert [finding.codemod for finding in result.findings] == ["swap_call"]


class FailBehindTheFirst(SwapCallAt):
    """Fails after its first finding."""

    name = "fail_behind_the_first"

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        yield next(iter(super().find(module, project)))
        raise IndexError("list index out of range")


class FailToHold(SwapCall):
    """Fails before anything is parsed."""

    name = "fail_to_hold"

    def may_hold(self, raw: bytes) -> bool:
        raise ValueError("no such bytes")


@pytest.mark.parametrize("idle", [0, 500])
def test_what_was_found_before_a_codemod_failed_is_kept_in_files_of_any_size(idle: int) -> None:
    text = "def idle(one):\n    return one\n\n\n" * idle + "def busy():\n    old()\n    old()\n"
    result = ask(text, FailBehindTheFirst(), SwapCallAt())
    assert "fail_behind_the_first failed: IndexError: list index out of range" in result.error
    names = ["fail_behind_the_first", "swap_call_at", "swap_call_at"]
    assert sorted(finding.codemod for finding in result.findings) == names


def test_a_codemod_that_fails_before_the_parse_is_named_and_the_others_are_asked() -> None:
    result = ask("old()\n", FailToHold(), SwapCall())
    assert "fail_to_hold failed: ValueError: no such bytes" in result.error
    assert [finding.codemod for finding in result.findings] == ["swap_call"]
    assert "fail_to_hold failed" in ask("pass\n", FailToHold()).error


def test_a_local_answer_depends_on_its_file_alone() -> None:
    others = {"b.py": b"c.field = 1\n"}
    text = "class C:\n    field: int = 0\n"
    assert ask("old()\n", SwapCall(), others=others).is_local
    assert not ask(text, RenameField(), others=others).is_local
    assert ask("field = 1\n", RenameField(), others=others).is_local


def test_looking_at_another_file_in_any_way_is_noticed() -> None:
    project = Project(Path("/nowhere"), ["a.py", "b.py"], {"a.py": b"", "b.py": b""})
    for look in (project.module, project.source, project.read, project.mentions, project.path_of, project.imported_by):
        project.was_asked = False
        look("b.py")
        assert project.was_asked, look


@given(st.text(alphabet="x \n", max_size=40), st.text(alphabet="y \n", max_size=40))
def test_a_key_survives_edits_elsewhere(before: str, after: str) -> None:
    text = "def f():\n    return old(1)\n\n\nold(2)\nold(2)\n"
    head, tail = (f"# {part}\n".replace("\n", "\n# ") + "\n" for part in (before, after))
    keys = [finding.key for finding in ask(text, SwapCall()).findings]
    assert len(set(keys)) == 3
    assert [finding.key for finding in ask(head + text + tail, SwapCall()).findings] == keys


def test_a_finding_read_back_from_json_is_the_same() -> None:
    [finding] = ask("class C:\n    field: int = 0\n", RenameField(), others={"b.py": b"c.field\n"}).findings
    assert load_finding(dump_finding(finding)) == finding


@pytest.mark.parametrize("raw", [b"x = 1\0\n", "x = 'd\xe9j\xe0'\n".encode("latin-1")])
def test_what_is_no_text_is_an_error_even_if_no_codemod_is_interested(raw: bytes) -> None:
    project = Project(Path(), ["a.py"], {"a.py": raw})
    assert "line 1: " in find(project, "a.py", []).error


# Big files, of which only a part is looked at first

IDLE = "def idle(one):\n    return one\n\n\n" * 500


class AskAround(SwapCallAt):
    """Asks other files whether its own calls matter, and finds nothing."""

    name = "ask_around"

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if "b.py" in project.mentions("needs_old"):
            yield from super().find(module, project)


class NameIdle(SwapCall):
    """Cannot say in the bytes where its findings begin."""

    name = "name_idle"

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for node in module.nodes(ast.FunctionDef)[2:3]:  # in no glance: that keeps the first and what has a hit
            yield module.finding(self.name, node, "idles", edits=(module.insert(0, "# idle\n"),))


def test_an_answer_after_a_glance_that_asked_other_files_depends_on_them() -> None:
    text = f"{IDLE}def busy():\n    old()\n"
    assert ask(text, AskAround()) == FileResult("a.py", is_local=False)
    result = ask(text, AskAround(), SwapCallAt())
    assert [finding.codemod for finding in result.findings] == ["swap_call_at"]
    assert not result.is_local
    assert ask(text, SwapCallAt()).is_local


def test_who_cannot_tell_where_findings_begin_is_asked_about_the_whole_file() -> None:
    """The part around the hits of another codemod is not enough."""
    text = f"{IDLE}def busy():\n    old()\n"
    found = [finding.codemod for finding in ask(text, NameIdle(), SwapCallAt()).findings]
    assert found == ["name_idle", "swap_call_at"]


# What is compiled and cannot be followed

NET = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (NET + "net = torch.compile(Net(), mode='reduce-overhead')\nhelper.net = net\n", "a.py:9: `net` (a.py:10: "),
        (NET + "nets = [torch.compile(Net(), mode='reduce-overhead')]\n", "a.py:9: it has no name"),
        (
            "import torch\n\n\ndef build(name):\n    return torch.compile(load(name))\n",
            "a.py:5: what it is cannot be told",
        ),
        (NET + "net = torch.compile(Net())\nnet(torch.ones(1))\n", ""),
    ],
)
def test_what_is_compiled_and_not_followed_is_told(text: str, said: str) -> None:
    codemods = CloneAtBoundary(), SelectWithoutBranch()
    told = ask(text, *codemods).unfollowed
    assert told[0].startswith(said) if said else told == ()
    assert ask(text, SwapCall()).unfollowed == ()
    observed = SelectWithoutBranch()
    observed.sites = ()
    assert ask(text, observed).unfollowed == ()


# Keys


def keys_in(text: str, path: str = "a.py") -> list[str]:
    files = {path: text.encode()}
    result = find(Project(Path("/nowhere"), files, files), path, [SwapCall()])
    return [finding.key for finding in result.findings]


def test_the_same_call_in_another_file_has_another_key() -> None:
    assert set(keys_in("old()\n", "a.py")).isdisjoint(keys_in("old()\n", "b.py"))


def test_a_key_is_not_counted_over_functions() -> None:
    """A call that comes or goes in one function changes no key in another."""
    second = "def second():\n    return old()\n"
    assert keys_in(f"def first():\n    return old()\n\n\n{second}")[1:] == keys_in(second)


def test_a_key_survives_another_layout_of_the_call() -> None:
    assert keys_in("old(1, 2)\n") == keys_in("old(1,\n    2)\n")


def test_an_error_in_another_file_names_that_file() -> None:
    result = ask("class C:\n    field: int = 0\n", RenameField(), others={"b.py": b"c.field(\n"})
    assert result.error.startswith("b.py: line 1: ")
