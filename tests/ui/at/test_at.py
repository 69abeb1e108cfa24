"""`fullgraph at`: what stands at a place, in the file or in the editor's buffer, and one of it applied."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import FIXTURES
from tests.ui.at.asking import FIXED, TEXT, ask, at, lines, write_files
from tests.ui.running import COMMAND, environment, run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_files(tmp_path, {"pkg/a.py": TEXT})


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("pkg/a.py", [4, 6]),
        ("pkg/a.py:4", [4]),
        ("pkg/a.py:6", [6]),
        ("pkg/a.py:6:20", [6]),
        ("pkg/a.py:6:46", [6]),
        ("pkg/a.py:6:19", []),
        ("pkg/a.py:6:47", []),
        ("pkg/a.py:5", []),
        ("pkg/a.py:7", []),
        ("pkg/a.py:10", []),
    ],
)
def test_findings_are_those_at_the_place_and_columns_count_characters(
    root: Path, place: str, expected: list[int]
) -> None:
    assert lines(ask(root, place, code=1 if expected else 0)) == expected


def test_every_edit_says_where_it_is_in_lines_and_characters(root: Path) -> None:
    (finding,) = ask(root, "pkg/a.py:6")["findings"]
    (edit,) = finding["edits"]
    assert (finding["start"], finding["end"]) == ({"line": 6, "column": 20}, {"line": 6, "column": 46})
    start, end = edit["start"]["column"] - 1, edit["end"]["column"] - 1
    line = TEXT.splitlines()[5]
    assert line[:start] + edit["new_text"] + line[end:] == FIXED.splitlines()[5]
    assert edit["file"] == str(root / "pkg/a.py")


def test_the_buffer_wins_over_the_disk(root: Path) -> None:
    (root / "pkg/a.py").write_text("broken (\n")
    assert lines(ask(root, "pkg/a.py:5", buffer=TEXT.encode().replace(b"\n\n\n", b"\n\n", 1), code=1)) == [5]


def test_a_buffer_needs_no_file_yet(root: Path) -> None:
    assert lines(ask(root, "new/b.py:4", buffer=TEXT.encode())) == [4]
    assert not (root / "new").exists()


def test_applying_to_a_buffer_prints_its_new_text_and_writes_nothing(root: Path) -> None:
    unsaved = b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()
    done = at(root, "pkg/a.py:6", "--apply", "1", buffer=unsaved)
    assert (done.returncode, done.stdout) == (0, b"\xef\xbb\xbf" + FIXED.replace("\n", "\r\n").encode())
    assert (root / "pkg/a.py").read_text() == TEXT
    assert not (root / ".fullgraph").exists()


def test_a_buffer_in_another_encoding_comes_back_in_it(root: Path) -> None:
    text = "# coding: latin-1\n" + TEXT.replace("🔥", "é")
    done = at(root, "pkg/a.py:7", "--apply", "1", buffer=text.encode("latin-1"))
    assert done.stdout == text.replace("_dynamo.is_compiling", "compiler.is_compiling").encode("latin-1")


def test_applying_to_a_file_writes_it_and_undo_takes_it_back(root: Path) -> None:
    answer = ask(root, "pkg/a.py:6", "--apply", "1", code=0)
    assert (root / "pkg/a.py").read_text() == FIXED == answer["files"][0]["text"]
    assert (answer["run"], answer["applied"]) == (1, [answer["findings"][0]["key"]])
    assert run(root, "undo", str(answer["run"])).code == 0
    assert (root / "pkg/a.py").read_text() == TEXT


def test_a_key_names_the_finding_wherever_it_has_moved(root: Path) -> None:
    (finding,) = ask(root, "pkg/a.py:6")["findings"]
    moved = b"# one line more\n" + TEXT.encode()
    done = at(root, "pkg/a.py", "--apply", finding["key"], buffer=moved)
    assert done.stdout == b"# one line more\n" + FIXED.encode()


@pytest.mark.parametrize(
    ("wanted", "said"),
    [("2", "there is one finding"), ("0", "one finding"), ("x", "one finding"), ("-1", "one finding")],
)
def test_a_number_that_is_not_there_is_an_error(root: Path, wanted: str, said: str) -> None:
    answer = ask(root, "pkg/a.py:6", f"--apply={wanted}", code=2)
    assert said in answer["error"]
    assert (root / "pkg/a.py").read_text() == TEXT


def test_what_is_left_alone_is_shown_and_not_applied(root: Path) -> None:
    before = FIXTURES / "flatten_tuple_keys" / "left_shown_in_a_notebook" / "before.ipynb"
    (root / "a.ipynb").write_bytes(before.read_bytes())
    (root / "pyproject.toml").write_text("[tool.fullgraph]\nselect = ['flatten_tuple_keys']\n")
    answer = ask(root, "a.ipynb", code=1)
    assert answer["findings"][0]["left_alone"]
    assert "leaves this alone" in ask(root, "a.ipynb", "--apply", "1", code=2)["error"]


# Several files, notebooks


@pytest.fixture
def two_files(tmp_path: Path) -> Path:
    for file in (FIXTURES / "demo").rglob("*.py"):
        write_files(tmp_path, {str(file.relative_to(FIXTURES / "demo")): file.read_bytes()})
    return tmp_path


def test_a_finding_over_several_files_is_told_as_a_whole(two_files: Path) -> None:
    policy = two_files / "src/seedling/policy.py"
    place, buffer = "src/seedling/policy.py:159", policy.read_bytes()
    refused = at(two_files, place, "--apply", "1", buffer=buffer)
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert b"changes src/seedling/compiled_steps.py" in refused.stderr
    answer = ask(two_files, place, "--apply", "1", buffer=buffer, code=0)
    assert {file["path"]: file["created"] for file in answer["files"]}["src/seedling/compiled_steps.py"] is True
    assert policy.read_bytes() == buffer
    ask(two_files, place, "--apply", "1", code=0)
    assert all(Path(file["file"]).read_text() == file["text"] for file in answer["files"])


def test_a_notebook_is_asked_about_by_cell_and_line(root: Path) -> None:
    case = FIXTURES / "isolate_telemetry" / "notebook"
    before, after = ((case / f"{side}.ipynb").read_bytes() for side in ("before", "after"))
    (root / "a.ipynb").write_bytes(before)
    found = next(f for f in ask(root, "a.ipynb")["findings"] if f["codemod"] == "isolate_telemetry")
    place = f"a.ipynb:{found['start']['cell']}:{found['start']['line']}"
    at_place = ask(root, place, code=1)["findings"]
    assert found["key"] in [finding["key"] for finding in at_place]
    assert at(root, place, "--apply", found["key"], buffer=before).stdout == after
    shown = at(root, place).stdout.decode()
    assert f"a.ipynb:cell {found['start']['cell']}:{found['start']['line']}: isolate_telemetry" in shown


# What the project says


def test_the_configuration_counts(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.fullgraph]\nignore = ['use_public_compiler_api']\n")
    assert lines(ask(root, "pkg/a.py", code=0)) == []
    (root / "pyproject.toml").write_text("[tool.fullgraph]\nselect = ['nothing_of_this_name']\n")
    assert "no codemod 'nothing_of_this_name'" in ask(root, "pkg/a.py", code=2)["error"]


def test_a_comment_silences_a_finding(root: Path) -> None:
    silenced = TEXT.replace("disable\n", "disable  # fullgraph: ignore[use_public_compiler_api]\n")
    assert lines(ask(root, "pkg/a.py", buffer=silenced.encode())) == [6]


def test_the_answer_is_what_check_says_of_the_line(two_files: Path) -> None:
    done = run(two_files, "list")
    assert done.code == 0
    checked = subprocess.run(
        [COMMAND, "check", "--format", "json", "--no-cache", "src"],
        cwd=two_files,
        env=environment(),
        capture_output=True,
    )
    for wanted in json.loads(checked.stdout)["findings"][::5]:
        found = ask(two_files, f"{wanted['path']}:{wanted['line']}:{wanted['column']}")["findings"]
        same = [finding for finding in found if finding["key"] == wanted["key"]]
        assert len(same) == 1, wanted
        for name in set(wanted) & set(same[0]) - {"edits"}:
            assert same[0][name] == wanted[name], name
        told = [{name: edit[name] for name in ("path", "span", "new_text", "creates")} for edit in same[0]["edits"]]
        assert told == wanted["edits"]


# Errors


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("pkg/none.py:3", "pkg/none.py: no such file or folder; write FILE:LINE or FILE:LINE:COL"),
        ("pkg", "pkg: a folder"),
        ("pkg/a.py:99", "pkg/a.py ends at line 11; there is no line 99"),
        ("pkg/a.py:6:99", "line 6 ends at column 48; there is no column 99"),
        ("pkg/a.py:0", "lines and columns count from 1"),
        ("pkg/a.py:1:1:1", "too many numbers"),
        ("pyproject.toml:1", "not a Python file (.py) or notebook (.ipynb)"),
    ],
)
def test_what_cannot_be_asked_is_one_line(root: Path, place: str, said: str) -> None:
    assert said in ask(root, place, code=2)["error"]
    done = at(root, place)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert said in done.stderr.decode()


@pytest.mark.parametrize(
    ("raw", "said"), [(b"def f(:\n", "syntax"), (b"x = '\xff'\n", "not utf-8 text"), (b"\0", "NUL byte")]
)
def test_a_file_that_cannot_be_read_says_why(root: Path, raw: bytes, said: str) -> None:
    answer = ask(root, "pkg/a.py:1", buffer=raw, code=2)
    assert said in answer["error"]
    assert answer["findings"] == []
    assert said in ask(root, "pkg/a.py:1", "--apply", "1", buffer=raw, code=2)["error"]
    assert said in at(root, "pkg/a.py:1", buffer=raw).stderr.decode()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_is_not_writable_is_left(root: Path) -> None:
    (root / "pkg/a.py").chmod(0o444)
    assert "nothing was written" in ask(root, "pkg/a.py:6", "--apply", "1", code=2)["error"]


def test_people_get_the_text_of_check_with_the_number_that_applies_it(root: Path) -> None:
    shown = at(root, "pkg/a.py:6").stdout.decode()
    assert shown.startswith("pkg/a.py:6:20: use_public_compiler_api: ")
    assert "    --apply 1 rewrites 1 file\n" in shown
    assert at(root, "pkg/a.py:1").stdout == b"No findings here.\n"
    written = at(root, "pkg/a.py:6", "--apply", "1").stdout.decode()
    assert written == "Run 1: use_public_compiler_api written in pkg/a.py; `fullgraph undo 1` takes it back.\n"


# What it costs


LOADED = """
import json, sys
from fullgraph.codemods.ui.at.saying import say
from fullgraph.codemods.project import Project
read, opened = Project.read, []
Project.read = lambda self, path: opened.append(path) or read(self, path)
code = say(sys.argv[1], None, "", as_json=True)
heavy = {"torch", "libcst", "fullgraph.validate", "concurrent", "multiprocessing", "pygls"}
print(json.dumps({"heavy": sorted(heavy & set(sys.modules)), "opened": sorted(set(opened))}), file=sys.stderr)
"""


@pytest.mark.parametrize(("line", "found", "others"), [(6, [6], 3), (10, [], 0), (2, [], 0)])
def test_other_files_are_read_only_if_a_codemod_asks_and_nothing_slow_is_imported(
    root: Path, line: int, found: list[int], others: int
) -> None:
    write_files(root, {f"pkg/other_{number}.py": TEXT for number in range(3)})
    done = subprocess.run(
        [sys.executable, "-c", LOADED, f"pkg/a.py:{line}"], cwd=root, env=environment(), capture_output=True, check=True
    )
    assert lines(json.loads(done.stdout)) == found
    loaded = json.loads(done.stderr)
    assert loaded["heavy"] == []
    assert len(loaded["opened"]) == 1 + others


@pytest.mark.parametrize("file", ["vectorized", "rollout_buffer", "policy"])
def test_nothing_slow_is_imported_for_the_edits_either(two_files: Path, file: str) -> None:
    place = f"src/seedling/{file}.py"
    done = subprocess.run(
        [sys.executable, "-c", LOADED, place], cwd=two_files, env=environment(), capture_output=True, check=True
    )
    assert any(finding["edits"] for finding in json.loads(done.stdout)["findings"])
    assert json.loads(done.stderr)["heavy"] == []
