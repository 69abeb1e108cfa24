"""Loading a third party's file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fullgraph import FullgraphError
from fullgraph.codemods.foreign.load import load_codemods
from tests.foreign.running import FOREIGN, load, look, rewritten

OURS = """
    from fullgraph import Codemod
    class {name}(Codemod):
        "What it does."
        def find(self, module, project):
            {body}
"""


def complaint(folder: Path, text: str) -> str:
    """What is said about a file that cannot be used: one line that begins with its path."""
    with pytest.raises(FullgraphError) as caught:
        load(folder, text)
    said = str(caught.value)
    assert said.startswith(f"{folder / 'theirs.py'}: ")
    assert "\n" not in said
    return said.removeprefix(f"{folder / 'theirs.py'}: ")


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("ours.py", ["rename_old_to_new"]),
        ("libcst_rename.py", ["use_fsum", "rename_name"]),
        ("bowler_rename.py", ["old_to_new", "train_to_fit"]),
    ],
)
def test_every_kind_of_codemod_is_found_and_knows_its_file(file: str, names: list[str]) -> None:
    kinds = load_codemods(FOREIGN / file)
    assert [kind.name for kind in kinds] == names
    assert all(kind.origin == FOREIGN / file for kind in kinds)  # type: ignore[attr-defined]
    assert not any(kind.needles for kind in kinds if file != "ours.py")


def test_a_codemod_of_ours_is_run() -> None:
    (kind,) = load_codemods(FOREIGN / "ours.py")
    assert rewritten(kind(), b"old(1)\r\nold\r\n") == b"new(1)\r\nold\r\n"


def test_a_codemod_of_ours_that_fails_is_an_error_of_that_file(tmp_path: Path) -> None:
    (kind,) = load(tmp_path, OURS.format(name="Broken", body="return {}['gone']"))
    assert look(kind(), b"x = 1\n").error == "broken failed: KeyError: 'gone' (theirs.py, line 6)"


def test_one_codemod_that_fails_does_not_hide_what_another_found(tmp_path: Path) -> None:
    from fullgraph import Project
    from fullgraph.codemods.rewrite.find import find

    (broken,) = load(tmp_path, OURS.format(name="Broken", body="raise SystemExit(3)"))
    (works,) = load_codemods(FOREIGN / "ours.py")
    files = {"a.py": b"old()\n"}
    result = find(Project(tmp_path, files, files), "a.py", [broken(), works()])
    assert result.error.startswith("broken failed: SystemExit: 3")
    assert len(result.findings) == 1


def test_a_file_may_import_its_neighbours_and_another_file_its_own(tmp_path: Path) -> None:
    for value in ("one", "two"):
        folder = tmp_path / value
        folder.mkdir()
        (folder / "neighbour_of_theirs.py").write_text(f"NAME = {value!r}\n")
        (kind,) = load(folder, "from neighbour_of_theirs import NAME\n" + dedented("Noop") + "    name = NAME\n")
        assert kind.name == value
        assert not (folder / "__pycache__").exists()
    assert str(tmp_path / "one") not in sys.path
    assert "neighbour_of_theirs" not in sys.modules


def dedented(name: str) -> str:
    return f"from fullgraph import Codemod\nclass {name}(Codemod):\n"


def test_a_file_that_was_edited_is_loaded_anew(tmp_path: Path) -> None:
    assert [load(tmp_path, dedented(name) + "    pass\n")[0].name for name in ("One", "Two")] == ["one", "two"]


def test_a_dataclass_in_the_file_works(tmp_path: Path) -> None:
    text = """
        from __future__ import annotations
        from dataclasses import dataclass
        from fullgraph import Codemod, Options, option

        @dataclass(frozen=True)
        class Settings(Options):
            depth: int = option(1, "How deep.")

        class WithOptions(Codemod):
            options: Settings
    """
    (kind,) = load(tmp_path, text)
    assert kind({"depth": "3"}).options.depth == 3  # type: ignore[attr-defined]


def test_what_a_file_prints_does_not_reach_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load(tmp_path, "print('hello')\n" + dedented("Noop") + "    pass\n")
    assert capsys.readouterr() == ("", "hello\n")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FullgraphError, match=r"gone\.py: no such file$"):
        load_codemods(tmp_path / "gone.py")


def test_a_folder_is_no_codemod(tmp_path: Path) -> None:
    with pytest.raises(FullgraphError, match="a folder"):
        load_codemods(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\ndef f(:\n", "line 2: invalid syntax"),
        ("import no_such_package.part\n", "needs 'no_such_package', which is not installed"),
        ("x = 1\n", "holds no codemod: no fullgraph Codemod, no LibCST command, no Bowler Query"),
        ("\n1 / 0\n", "failed while it was loaded: ZeroDivisionError: division by zero (theirs.py, line 2)"),
        ("import sys\nsys.exit('bye')\n", "failed while it was loaded: SystemExit: bye (theirs.py, line 2)"),
        ("x = '\0'\n", "source code string cannot contain null bytes"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_clear_line(tmp_path: Path, text: str, said: str) -> None:
    assert said in complaint(tmp_path, text)


def test_two_codemods_of_one_name_are_refused(tmp_path: Path) -> None:
    text = dedented("One") + "    name = 'same'\n" + dedented("Two") + "    name = 'same'\n"
    assert complaint(tmp_path, text) == "holds two codemods called 'same'"


def test_without_bowler_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("bowler", "fissix")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "bowler", None)
    assert complaint(tmp_path, "from bowler import Query\n") == "needs Bowler: pip install 'fullgraph[bowler]'"
    assert load(tmp_path, dedented("Noop") + "    pass\n")
