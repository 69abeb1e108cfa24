"""Exit codes, limits, what is fixed and what is never touched."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.ui.ci.jobs import Repository, ci, places, run
from tests.ui.running import texts

CLEAN = {"pkg/a.py": "x = 1\n", "pkg/b.py": "", "pkg/c.py": ""}


def test_a_project_without_findings_passes(repository: Repository) -> None:
    for path, text in CLEAN.items():
        repository.write(path, text)
    result = ci()
    assert (result.code, result.out) == (0, "")
    assert "No findings in 3 files." in result.err


def test_findings_fail_the_job_and_nothing_is_written(repository: Repository) -> None:
    before = texts(repository.root)
    result = ci()
    assert result.code == 1
    assert len(places(result)) == 7
    assert "7 findings count against the job." in result.err
    assert texts(repository.root) == before


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--fail-on", "any"], 1),
        (["--fail-on", "safe"], 1),
        (["--fail-on", "none"], 0),
        (["--max-findings", "6"], 1),
        (["--max-findings", "7"], 0),
        (["--fail-on", "safe", "--max-findings", "4"], 1),
        (["--fail-on", "safe", "--max-findings", "5"], 0),
    ],
)
def test_which_findings_fail_the_job_can_be_said(repository: Repository, arguments: list[str], code: int) -> None:
    result = ci(*arguments)
    assert result.code == code
    assert len(places(result)) == 7


def test_safe_ones_do_not_count_once_they_are_fixed(repository: Repository) -> None:
    result = ci("--fix", "--fail-on", "safe")
    assert result.code == 0
    assert "7 findings in 3 files; 5 fixed." in result.err
    assert ci("--fail-on", "safe", "--allow-dirty", "--fix").code == 0


def test_what_is_left_after_a_fix_counts(repository: Repository) -> None:
    result = ci("--fix")
    assert result.code == 1
    assert "2 findings count against the job." in result.err


def test_unsafe_ones_are_fixed_on_request(repository: Repository) -> None:
    ci("--fix", "--unsafe")
    assert "slow(item)" not in texts(repository.root)["pkg/a.py"]


def test_a_fix_is_journaled_and_can_be_taken_back(repository: Repository) -> None:
    before = texts(repository.root)
    result = ci("--fix")
    assert "`fullgraph undo 1` takes them back." in result.err
    assert texts(repository.root) != before
    run("undo")
    assert texts(repository.root) == before


def test_a_dirty_tree_is_never_touched(repository: Repository) -> None:
    repository.write("pkg/c.py", "x = 1\n")
    before = texts(repository.root)
    result = ci("--fix")
    assert result.code == 2
    assert "there are uncommitted changes (pkg/c.py), so nothing was written" in result.err
    assert texts(repository.root) == before


@pytest.mark.parametrize("staged", [False, True])
def test_a_dirty_tree_is_touched_on_request(repository: Repository, staged: bool) -> None:
    repository.write("pkg/c.py", "x = 1\n")
    if staged:
        repository.git("add", "--all")
    assert ci("--fix").code == 2
    ci("--fix", "--allow-dirty")
    assert "fast()" in texts(repository.root)["pkg/a.py"]
    assert texts(repository.root)["pkg/c.py"] == "x = 1\n"


def test_files_that_git_does_not_know_make_no_tree_dirty(repository: Repository) -> None:
    repository.write("notes.txt", "mine")
    ci("--fix")
    assert "fast()" in texts(repository.root)["pkg/a.py"]


def test_a_tree_that_git_cannot_judge_is_not_touched(repository: Repository) -> None:
    repository.write(".git/HEAD", "nonsense")
    before = texts(repository.root)
    result = ci("--fix")
    assert result.code == 2
    assert "whether there are uncommitted changes is not known" in result.err
    assert texts(repository.root) == before


def test_a_folder_without_git_can_be_fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "a.py").write_text("slow()\n")
    monkeypatch.chdir(tmp_path)
    assert ci("--fix").code == 0
    assert (tmp_path / "a.py").read_text() == "fast()\n"


def test_a_file_that_cannot_be_read_is_worse_than_findings(repository: Repository) -> None:
    repository.write("pkg/bad.py", "slow(\n")
    result = ci()
    assert result.code == 2
    assert "pkg/bad.py: error: " in result.err
    assert len(places(result)) == 7


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--branch", "x"], "--branch is for --commit"),
        (["--allow-dirty"], "--allow-dirty is for --fix and --commit"),
        (["--unsafe"], "--unsafe is for --fix"),
        (["--update-baseline"], "--update-baseline is for --baseline"),
        (["--update-baseline", "--baseline", "b", "--fix"], "fix first"),
        (["--update-baseline", "--baseline", "b", "--since", "HEAD"], "needs all findings"),
        (["--repeat", "3"], "--repeat is for --prove"),
        (["--output", "pdf"], "the forms are text, json"),
        (["--output", "json="], "the name of the file is missing"),
        (["--output", "json", "--output", "sarif"], "cannot both go to standard output"),
        (["--output", "json=x", "--output", "sarif=./x"], "named twice"),
        (["--output", "json=pkg"], "cannot be written: Is a directory"),
        (["--output", "json=pkg/a.py/x"], "cannot be written"),
        (["--output", "json=pkg/a.py"], "is there, and is no report"),
        (["--since", "nowhere"], "--since nowhere: git knows no such commit"),
        (["--baseline", "none.json"], "there is no such baseline"),
        (["nowhere"], "nowhere: error: no such file or folder"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(repository: Repository, arguments: list[str], said: str) -> None:
    result = ci(*arguments)
    assert result.code == 2
    assert said in (result.out if "json" in arguments else result.err)
    assert "Traceback" not in result.err


def test_outputs_are_refused_before_anything_is_fixed(repository: Repository) -> None:
    before = texts(repository.root)
    ci("--fix", "--output", "json=pkg")
    assert texts(repository.root) == before


def test_a_report_never_takes_the_place_of_the_baseline(repository: Repository) -> None:
    ci("--baseline", "known.json", "--update-baseline")
    before = (repository.root / "known.json").read_bytes()
    result = ci("--baseline", "known.json", "--output", "json=pkg/../known.json")
    assert (result.code, "this is the baseline" in result.err) == (2, True)
    assert (repository.root / "known.json").read_bytes() == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_an_output_that_fails_keeps_no_other_back(repository: Repository, tmp_path: Path) -> None:
    result = ci("--output", "json=/dev/full", "--output", f"junit={tmp_path / 'out.xml'}")
    assert result.code == 2
    assert "fullgraph: --output /dev/full: cannot be written: No space left on device" in result.err
    assert (tmp_path / "out.xml").read_text().startswith("<?xml")
    assert len(places(result)) == 7


def test_an_output_may_be_a_pipe_that_somebody_reads(repository: Repository, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    assert ci("--output", f"json={tmp_path / 'pipe'}").code == 1
    assert len(json.loads(reader.communicate()[0])["findings"]) == 7


def test_neither_names_nor_code_can_give_commands_to_who_reads_the_log(repository: Repository) -> None:
    repository.write("pkg/x\n::error::.py", 'slow("""\n::stop-commands::x\n""")\n')
    repository.write("pkg/y\n::error::.py", "slow(\n")
    result = ci()
    assert 'pkg/x\\x0a::error::.py:1:1: call_fast: slow("""\\x0a::stop-commands::x' in result.out
    assert not any(line.startswith("::") for line in (result.out + result.err).splitlines())


