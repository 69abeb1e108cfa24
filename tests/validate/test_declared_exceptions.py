"""An exception that compiled code raises instead of another: only the declared one, with the declared text."""

from __future__ import annotations

from typing import Any

import pytest

from fullgraph.validate.worker.recording.compare import compare

DECLARED = [["exception", r"ValueError: x is .* > RuntimeError: x is \{x\}", "it is meant to"]]


def record(error: list[str] | None) -> dict[str, Any]:
    trees: dict[str, list[Any]] = {
        channel: [] for channel in ("output", "args", "state", "grads", "modes", "surroundings")
    }
    said = {"warnings": [], "logs": [], "stdout": "", "stderr": "", "stderr_masked": ""}
    return {"case": "case 1", "exception": error, "backward": None, **said, **trees}


def differences(ours: list[str] | None, theirs: list[str] | None, between: str = "compiled") -> list[str]:
    channels = ("exception",)
    given: dict[str, Any] = {"between": between, "exact": True, "declared": DECLARED, "channels": channels}
    return [found["path"] for found in compare(record(ours), record(theirs), **given)["differences"]]


BEFORE, AFTER = ["ValueError", "x is 3", ""], ["RuntimeError", "x is {x}", ""]


def test_the_declared_exception_may_take_the_place_of_the_other() -> None:
    assert differences(BEFORE, AFTER) == []
    told = compare(record(BEFORE), record(AFTER), between="compiled", exact=True, declared=DECLARED)
    assert told["declared_seen"] == ["exception: ValueError: x is 3 > RuntimeError: x is {x} (it is meant to)"]


@pytest.mark.parametrize(
    "after",
    [["RuntimeError", "y is {x}", ""], ["TypeError", "x is {x}", ""], ["RuntimeError", "x is {x} or so", ""], None],
)
def test_another_text_another_type_and_none_are_differences(after: list[str] | None) -> None:
    assert differences(BEFORE, after) == ["exception"]


def test_another_exception_before_is_a_difference() -> None:
    assert differences(["KeyError", "x is 3", ""], AFTER) == ["exception"]


def test_eager_code_is_held_to_its_own_exception() -> None:
    assert differences(BEFORE, AFTER, between="eager") == ["exception"]
