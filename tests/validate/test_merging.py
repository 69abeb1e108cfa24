"""What several processes saw, added up: what is one, what is two, and in which order it is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fullgraph.validate.observe_merge import (
    add_breaks,
    add_places,
    merge_entries,
    merge_files,
    merge_others,
    merge_reads,
)

ROOT = Path("/p")


def entry(**changes: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("other_inputs", "reentries", "backwards", "graphs", "operators", "more_frames"), 0)
    lists: dict[str, list[Any]] = {name: [] for name in ("compiled_at", "backends", "breaks", "recompiles")}
    named = {"file": "/p/a.py", "line": 3, "name": "f", "kind": "function", "calls": 1, "compile_seconds": 0.0}
    return {**named, **counts, **lists, "phases": {}, "inputs": {}, **changes}


def entries(*changes: dict[str, Any]) -> list[dict[str, Any]]:
    return merge_entries([{"entries": [entry(**one)]} for one in changes], ROOT)


def place(line: int, count: int = 1, **more: Any) -> dict[str, Any]:
    return {"file": "/p/a.py", "line": line, "count": count, **more}


def test_entries_are_one_only_if_file_line_name_and_kind_agree() -> None:
    for other in ({"file": "/p/b.py"}, {"line": 4}, {"name": "g"}, {"kind": "module"}):
        assert len(entries({}, other)) == 2
    assert len(entries({}, {"calls": 5})) == 1


def test_the_entry_that_was_called_most_comes_first_and_then_by_its_place() -> None:
    told = entries({"line": 9, "calls": 2}, {"line": 5, "calls": 7}, {"line": 1, "calls": 2})
    assert [one["line"] for one in told] == [5, 1, 9]


def test_phases_are_told_in_the_order_of_a_training_and_strange_ones_last() -> None:
    phases = {"zzz": 1, "eval, no grad": 1, "train, no grad": 1, "aaa": 1, "train, grad": 1}
    assert list(entries({"phases": phases})[0]["phases"]) == [
        "train, grad",
        "train, no grad",
        "eval, no grad",
        "aaa",
        "zzz",
    ]


def test_the_most_frequent_inputs_are_kept_and_the_others_counted() -> None:
    inputs = {f"float32[{number:02}]": 1 + (number == 29) for number in range(30)}
    (one,) = entries({"inputs": inputs, "other_inputs": 4})
    assert one["inputs"][0] == {"inputs": "float32[29]", "count": 2}
    assert (len(one["inputs"]), one["other_inputs"]) == (24, 10)


def test_backends_of_all_processes_are_told_once_in_order() -> None:
    assert entries({"backends": ["inductor"]}, {"backends": ["eager", "inductor"]})[0]["backends"] == [
        "eager",
        "inductor",
    ]


def test_recompiles_by_another_guard_are_others() -> None:
    first, second = (place(1, 2, function="g", guard=guard) for guard in ("k == 1", "k == 2"))
    (one,) = entries({"recompiles": [first]}, {"recompiles": [second, first]})
    assert [(item["guard"], item["count"]) for item in one["recompiles"]] == [("k == 1", 4), ("k == 2", 2)]


def test_places_are_added_up_and_keep_the_order_of_the_first_time() -> None:
    assert add_places([place(2), place(1, 3), place(2, 5)], ("file", "line")) == [place(2, 6), place(1, 3)]


def test_a_break_has_every_way_that_led_to_it_once() -> None:
    def broken(way: int, reason: str = "r") -> dict[str, Any]:
        return place(4, id="GB1", reason=reason, stacks=[[place(way)]])

    merged = add_breaks([broken(1), broken(2), broken(1), broken(3, "other")])
    assert [(one["reason"], one["count"], len(one["stacks"])) for one in merged] == [("r", 3, 2), ("other", 1, 1)]


def test_the_lines_of_a_way_are_told_below_the_root() -> None:
    broken = place(4, id="GB1", reason="r", stacks=[[place(1), {"file": "/lib/b.py", "line": 2}]])
    (one,) = entries({"breaks": [broken]})
    assert [line["file"] for line in one["breaks"][0]["stacks"][0]] == ["a.py", "/lib/b.py"]


def test_the_most_frequent_read_comes_first() -> None:
    reads = [place(1, 1, function="f", call="item"), place(2, 3, function="f", call="cpu")]
    more = [place(1, 4, function="f", call="item"), place(1, 1, function="f", call="tolist")]
    told = merge_reads([{"reads": reads}, {"reads": more}], ROOT)
    assert [(one["line"], one["call"], one["count"]) for one in told] == [
        (1, "item", 5),
        (2, "cpu", 3),
        (1, "tolist", 1),
    ]


def test_a_file_that_one_process_did_not_see_whole_is_not_whole() -> None:
    for first, second in ((True, False), (False, True)):
        seen = [{"files": {"/p/a.py": {"ran": [], "is_all": is_all}}} for is_all in (first, second)]
        assert merge_files(seen, ROOT) == {"a.py": {"ran": [], "is_all": False}}


def test_files_of_others_are_told_by_name_and_a_process_need_not_have_any() -> None:
    told = [{}, {"others": {"/lib/z.py": "z", "/lib/b.py": "b"}}]
    assert list(merge_others(told, ROOT).items()) == [("/lib/b.py", "b"), ("/lib/z.py", "z")]