def test_several_outputs_and_the_log_come_at_once(repository: Repository, tmp_path: Path) -> None:
    out = tmp_path / "reports" / "deep"
    result = ci("--output", f"json={out}/a.json", "--output", f"junit={out}/b.xml", "--output", f"text={out}/c.txt")
    assert len(places(result)) == 7
    assert json.loads((out / "a.json").read_text())["exit_code"] == 1
    assert (out / "b.xml").read_text().startswith("<?xml")
    assert (out / "c.txt").read_text().startswith(result.out)


def test_nothing_is_asked_on_a_terminal(repository: Repository) -> None:
    from tests.ui.running import SAMPLE, Terminal

    terminal = Terminal(repository.root, "ci", "--codemod", str(SAMPLE), "--fix")
    assert terminal.end() == 1
    assert "fixed: " in terminal.screen


def test_help_says_what_the_exit_codes_mean() -> None:
    said = " ".join(run("ci", "--help").out.split())
    for code in (
        "0 the job passes",
        "1 more findings",
        "2 wrong usage",
        "3 a proof said",
        "4 undecided",
        "130 stopped",
    ):
        assert code in said


def test_two_projects_are_told_in_one_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").touch()
        (tmp_path / name / "a.py").write_text("slow()\n")
    assert [found["file"] for found in ci("one", "two", "--output", "json").json["findings"]] == [
        "one/a.py",
        "two/a.py",
    ]
    result = ci("one", "two", "--fix")
    assert (result.code, result.out.count("fixed: ")) == (0, 2)
