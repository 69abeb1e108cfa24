"""What was observed, joined with findings and shown: on a terminal, as JSON, as a page."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from fullgraph.codemods.ui.observed.as_text import observed_text
from fullgraph.codemods.ui.observed.command import words_of
from fullgraph.codemods.ui.observed.join import names_in
from fullgraph.validate.observe import FORMAT, SCHEMA
from tests.ui.running import FILES, PROMPT, Terminal, run

THING = "pkg/a.py"


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "file": THING,
        "line": 7,
        "name": "Thing.run",
        "kind": "method",
        "function": "Thing.run",
        "compiled_at": [{"file": "pkg/main.py", "line": 4, "count": 1}],
        "backends": ["inductor"],
        "calls": 300,
        "phases": {"train, grad": 200, "eval, no grad": 100},
        "inputs": [{"inputs": "float32[32, 8]", "count": 299}, {"inputs": "float32[7, 8]", "count": 1}],
        "other_inputs": 0,
        "reentries": 0,
        "backwards": 200,
        "graphs": 2,
        "operators": 12,
        "breaks": [],
        "recompiles": [],
        "compile_seconds": 3.21,
        "more_frames": 0,
        **changes,
    }


def break_at(line: int, file: str = THING, **changes: Any) -> dict[str, Any]:
    told = {"function": "Thing.run", "id": "GB0059", "reason": "Unsupported call: slow", "hint": "be fast"}
    return {"file": file, "line": line, **told, "kind": "break", "frames": 1, "count": 2, **changes}


def recompile(line: int, guard: str = "items == 3 failed") -> dict[str, Any]:
    return {"file": THING, "line": line, "function": "Thing.run", "guard": guard, "count": 4}


def read_at(line: int, count: int, file: str = THING) -> dict[str, Any]:
    return {"file": file, "line": line, "function": "one", "call": "item", "count": count}


def report(**changes: Any) -> dict[str, Any]:
    """Of `pkg/a.py` the function `one` and `Thing.run` ran; `pkg/b.py` was imported and its function did not run."""
    ran = {"pkg/a.py": [1, 7], "pkg/b.py": []}
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "command": ["/usr/bin/python", "train.py", "--lr", "1 e"],
        "time": "2026-01-02T03:04:05+0000",
        "exit_code": 0,
        "ending": "ended with exit code 0",
        "seconds": 12.34,
        "torch": "2.13.0",
        "python": "3.11.2",
        "device": "cpu",
        "processes": [{"argv": ["train.py"], "rank": "", "is_forked": False, "is_whole": True, "calls": 300}],
        "entries": [],
        "reads": [],
        "files": {name: {"sha256": digest(FILES[name]), "ran": lines, "is_all": True} for name, lines in ran.items()},
        "notices": [],
        **changes,
    }


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def observed(project: Path, **changes: Any) -> str:
    file = project / "observed.json"
    file.write_text(json.dumps(report(**changes)))
    return str(file)


def findings(project: Path, *options: str, **changes: Any) -> list[dict[str, Any]]:
    done = run(project, "check", "--format", "json", "--observed", observed(project, **changes), *options)
    found: list[dict[str, Any]] = json.loads(done.out)["findings"]
    return found


def places(found: list[dict[str, Any]]) -> list[str]:
    return [f"{one['path']}:{one['line']}" for one in found]


# Findings


def test_what_cost_comes_first_and_what_did_not_run_last(project: Path) -> None:
    found = findings(project, reads=[read_at(9, 300), read_at(2, 1000)])
    assert places(found)[:2] == ["pkg/a.py:2", "pkg/a.py:9"]
    statuses = [one["observed"]["status"] for one in found]
    assert statuses == sorted(statuses, key=["ran", "not run"].index)
    assert {one["path"] for one in found if one["observed"]["status"] == "not run"} == {"pkg/b.py", "pkg/c.py"}


def test_a_recompile_costs_more_than_a_few_reads(project: Path) -> None:
    """It is about the line that has the name in the guard, and not about the others of the function."""
    found = findings(project, reads=[read_at(2, 50)], entries=[entry(recompiles=[recompile(7)])])
    assert places(found)[:2] == ["pkg/a.py:10", "pkg/a.py:2"]
    assert [one["observed"]["recompiles"] for one in found if one["symbol"] == "Thing.run"] == [4, 0, 0]


def test_a_finding_says_what_was_observed_of_it(project: Path) -> None:
    told = observed(project, reads=[read_at(2, 300)], entries=[entry(breaks=[break_at(9)])])
    out = " ".join(run(project, "check", "--all", "--observed", told).out.split())
    assert "= observed: 300 host reads here" in out
    assert "= observed: 1 break here (GB0059), 2 times; entry Thing.run: called 300 times, compiled 2 times" in out
    assert "= observed: not run" in out


def test_a_finding_where_something_is_compiled_is_about_that_entry(project: Path) -> None:
    place = {"file": "pkg/a.py", "line": 2, "count": 1}
    net = entry(file="pkg/nets.py", name="Net", compiled_at=[place], reentries=3, recompiles=[recompile(90)])
    first = findings(project, entries=[net])[0]
    assert (first["path"], first["line"]) == ("pkg/a.py", 2)
    told = "entry Net: called 300 times, compiled 2 times, entered again 3 times before its backward"
    assert first["observed"]["text"] == told


def test_numbers_are_in_the_json(project: Path) -> None:
    entries = [entry(breaks=[break_at(9)], recompiles=[recompile(7, "len(item) == 3 failed")])]
    seen = findings(project, entries=entries, reads=[read_at(9, 5)])[0]["observed"]
    assert (seen["host_reads"], seen["breaks"], seen["break_ids"], seen["recompiles"]) == (5, 1, ["GB0059"], 4)
    assert seen["entries"] == [{"name": "Thing.run", "calls": 300, "graphs": 2, "reentries": 0}]
    assert "compiled again 4 times, first because len(item) == 3 failed" in seen["text"]


def test_a_function_of_which_nothing_is_known_is_not_said_to_be_idle(project: Path) -> None:
    files = {"pkg/a.py": {"sha256": digest(FILES["pkg/a.py"]), "ran": [1], "is_all": False}}
    found = findings(project, files=files)
    statuses = {one["symbol"]: one["observed"]["status"] for one in found}
    assert statuses == {"one": "ran", "Thing.run": "unknown", "two": "not run", "shared": "not run"}
    assert {"imported; whether it ran is known from Python 3.12 on"} == {
        one["observed"]["text"] for one in found if one["symbol"] == "Thing.run"
    }


def test_without_a_report_nothing_is_said(project: Path) -> None:
    assert "observed" not in run(project, "check").out


def test_fix_says_it_too(project: Path) -> None:
    done = run(project, "fix", "--yes", "--observed", observed(project, reads=[read_at(2, 300)]))
    assert "observed: 300 host reads here" in done.out
    assert "fast()" in (project / "pkg/a.py").read_text()
    assert "changed since" not in done.out + done.err


def test_a_review_asks_first_about_what_cost_most(project: Path) -> None:
    told = observed(project, reads=[read_at(11, 300), read_at(2, 5)])
    terminal = Terminal(project, "fix", "--select", "call_fast", "--observed", told)
    terminal.answer("n", "n", "q")
    terminal.end()
    asked = [place[0] for part in terminal.screen.split(PROMPT)[:3] if (place := re.findall(r"\n(pkg/\S+):", part))]
    assert "observed: 300 host reads here" in terminal.screen.split(PROMPT)[0]
    assert asked == ["pkg/a.py:11", "pkg/a.py:2", "pkg/a.py:9"]


# What no finding is about


def test_what_no_codemod_knows_is_listed_with_its_line(project: Path) -> None:
    told = observed(project, reads=[read_at(3, 70), read_at(2, 5)], entries=[entry(breaks=[break_at(8)])])
    out = run(project, "check", "--all", "--observed", told, COLUMNS="200").out
    section = out.partition("observed, and no codemod knows it:\n")[2].splitlines()
    assert section == ["  pkg/a.py:3: 70 host reads (item)"]
    assert "  pkg/a.py:8 (GB0059): declined: no codemod repairs it here\n" in out


def test_of_a_selection_only_findings_are_spoken_of(project: Path) -> None:
    told = observed(project, reads=[read_at(3, 70)])
    out = run(project, "check", "--select", "call_fast", "--observed", told).out
    assert "observed, and no finding is about it:" in out


def test_a_recompile_is_listed_unless_a_finding_has_the_name_in_its_guard(project: Path) -> None:
    guards = ["items == 3 failed", "self.k == 3 failed", "tensor 'x' size mismatch at index 0. expected 2, actual 3"]
    entries = [entry(recompiles=[recompile(7, guard) for guard in guards])]
    done = run(project, "check", "--format", "json", "--observed", observed(project, entries=entries))
    listed = [one["text"] for one in json.loads(done.out)["observed"]]
    assert listed == [f"Thing.run was compiled again 4 times: {guard}" for guard in guards[1:]]


# Reports that do not fit


def test_a_file_that_has_changed_since_is_named(project: Path) -> None:
    told = observed(project, reads=[read_at(2, 300)])
    (project / "pkg/a.py").write_text("import os\n" + FILES["pkg/a.py"])
    done = run(project, "check", "--observed", told)
    assert "pkg/a.py has changed since it was observed" in done.err
    assert "pkg/b.py has changed" not in done.err
    assert "(the file has changed since)" in done.out


def test_a_report_of_other_files_is_said_to_be_one(project: Path) -> None:
    done = run(project, "check", "--observed", observed(project, files={"other.py": {"sha256": "", "ran": []}}))
    assert "the report is of another project" in done.err
    assert "not run" not in done.out


@pytest.mark.parametrize(
    ("guard", "names"),
    [
        ("self.net.k == 3 failed", {"k"}),
        ("len(items) == 3 failed", {"items"}),
        ("type(self.k) is builtins.int failed", {"k"}),
        ("G['cfg'] is another object", {"G", "cfg"}),
        ("tensor 'kwargs['ids']' size mismatch at index 1. expected 8, actual 9", {"kwargs", "ids"}),
        ("GLOBAL_STATE changed: grad_mode", set()),
        ("Unexpected recompilation: runtime guards failed even though they passed", set()),
    ],
)
def test_a_guard_names_what_it_is_about(guard: str, names: set[str]) -> None:
    assert names_in(guard) == names


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "fullgraph observed", "schema": 99}'])
def test_what_is_no_report_stops_the_command_before_it_writes(project: Path, text: str) -> None:
    (project / "bad.json").write_text(text)
    done = run(project, "fix", "--yes", "--observed", "bad.json")
    assert done.code == 2
    assert "bad.json: " in done.err
    assert (project / "pkg/a.py").read_text() == FILES["pkg/a.py"]


# For people

FULL = report(
    entries=[
        entry(breaks=[break_at(9), break_at(11, kind="skipped", id="")], recompiles=[recompile(7)], reentries=3),
        entry(name="score", calls=0, phases={}, inputs=[], compile_seconds=0.0),
    ],
    reads=[read_at(line, 100 - line) for line in range(1, 20)],
    notices=["1 of 2 processes ended abruptly; what they did in the last seconds is missing"],
)


def test_the_table_has_every_entry_in_a_row() -> None:
    lines = observed_text(FULL, False, 100).splitlines()
    assert "Observed: python train.py --lr '1 e', 12.3 s, ended with exit code 0." in lines
    rows = [line.split() for line in lines if line.startswith(("Thing.run  ", "score  "))]
    assert rows == [
        ["Thing.run", "300", "2", "2", "2", "4", "3.2", "s", "3"],
        ["score", "0", "0", "2", "0", "0", "0.0", "s", "0"],
    ]


def test_the_text_says_what_matters_of_an_entry() -> None:
    text = observed_text(FULL, False, 100)
    assert "Thing.run (pkg/a.py:7), compiled at pkg/main.py:4 by inductor" in text
    assert "calls: 300 (train, grad 200; eval, no grad 100)" in text
    assert "entered again 3 times before the backward of the call before had run" in text
    assert "pkg/a.py:9 in Thing.run (GB0059), 2 times: Unsupported call: slow" in text
    assert "Thing.run (pkg/a.py:7), 4 times: items == 3 failed" in text
    assert "... and 7 more; --html PAGE.html shows all" in text


def test_a_table_that_is_too_wide_becomes_sentences() -> None:
    text = " ".join(observed_text(FULL, False, 60).split())
    assert "Thing.run: calls 300, inputs 2, graphs 2, breaks 2, recompiles 4, compiling 3.2 s, re-entries 3" in text


def test_of_a_name_that_is_too_long_a_row_has_the_end() -> None:
    long = entry(name="Controller.make_the_policy.<lambda>", compiled_at=[])
    rows = observed_text(report(entries=[long, entry(name="f")]), False, 80).splitlines()
    assert any(row.startswith("...ake_the_policy.<lambda>    300") for row in rows), rows


def test_what_is_installed_goes_by_the_name_of_its_package() -> None:
    far = entry(file="/home/me/.venv/lib/python3.12/site-packages/vit/net.py")
    assert "Thing.run (vit/net.py:7), compiled at" in observed_text(report(entries=[far]), False, 100)


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_text_fits_every_width(width: int) -> None:
    assert all(len(line) <= max(width, 20) for line in observed_text(FULL, False, width).splitlines())


# The command


def test_an_interpreter_is_put_where_the_command_has_none(tmp_path: Path) -> None:
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    named = str(tmp_path / "venv" / "bin" / "python")
    assert words_of(["python", "-m", "x"], named, tmp_path) == [named, "-m", "x"]
    assert words_of(["train.py", "1"], named, tmp_path) == [named, "train.py", "1"]
    assert words_of(["torchrun", "train.py"], "", tmp_path) == ["torchrun", "train.py"]
    assert words_of(["python", "train.py"], "", tmp_path) == ["python", "train.py"]
