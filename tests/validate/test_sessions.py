"""What is made of the folder that a captured program wrote into, and why there is nothing to be made of it."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from fullgraph.validate.capture import environment
from fullgraph.validate.capture_problems import BIG, explain, how_it_ended, notices
from fullgraph.validate.capture_session import Session, read_index, remove_leftovers, session_beside
from fullgraph.validate.model import ValidateError
from fullgraph.validate.scenario import CAPTURES, read_scenario


def write_events(folder: Path, process: str, *events: dict[str, Any]) -> None:
    (folder / f"{process}.events").write_text("".join(json.dumps(event) + "\n" for event in events))


def call(folder: Path, number: int, when: float, text: str = "") -> dict[str, Any]:
    file = folder / f"call-{when}-{number}"
    file.write_text(text or f"{when}")
    shared = {"torch": "2", "python": "3", "is_method": False, "main": None, "imports": ["/src"]}
    own = {"bytes": 1, "arguments": text, "devices": [], "needs_main": False}
    return {"event": "call", "index": number, "time": when, "file": str(file), **shared, **own}


def problem(kind: str, text: str) -> dict[str, Any]:
    return {"event": "problem", "kind": kind, "text": text}


# The capture


def test_the_process_with_the_most_calls_is_stored_in_the_order_of_its_calls(tmp_path: Path) -> None:
    write_events(tmp_path, "1", call(tmp_path, 0, 1.0, "early"))
    write_events(tmp_path, "2", call(tmp_path, 1, 5.0, "second"), call(tmp_path, 0, 4.0, "first"))
    index = Session(tmp_path).store(tmp_path / "f.pt", "m:f", ["python", "m.py"])
    assert index is not None
    assert [one["arguments"] for one in index["calls"]] == ["first", "second"]
    assert (read_index(tmp_path / "f.pt") or {})["command"] == ["python", "m.py"]


def test_of_several_processes_with_as_many_calls_the_earliest_is_stored(tmp_path: Path) -> None:
    for process, when in (("1", 9.0), ("2", 3.0), ("3", 6.0)):
        write_events(tmp_path, process, call(tmp_path, 0, when, f"at {when}"))
    index = Session(tmp_path).store(tmp_path / "f.pt", "m:f", [])
    assert index is not None
    assert index["calls"][0]["arguments"] == "at 3.0"


def test_without_a_call_nothing_is_written(tmp_path: Path) -> None:
    write_events(tmp_path, "1", {"event": "module"})
    assert Session(tmp_path).store(tmp_path / "f.pt", "m:f", []) is None
    assert not (tmp_path / "f.pt").exists()


def test_there_is_enough_only_if_one_process_has_all_calls(tmp_path: Path) -> None:
    write_events(tmp_path, "1", call(tmp_path, 0, 1.0), call(tmp_path, 1, 2.0))
    write_events(tmp_path, "2", call(tmp_path, 0, 3.0))
    assert Session(tmp_path).has_all(2)
    assert not Session(tmp_path).has_all(3)


def test_a_file_that_is_no_capture_has_no_index(tmp_path: Path) -> None:
    (tmp_path / "f.pt").write_text("no archive")
    assert read_index(tmp_path / "f.pt") is None
    assert read_index(tmp_path / "gone.pt") is None


def test_a_session_is_gone_when_it_ends_also_by_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), session_beside(tmp_path / "deep" / "f.pt") as session:
        raise KeyError
    assert not session.folder.exists()
    assert (tmp_path / "deep").is_dir()


def test_a_place_where_nothing_can_be_stored_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValidateError, match="nothing can be stored here"), session_beside(tmp_path / "file" / "f.pt"):
        pass


def test_what_is_no_session_of_a_dead_process_is_left_alone(tmp_path: Path) -> None:
    kept = [tmp_path / name for name in (".session-", ".session-x-1", f".session-{os.getpid()}-a", "other")]
    for folder in kept:
        folder.mkdir()
    remove_leftovers(tmp_path)
    assert all(folder.exists() for folder in kept)


# Why nothing was stored


def said(folder: Path, *events: dict[str, Any], exit_code: int = 0, entered: bool = True) -> str:
    write_events(folder, "1", *events)
    if entered:
        (folder / "1.entered").write_text("python\n3.12")
    return explain("pkg.m:f", Session(folder), exit_code)


def test_the_most_telling_reason_is_told(tmp_path: Path) -> None:
    everything = [problem(kind, kind) for kind in ("fault", "busy", "name", "torch", "arguments")]
    for place, start in enumerate(
        ("watching the program failed", "busy, so that", "name", "torch; ", "the arguments of")
    ):
        assert said(tmp_path, *everything[: place + 1], exit_code=3).startswith(start)


def test_a_program_that_failed_before_the_first_call_is_told_as_such(tmp_path: Path) -> None:
    assert said(tmp_path, {"event": "module"}, exit_code=3) == (
        "the program ended with exit code 3 before the first call of pkg.m:f"
    )


def test_a_module_that_goes_by_another_name_is_told_with_it(tmp_path: Path) -> None:
    assert said(tmp_path, {"event": "other name", "name": "__main__"}) == (
        "the program knows pkg.m as __main__: capture __main__:f"
    )


def test_a_module_that_was_never_imported_is_not_one_that_was_never_called(tmp_path: Path) -> None:
    assert "no Python that could be watched imported the module 'pkg.m'" in said(tmp_path)
    assert said(tmp_path, {"event": "module"}) == "the program ended with exit code 0, and pkg.m:f was never called"


def test_a_python_that_was_shut_out_is_told_before_its_exit_code(tmp_path: Path) -> None:
    assert "no Python could be watched" in said(tmp_path, exit_code=3, entered=False)
    (tmp_path / "1.old").write_text("/usr/bin/python3.8\n3.8.1")
    assert said(tmp_path, entered=False) == "/usr/bin/python3.8 is Python 3.8.1; 3.9 or newer is needed"


def test_how_a_program_ended_is_told_by_code_or_signal() -> None:
    assert how_it_ended(0) == "ended with exit code 0"
    assert how_it_ended(-signal.SIGTERM) == "was killed by SIGTERM"
    assert how_it_ended(-250) == "was killed by signal 250"


# What there is to say of what was stored


def index(calls: int = 1, size: int = 1, needs_main: bool = False, **more: Any) -> dict[str, Any]:
    return {
        "target": "pkg.m:f",
        "main": None,
        "calls": [{"bytes": size, "needs_main": needs_main} for _ in range(calls)],
        **more,
    }


def test_fewer_calls_than_were_asked_for_are_told(tmp_path: Path) -> None:
    session = Session(tmp_path)
    assert list(notices(index(calls=3), session, 3)) == []
    assert list(notices(index(calls=2), session, 3)) == ["3 calls were asked for; the program made no more than 2"]
    write_events(tmp_path, "1", problem("arguments", "a lock"), problem("arguments", "a file"))
    assert list(notices(index(calls=2), session, 3)) == ["not every call could be stored: a lock"]


def test_big_captures_are_told_by_the_size_of_all_calls(tmp_path: Path) -> None:
    assert list(notices(index(calls=2, size=BIG // 2), Session(tmp_path), 2)) == []
    (told,) = notices(index(calls=2, size=BIG), Session(tmp_path), 2)
    assert told.startswith("the calls take 2.0 GB")


@pytest.mark.parametrize(
    ("name", "needs_main", "text", "is_told"),
    [
        ("pkg.m", False, "main()\n", True),
        ("other", False, "main()\n", False),
        ("other", True, "main()\n", True),
        ("pkg.m", False, "def main(): pass\n", False),
        ("pkg.m", False, "def broken(:\n", False),
    ],
)
def test_a_main_program_is_told_if_it_is_needed_and_runs_when_imported(
    tmp_path: Path, name: str, needs_main: bool, text: str, is_told: bool
) -> None:
    (tmp_path / "main.py").write_text(text)
    main = {"name": name, "file": str(tmp_path / "main.py")}
    told = list(notices(index(needs_main=needs_main, main=main), Session(tmp_path), 1))
    assert [one.startswith(f"{tmp_path / 'main.py'} will be imported") for one in told] == [True] * is_told


# The way in, and back


def test_the_users_own_path_stays_behind_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", "src")
    ours, theirs = environment(tmp_path, "m:f", 3, None)["PYTHONPATH"].split(os.pathsep)
    assert ours.endswith("capture_site")
    assert theirs == "src"
    monkeypatch.delenv("PYTHONPATH")
    assert os.pathsep not in environment(tmp_path, "m:f", 3, None)["PYTHONPATH"]


def test_a_module_is_known_by_its_real_file(tmp_path: Path) -> None:
    (tmp_path / "real.py").touch()
    (tmp_path / "link.py").symlink_to(tmp_path / "real.py")
    given = environment(tmp_path, "m:f", 3, tmp_path / "link.py")["FULLGRAPH_CAPTURE"].split("\n")
    assert given == [str(tmp_path), "m:f", "3", str((tmp_path / "real.py").resolve())]


@pytest.mark.parametrize(
    ("name", "kind"), [("test_a.py", "pytest"), ("a_test.py", "pytest"), ("a.py", "file"), ("contest_a.py", "file")]
)
def test_a_python_file_is_a_test_by_its_name(tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / name).touch()
    assert read_scenario(str(tmp_path / name), tmp_path).kind == kind


def test_a_file_with_a_test_behind_it_is_a_test_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "checks.py").touch()
    found = read_scenario(f"{tmp_path / 'checks.py'}::TestA::test_b", tmp_path)
    assert (found.kind, found.target) == ("pytest", f"{tmp_path / 'checks.py'}::TestA::test_b")


def test_the_source_folder_of_a_project_comes_before_its_root(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    assert read_scenario(str(tmp_path / "a.py"), tmp_path).imports == (str(tmp_path),)
    (tmp_path / "src").mkdir()
    assert read_scenario(str(tmp_path / "a.py"), tmp_path).imports == (str(tmp_path / "src"), str(tmp_path))


def test_a_captured_function_runs_with_the_path_of_the_program_that_called_it(tmp_path: Path) -> None:
    (tmp_path / CAPTURES).mkdir(parents=True)
    write_events(tmp_path, "1", call(tmp_path, 0, 1.0))
    Session(tmp_path).store(tmp_path / CAPTURES / "pkg.m.f.pt", "pkg.m:f", [])
    found = read_scenario("pkg.m:f", tmp_path)
    assert (found.kind, found.target, found.imports) == ("capture", "pkg.m:f", (str(tmp_path), "/src"))
