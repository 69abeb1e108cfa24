"""`fix --observed`: the lines that broke are rewritten, in a copy of an installed package too, and every break ends."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fullgraph.codemods.model import Edit, Finding, Span
from fullgraph.codemods.ui.breaks.ends import judge, names
from fullgraph.codemods.ui.breaks.ground import Ground, Spot
from fullgraph.codemods.ui.breaks.seen import Line as SeenLine
from fullgraph.codemods.ui.breaks.seen import Seen, list_breaks
from fullgraph.codemods.ui.report import as_json
from fullgraph.codemods.ui.report.model import Line
from tests.ui.running import PROMPT, Result, Terminal, run, write_project
from tests.ui.test_observed import entry, report

REPAIR = str(Path(__file__).parent / "sample_repair.py")

GUARDS = [("a.py", "y is None"), ("a.py", "x is None"), ("b.py", "z is None")]
OWN = """\
from lib.model import layer


def step(x):
    noise()
    x = layer(x)
    noise()
    return x


def other(x):
    noise(1)
    return x
"""

LAYER = """\
from lib.log import warn_noise


def layer(x):
    warn_noise()
    noise()
    return x


def untouched(x):
    noise()
    return x
"""

LOG = """\
def warn_noise():
    print("noise")
"""

PACKAGE = {
    "lib/__init__.py": "",
    "lib/model.py": LAYER,
    "lib/log.py": LOG,
    "lib/fast.cpython-311-x86_64-linux-gnu.so": "not really\n",
    "lib/data/table.txt": "1 2 3\n",
    "lib/__pycache__/model.cpython-311.pyc": "old\n",
    "lib_dist.libs/libfast.so.1": "neither\n",
    "lib_dist-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: lib-dist\nVersion: 1.0\n",
    "lib_dist-1.0.dist-info/RECORD": "lib/__init__.py,,\nlib/model.py,,\nlib_dist.libs/libfast.so.1,,\n",
    "other_dist-2.0.dist-info/RECORD": "other/__init__.py,,\n",
    "other_dist-2.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: other-dist\nVersion: 2.0\n",
    "spread/part/__init__.py": "",
    "spread/part/deep.py": "def deep(x):\n    noise()\n    return x\n",
    "spread/rest/__init__.py": "",
    "single.py": "def alone(x):\n    noise()\n    return x\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FULLGRAPH_CACHE", str(tmp_path / "cache"))
    write_project(tmp_path / "env" / "site-packages", PACKAGE)
    return write_project(tmp_path / "project", {"pyproject.toml": "", "own.py": OWN})


@pytest.fixture
def home(project: Path) -> Path:
    return project.parent / "env" / "site-packages"


def lines(*places: tuple[str, int]) -> list[dict[str, Any]]:
    return [{"file": str(file), "line": line, "function": "f"} for file, line in places]


def broke(*stacks: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """A break at the end of each stack."""
    last = stacks[0][-1]
    told = {"id": "GB0059", "reason": "Failed to trace builtin operator: print", "hint": "", "kind": "break"}
    return {**last, **told, "frames": 1, "count": 2, "stacks": list(stacks), **changes}


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def observed(project: Path, *breaks: dict[str, Any], modules: dict[str, str] | None = None, name: str = "r") -> str:
    """A report with these breaks, and what every file in them holds now."""
    known = {line["file"] for one in breaks for stack in [[one], *one.get("stacks", [])] for line in stack}
    held = {file: digest(project / file) for file in known if (project / file).is_file()}
    own = {file: {"sha256": sha, "ran": [], "is_all": True} for file, sha in held.items() if not os.path.isabs(file)}
    others = {file: {"sha256": sha, "module": (modules or {}).get(file, "")} for file, sha in held.items()}
    told = report(entries=[entry(file="own.py", breaks=list(breaks))], files=own)
    told["others"] = {file: one for file, one in others.items() if os.path.isabs(file)}
    told["root"] = str(project)
    (project / f"{name}.json").write_text(json.dumps(told))
    return f"{name}.json"


def fix(project: Path, told: str, *options: str) -> Result:
    return run(project, "fix", "--codemod", REPAIR, "--observed", told, *options)


def ends(project: Path, told: str, *options: str) -> list[tuple[str, int, str]]:
    done = json.loads(fix(project, told, "--format", "json", *options).out)
    return [(Path(one["file"]).name, one["line"], one["end"]) for one in done["breaks"]]


def hashes(folder: Path) -> dict[str, tuple[str, int]]:
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    return {str(file): (digest(file), file.stat().st_mtime_ns) for file in files}


# Sites


def test_only_the_lines_that_broke_are_rewritten(project: Path) -> None:
    done = fix(project, observed(project, broke(lines(("own.py", 7)))), "--yes")
    assert (project / "own.py").read_text() == OWN.replace(
        "    x = layer(x)\n    noise()", "    x = layer(x)\n    pass\n    pass"
    )
    assert "observed breaks: 1 repaired\n  own.py:7 (GB0059): repaired by drop_noise\n" in done.out
    assert done.code == 0


def test_lines_are_followed_when_an_edit_above_moves_them(project: Path) -> None:
    """The first rewrite adds a line; nothing is refused, and nothing else is met at the old number."""
    told = observed(project, broke(lines(("own.py", 5))), broke(lines(("own.py", 7))))
    assert ends(project, told, "--yes") == [("own.py", 5, "repaired"), ("own.py", 7, "repaired")]
    assert (project / "own.py").read_text().count("pass\n    pass") == 2


def test_without_a_report_what_is_compiled_counts(project: Path) -> None:
    (project / "own.py").write_text(f"import torch\n{OWN}\ngo = torch.compile(step)\n")
    done = run(project, "check", "--codemod", REPAIR, "--format", "json")
    assert [one["line"] for one in json.loads(done.out)["findings"]] == [6, 8]


def test_a_file_that_has_changed_since_is_not_rewritten(project: Path) -> None:
    told = observed(project, broke(lines(("own.py", 7))))
    (project / "own.py").write_text(f"# new\n{OWN}")
    done = fix(project, told, "--yes")
    assert (project / "own.py").read_text() == f"# new\n{OWN}"
    assert "own.py:7 (GB0059): declined: it has changed since it was observed: observe again" in done.out
    assert done.code == 1


def test_a_report_of_an_older_version_is_read(project: Path) -> None:
    one = broke(lines(("own.py", 7)))
    del one["stacks"]
    told = observed(project, one)
    held = json.loads((project / told).read_text())
    del held["others"], held["root"]
    (project / told).write_text(json.dumps(held))
    assert ends(project, told, "--yes") == [("own.py", 7, "repaired")]


def test_where_the_deepest_line_is_nothing_to_rewrite_its_caller_is_looked_at(project: Path) -> None:
    write_project(project, {"deep.py": LOG})
    told = observed(project, broke(lines(("own.py", 5), ("deep.py", 2))))
    done = fix(project, told, "--yes")
    assert "deep.py:2 (GB0059): repaired by drop_noise at own.py:5\n" in done.out


def test_callers_of_a_line_that_is_rewritten_stay(project: Path) -> None:
    """`own.py:5` is on the way to the break, and would be a finding if nothing deeper was."""
    told = observed(project, broke(lines(("own.py", 5), ("own.py", 7))))
    fix(project, told, "--yes")
    assert (project / "own.py").read_text().count("noise()") == 1
    assert "def step(x):\n    noise()\n" in (project / "own.py").read_text()


def test_every_way_to_a_break_counts(project: Path) -> None:
    write_project(project, {"deep.py": LOG})
    told = observed(project, broke(lines(("own.py", 5), ("deep.py", 2)), lines(("own.py", 7), ("deep.py", 2))))
    assert ends(project, told, "--yes") == [("deep.py", 2, "repaired")] * 2
    assert "noise()" not in (project / "own.py").read_text()


def test_breaks_of_several_entries_are_one() -> None:
    one = broke(lines(("a.py", 1), ("b.py", 2)))
    other = broke(lines(("c.py", 3), ("b.py", 2)))
    (seen,) = list_breaks({"entries": [entry(breaks=[one]), entry(breaks=[other])]})
    assert (seen.count, len(seen.ways)) == (4, 2)


def test_a_limit_is_told_with_the_guards_of_its_own_function() -> None:
    again = [{"file": file, "line": 1, "function": "broken", "guard": guard, "count": 1} for file, guard in GUARDS]
    place = {"file": "a.py", "line": 1, "function": "broken"}
    limit = {**broke(lines(("a.py", 1)), id="GB0039"), **place}
    (seen,) = list_breaks({"entries": [entry(breaks=[limit], recompiles=again)]})
    assert seen.guards == ("x is None", "y is None")


# Ends


def test_what_is_left_alone_is_declined_with_the_reason_and_the_nearest_remedy(project: Path) -> None:
    told = observed(project, broke(lines(("own.py", 12)), id="GB0170", reason="Data-dependent branching: if"))
    done = fix(project, told, "--yes")
    assert "own.py:12 (GB0170): declined: the argument may matter (drop_noise)\n      remedy: Compute both" in done.out
    assert done.code == 1


def test_what_a_setting_repairs_is_said_to_be_a_setting(project: Path) -> None:
    scalar = "Unsupported Tensor.item() call with capture_scalar_outputs=False: x"
    told = observed(project, broke(lines(("own.py", 6)), id="GB0124", reason=scalar))
    done = fix(project, told, "--yes")
    assert "own.py:6 (GB0124): torch setting: torch._dynamo.config.capture_scalar_outputs = True" in done.out
    assert "observed breaks: 1 torch setting\n" in done.out
    assert done.code == 1


def test_a_setting_is_not_named_where_a_codemod_sees_that_it_does_not_help(project: Path) -> None:
    scalar = "Unsupported Tensor.item() call with capture_scalar_outputs=False: x"
    done = fix(project, observed(project, broke(lines(("own.py", 12)), id="GB0124", reason=scalar)), "--yes")
    assert "own.py:12 (GB0124): declined: the argument may matter (drop_noise)" in done.out
    assert "torch setting" not in done.out


@pytest.mark.parametrize(("line", "end"), [(7, "repaired"), (12, "echo")])
def test_a_break_that_another_one_causes_ends_with_it(project: Path, line: int, end: str) -> None:
    echo = broke(lines(("own.py", 6)), id="GB0065", reason="Graph break in inlined function: x")
    told = observed(project, broke(lines(("own.py", 6), ("own.py", line))), echo)
    assert ends(project, told, "--diff")[-1] == ("own.py", 6, end)
    done = fix(project, told, "--diff")
    assert end == "repaired" or f"own.py:6 (GB0065): echo of the break in own.py:{line}\n" in done.err


def test_a_setting_that_was_written_is_a_repair(tmp_path: Path) -> None:
    told = "`k.item()` in pkg/a.py:7 is a size: torch breaks the graph there without a setting"
    finding = Finding("compile_setting", "pkg/main.py", Span(0, 1), "", told, (Edit("pkg/main.py", Span(0, 0), "x"),))
    seen = Seen(SeenLine("pkg/a.py", 7), "f", "GB0124", "", "", 1, ())
    for outcome, end in (("fixed", "repaired"), ("left", "torch setting")):
        line = Line(tmp_path, "", finding, outcome)
        assert judge(seen, (), Ground({"entries": []}), None, [], [line]).outcome == end


def test_a_break_that_no_codemod_knows_is_declined(project: Path) -> None:
    done = fix(project, observed(project, broke(lines(("own.py", 6)), id="", reason="something")), "--yes")
    assert "own.py:6: declined: no codemod repairs it here\n" in done.out
    assert done.code == 1


def test_the_json_is_as_the_schema_says(project: Path, home: Path) -> None:
    schema = json.loads((Path(as_json.__file__).parent / "report.schema.json").read_text())
    package = f"{home}/lib/model.py"
    told = observed(
        project, *(broke(lines(place)) for place in [("own.py", 7), ("own.py", 12), ("own.py", 6), (package, 6)])
    )
    for options in (["--yes", "--into", "new"], ["--diff"]):
        done = json.loads(fix(project, told, "--format", "json", *options).out)
        jsonschema.validate(done, schema)
        assert len(done["breaks"]) == 4


def test_check_says_what_could_be_repaired(project: Path) -> None:
    told = observed(project, broke(lines(("own.py", 7))))
    done = run(project, "check", "--codemod", REPAIR, "--observed", told)
    assert "observed breaks: 1 repairable\n" in done.out
    assert done.code == 1


def test_an_excluded_file_is_said_to_be_excluded(project: Path) -> None:
    done = fix(project, observed(project, broke(lines(("own.py", 7)))), "--exclude", "own.py", "--yes")
    assert "own.py:7 (GB0059): declined: it is excluded\n" in done.out


def test_a_finding_where_something_is_compiled_names_the_lines_that_it_is_about(tmp_path: Path) -> None:
    told = "`k.item()` in pkg/a.py:7 is a size: torch breaks the graph there without a setting"
    finding = Finding("compile_setting", "pkg/main.py", Span(0, 1), "", told, notes=("pkg/b.py:9: `k` too",))
    line = Line(tmp_path, "", finding, "left", "unsafe: errors")
    assert names(line, Spot(tmp_path, "pkg/a.py", 7))
    assert names(line, Spot(tmp_path, "pkg/b.py", 9))
    assert not names(line, Spot(tmp_path, "pkg/a.py", 70))
    assert not names(line, Spot(tmp_path, "g/a.py", 7))


def test_a_person_who_declines_is_named(project: Path) -> None:
    told = observed(project, broke(lines(("own.py", 7))))
    terminal = Terminal(project, "fix", "--codemod", REPAIR, "--observed", told)
    terminal.answer("n")
    terminal.end()
    assert "declined: you declined it" in terminal.screen
    assert PROMPT in terminal.screen


# Copies of packages


def test_a_break_in_a_package_is_declined_and_the_way_is_named(project: Path, home: Path) -> None:
    done = fix(project, observed(project, broke(lines((f"{home}/lib/model.py", 6)))), "--yes")
    declined = "declined: it is not the project's: --into DIR rewrites a copy of its package\n"
    assert f"  lib/model.py:6 (GB0059): {declined}" in done.out
    assert (home / "lib/model.py").read_text() == LAYER


def test_a_package_is_rewritten_in_a_copy_and_its_files_stay(project: Path, home: Path) -> None:
    before = hashes(home)
    done = fix(project, observed(project, broke(lines((f"{home}/lib/model.py", 6)))), "--into", "new", "--yes")
    assert done.code == 0
    assert hashes(home) == before
    copy = project / "new"
    assert (copy / "lib/model.py").read_text() == LAYER.replace(
        "noise()\n    noise()", "noise()\n    pass\n    pass", 1
    )
    same = [
        "lib/log.py",
        "lib/fast.cpython-311-x86_64-linux-gnu.so",
        "lib/data/table.txt",
        "lib_dist.libs/libfast.so.1",
    ]
    assert all((copy / path).read_text() == PACKAGE[path] for path in same)
    told = {file.name for file in copy.iterdir()}
    assert told == {".fullgraph", "fullgraph-copies.json", "lib", "lib_dist.libs", "lib_dist-1.0.dist-info"}
    assert not (copy / "lib/__pycache__").exists()


def test_python_finds_the_copy_and_its_metadata(project: Path, home: Path) -> None:
    fix(project, observed(project, broke(lines((f"{home}/lib/model.py", 6)))), "--into", "new", "--yes")
    code = (
        "import lib.model, importlib.metadata as m; d = m.distribution('lib-dist'); "
        "print(lib.model.__file__, d.version, d.locate_file('lib'))"
    )
    paths = os.pathsep.join([str(project / "new"), str(home)])
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": paths}, capture_output=True, text=True)
    new = project / "new"
    assert done.stdout.split() == [str(new / "lib/model.py"), "1.0", str(new / "lib")], done.stderr


def test_undo_takes_it_back_in_the_copy(project: Path, home: Path) -> None:
    done = fix(project, observed(project, broke(lines((f"{home}/lib/model.py", 6)))), "--into", "new", "--yes")
    assert f"`fullgraph undo 1 --path {project / 'new'}` takes it back." in done.err
    assert f"PYTHONPATH={project / 'new'} uses the copies." in done.err
    run(project, "undo", "--path", "new")
    assert (project / "new/lib/model.py").read_text() == LAYER


def test_a_project_and_a_package_at_once(project: Path, home: Path) -> None:
    told = observed(project, broke(lines((f"{home}/lib/model.py", 6))), broke(lines(("own.py", 7))))
    assert ends(project, told, "--into", "new", "--yes") == [("model.py", 6, "repaired"), ("own.py", 7, "repaired")]
    assert (project / "own.py").read_text().count("noise()") == 1


def test_a_callers_line_in_the_project_stays_where_the_package_is_repaired(project: Path, home: Path) -> None:
    told = observed(project, broke(lines(("own.py", 5), (f"{home}/lib/model.py", 6))))
    assert ends(project, told, "--into", "new", "--yes") == [("model.py", 6, "repaired")]
    assert (project / "own.py").read_text() == OWN


def test_a_dry_run_makes_no_folder(project: Path, home: Path) -> None:
    done = fix(project, observed(project, broke(lines((f"{home}/lib/model.py", 6)))), "--into", "new", "--diff")
    assert "-    noise()\n+    pass\n" in done.out
    assert not (project / "new").exists()


def test_nothing_is_copied_where_nothing_is_rewritten(project: Path, home: Path) -> None:
    fix(project, observed(project, broke(lines((f"{home}/lib/log.py", 2)))), "--into", "new", "--yes")
    assert not (project / "new").exists()


def test_of_a_spread_package_only_the_part_is_copied(project: Path, home: Path) -> None:
    file = f"{home}/spread/part/deep.py"
    fix(project, observed(project, broke(lines((file, 2)))), "--into", "new", "--yes")
    assert sorted(os.listdir(project / "new/spread")) == ["part"]
    code = "import spread.part.deep, spread.rest; print(spread.part.deep.__file__)"
    paths = os.pathsep.join([str(project / "new"), str(home)])
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": paths}, capture_output=True, text=True)
    assert done.stdout.strip() == str(project / "new/spread/part/deep.py"), done.stderr


def test_a_module_of_its_own_is_one_file(project: Path, home: Path) -> None:
    fix(project, observed(project, broke(lines((f"{home}/single.py", 2)))), "--into", "new", "--yes")
    assert "pass" in (project / "new/single.py").read_text()
    assert not (project / "new/lib").exists()


def test_what_cannot_be_written_can_in_the_copy_and_links_are_no_links_there(project: Path, home: Path) -> None:
    (home / "lib/link.py").symlink_to(home / "single.py")
    (home / "lib/round").symlink_to(home / "lib")
    for file in (home / "lib/model.py", home / "lib"):
        file.chmod(stat.S_IMODE(file.stat().st_mode) & ~0o222)
    done = fix(project, observed(project, broke(lines((f"{home}/lib/model.py", 6)))), "--into", "new", "--yes")
    (home / "lib").chmod(0o755)
    assert done.code == 0, done.err
    copies = list((project / "new/lib").rglob("*"))
    assert not any(file.is_symlink() for file in copies)
    assert (project / "new/lib/link.py").read_text() == PACKAGE["single.py"]
    assert (project / "new/lib/model.py").stat().st_mode & stat.S_IWUSR


def test_a_former_copy_is_gone_on_with(project: Path, home: Path) -> None:
    first = observed(project, broke(lines((f"{home}/lib/model.py", 6))))
    fix(project, first, "--into", "new", "--yes")
    again = fix(project, first, "--into", "new", "--yes")
    assert "lib/model.py:6 (GB0059): declined: it has changed since it was observed" in again.out
    other = observed(project, broke(lines((f"{home}/single.py", 2))))
    assert ends(project, other, "--into", "new", "--yes") == [("single.py", 2, "repaired")]
    held = json.loads((project / "new/fullgraph-copies.json").read_text())
    assert [one["path"] for one in held["copies"]] == ["lib", "single.py"]


def test_a_run_with_the_copy_on_the_path_is_gone_on_with_too(project: Path, home: Path) -> None:
    fix(project, observed(project, broke(lines((f"{home}/lib/model.py", 6)))), "--into", "new", "--yes")
    told = observed(project, broke(lines(("new/lib/model.py", 5))))
    assert "pass\n    pass\n    return x" in (project / "new/lib/model.py").read_text()
    assert ends(project, told, "--into", "new", "--yes") == [("model.py", 5, "repaired")]
    assert "warn_noise()" not in (project / "new/lib/model.py").read_text()


def test_copies_are_no_part_of_the_project_around_them(project: Path, home: Path) -> None:
    fix(project, observed(project, broke(lines((f"{home}/lib/model.py", 6)))), "--into", "new", "--yes")
    done = run(project, "check", "--format", "json")
    assert json.loads(done.out)["files"] == 1


@pytest.mark.parametrize("where", ["env/site-packages/new", "venv/new", "env/site-packages/lib"])
def test_nothing_is_written_inside_an_environment(project: Path, home: Path, where: str) -> None:
    write_project(project.parent / "venv", {"pyvenv.cfg": ""})
    before = hashes(home)
    told = observed(project, broke(lines((f"{home}/lib/model.py", 6))))
    done = fix(project, told, "--into", str(project.parent / where), "--yes")
    assert "inside an environment, whose files are never edited" in done.err
    assert (done.code, hashes(home)) == (2, before)


def test_a_folder_of_somebody_elses_is_refused(project: Path, home: Path) -> None:
    write_project(project / "new", {"mine.txt": "mine"})
    done = fix(project, observed(project, broke(lines((f"{home}/lib/model.py", 6)))), "--into", "new", "--yes")
    assert "new: there already, and fullgraph has made no copies in it; name a new folder" in done.err
    assert done.code == 2


def test_a_file_in_an_archive_is_declined(project: Path, home: Path) -> None:
    shutil.make_archive(str(home / "packed"), "zip", home, "lib")
    done = fix(
        project, observed(project, broke(lines((f"{home}/packed.zip/lib/model.py", 6)))), "--into", "new", "--yes"
    )
    assert "declined: it is not there as a file: it is in an archive, or gone" in done.out


def test_paths_in_a_package_are_enough(project: Path, home: Path) -> None:
    """Without a report, and with all codemods: here one that renames a call."""
    (home / "lib/slow.py").write_text("def one():\n    slow()\n")
    before = hashes(home)
    done = run(project, "fix", str(home / "lib"), "--into", "new", "--yes")
    assert (project / "new/lib/slow.py").read_text() == "def one():\n    fast()\n"
    assert (hashes(home), done.code) == (before, 0)


def test_a_folder_without_a_package_is_wrong_usage(project: Path) -> None:
    done = run(project, "fix", "own.py", "--into", "new", "--yes")
    assert "--into is for packages that are installed" in done.err
    assert done.code == 2


def test_the_review_asks_about_packages_too(project: Path, home: Path) -> None:
    told = observed(project, broke(lines((f"{home}/lib/model.py", 6))))
    terminal = Terminal(project, "fix", "--codemod", REPAIR, "--observed", told, "--into", "new")
    terminal.answer("y")
    assert terminal.end() == 0
    assert "pass" in (project / "new/lib/model.py").read_text()
    assert (home / "lib/model.py").read_text() == LAYER
