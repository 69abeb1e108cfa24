"""Known findings: they survive whatever happens around them, and nothing new hides behind them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ui.ci.jobs import Repository, Result, ci, places
from tests.ui.running import FILES, texts

NOTED = ("--baseline", "known.json")


@pytest.fixture
def known(repository: Repository) -> Repository:
    """The sample project with all of its findings known."""
    assert ci(*NOTED, "--update-baseline").code == 0
    return repository


def entries(repository: Repository) -> list[dict[str, object]]:
    held: list[dict[str, object]] = json.loads((repository.root / "known.json").read_text())["findings"]
    return held


def test_what_is_known_passes_and_is_counted(known: Repository) -> None:
    result = ci(*NOTED)
    assert (result.code, result.out) == (0, "")
    assert "7 more are in the baseline." in result.err


def test_a_new_finding_fails_the_job(known: Repository) -> None:
    known.write("pkg/a.py", FILES["pkg/a.py"] + "\n\ndef three():\n    slow()\n")
    result = ci(*NOTED)
    assert result.code == 1
    assert places(result) == ["pkg/a.py:15:5"]


def test_lines_may_drift_and_layout_may_change(known: Repository) -> None:
    text = FILES["pkg/a.py"].replace("slow(item)", "slow(\n                item\n            )")
    known.write("pkg/a.py", "# one\n\n# two\n" + text.replace("    return 1", "\n    x = 2\n    return x"))
    known.write("pkg/c.py", "import os\n\n\ndef shared():\n    print(os)\n    return slow() or 1\n")
    assert ci(*NOTED).code == 0


def test_the_same_code_once_more_is_new(known: Repository) -> None:
    known.write("pkg/b.py", FILES["pkg/b.py"] + "    slow()\n")
    assert places(ci(*NOTED)) == ["pkg/b.py:7:5"]


def test_of_equal_findings_the_one_on_a_changed_line_is_new(known: Repository) -> None:
    base = known.commit()
    known.write("pkg/b.py", FILES["pkg/b.py"].replace("    shared()\n", "    slow()\n    shared()\n"))
    result = ci("--baseline", "known.json", "--since", base)
    assert (result.code, places(result)) == (1, ["pkg/b.py:5:5"])


def test_the_same_code_in_another_function_is_new(known: Repository) -> None:
    known.write("pkg/b.py", FILES["pkg/b.py"].replace("def two", "def other"))
    assert places(ci(*NOTED)) == ["pkg/b.py:6:5"]


def test_other_code_in_the_same_function_is_new(known: Repository) -> None:
    known.write("pkg/b.py", FILES["pkg/b.py"].replace("slow()", "slow(1)"))
    assert places(ci(*NOTED)) == ["pkg/b.py:6:5"]


def test_a_moved_file_takes_its_findings_along(known: Repository) -> None:
    known.git("mv", "pkg/b.py", "pkg/moved.py")
    assert ci(*NOTED).code == 0


def test_a_copied_file_does_not(known: Repository) -> None:
    known.write("pkg/copied.py", FILES["pkg/b.py"])
    assert [place.partition(":")[0] for place in places(ci(*NOTED))] == ["pkg/copied.py"]


def test_what_is_no_longer_there_is_said_and_does_not_fail(known: Repository) -> None:
    known.write("pkg/b.py", "x = 1\n")
    result = ci(*NOTED)
    assert result.code == 0
    assert "1 finding of known.json is no longer there; --update-baseline takes it out" in result.err


def test_an_update_takes_out_what_is_gone_and_puts_in_what_is_new(known: Repository) -> None:
    known.write("pkg/b.py", "slow(2)\n")
    assert ci(*NOTED, "--update-baseline").code == 0
    assert [entry["symbol"] for entry in entries(known) if entry["path"] == "pkg/b.py"] == ["<module>"]
    assert len(entries(known)) == 7


def test_an_update_keeps_what_was_not_looked_at(known: Repository) -> None:
    before = entries(known)
    ci(*NOTED, "--update-baseline", "pkg/c.py")
    assert entries(known) == before
    ci(*NOTED, "--update-baseline", "--select", "rename_shared")
    assert entries(known) == before


def test_an_update_keeps_what_could_not_be_read(known: Repository) -> None:
    before = entries(known)
    known.write("pkg/b.py", "def two(:\n    slow()\n")
    assert ci(*NOTED, "--update-baseline").code == 2
    assert entries(known) == before


def test_an_update_forgets_files_that_are_gone(known: Repository) -> None:
    (known.root / "pkg/b.py").unlink()
    ci(*NOTED, "--update-baseline")
    assert {entry["path"] for entry in entries(known)} == {"pkg/a.py", "pkg/c.py"}


def test_a_second_update_changes_nothing(known: Repository) -> None:
    before = (known.root / "known.json").read_bytes()
    ci(*NOTED, "--update-baseline")
    assert (known.root / "known.json").read_bytes() == before


def test_the_file_has_a_line_for_each_finding_and_no_line_numbers(known: Repository) -> None:
    text = (known.root / "known.json").read_text()
    assert text.count('"codemod"') == text.count("\n") - 5 == 7
    assert all(set(entry) == {"path", "codemod", "symbol", "content", "count"} for entry in entries(known))


def test_equal_findings_are_one_entry_with_a_count(repository: Repository) -> None:
    repository.write("pkg/a.py", "slow()\nslow()\nslow()\n")
    ci(*NOTED, "--update-baseline")
    assert [entry["count"] for entry in entries(repository) if entry["path"] == "pkg/a.py"] == [3]
    repository.write("pkg/a.py", "slow()\n" * 4)
    assert places(ci(*NOTED)) == ["pkg/a.py:4:1"]


def test_entries_that_a_merge_left_twice_are_added_up(known: Repository) -> None:
    text = (known.root / "known.json").read_text()
    line = next(line for line in text.splitlines() if "pkg/b.py" in line)
    known.write("known.json", text.replace(line, f"{line}\n{line}"))
    known.write("pkg/b.py", FILES["pkg/b.py"] + "    slow()\n")
    assert ci(*NOTED).code == 0


def test_paths_count_from_the_baseline_wherever_one_stands(
    known: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ci("--baseline", ".ci/known.json", "--update-baseline")
    monkeypatch.chdir(known.root / "pkg")
    assert ci("--baseline", "../.ci/known.json", "..").code == 0
    monkeypatch.chdir(tmp_path)
    assert ci("--baseline", str(known.root / ".ci/known.json"), str(known.root)).code == 0


def test_only_what_is_new_is_fixed(known: Repository) -> None:
    known.write("pkg/a.py", FILES["pkg/a.py"] + "\n\ndef three():\n    slow()\n")
    assert ci(*NOTED, "--fix", "--allow-dirty").code == 0
    assert texts(known.root)["pkg/a.py"] == FILES["pkg/a.py"] + "\n\ndef three():\n    fast()\n"


def test_findings_in_notebooks_and_odd_places_are_known_too(repository: Repository) -> None:
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": "slow()\n",
    }
    made = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    repository.write("a b/größe.ipynb", json.dumps(made))
    ci(*NOTED, "--update-baseline")
    made["cells"] = [{**cell, "source": "x = 1\n"}, cell]
    repository.write("a b/größe.ipynb", json.dumps(made, indent=2))
    assert ci(*NOTED).code == 0


def damaged(text: str) -> Result:
    Path("known.json").write_text(text)
    return ci(*NOTED)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{", "null", '{"version": 2, "findings": []}', '{"version": 1}', '{"version": 1, "findings": 3}'),
        '{"version": 1, "findings": [{"path": "x"}]}',
        '{"version": 1, "findings": [{"path": 1, "codemod": "", "symbol": "", "content": "", "count": 1}]}',
        '{"version": 1, "findings": [{"path": "", "codemod": "", "symbol": "", "content": "", "count": 0}]}',
        "[" * 100_000,
    ],
)
def test_a_damaged_baseline_is_one_line_and_exit_code_2(repository: Repository, text: str) -> None:
    result = damaged(text)
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "known.json: not a baseline" in result.err
    assert ci(*NOTED, "--update-baseline").code == 2
    assert (repository.root / "known.json").read_text() == text


def test_a_baseline_that_an_editor_has_saved_anew_is_read(known: Repository) -> None:
    file = known.root / "known.json"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert ci(*NOTED).code == 0


def test_a_baseline_behind_a_link_is_written_there(known: Repository) -> None:
    (known.root / "linked.json").symlink_to("known.json")
    known.write("pkg/c.py", "")
    assert ci("--baseline", "linked.json", "--update-baseline").code == 0
    assert (known.root / "linked.json").is_symlink()
    assert "pkg/c.py" not in (known.root / "known.json").read_text()


def test_a_baseline_that_cannot_be_written_is_one_line(repository: Repository) -> None:
    repository.write("file", "")
    result = ci("--baseline", "file/known.json", "--update-baseline")
    assert result.code == 2
    assert "file: File exists; the baseline is as it was" in result.err
