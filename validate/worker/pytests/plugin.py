"""A pytest plugin that keeps what every test did."""

from __future__ import annotations

import contextlib
from typing import Any

from ..recording.effects import KINDS, hear_effects
from ..recording.leaf import mask_addresses

NOTHING: dict[str, Any] = {
    **{name: [] for name in ("inputs", "args", "state", "surroundings", "aliases", "grads", "modes", "rng")},
    "backward": None,
    "opaque": [],
    "unseen": [],
    "mutated": False,
    "random": False,
}
"""Of the channels of a record, those that a test does not have."""


class Seen:
    """What one run of pytest showed."""

    __test__ = False

    def __init__(self) -> None:
        self.collected: list[str] = []
        self.broken: list[str] = []
        self.skipped: list[str] = []
        self.seconds = 0.0
        self.said = ""
        self.tests: dict[str, dict[str, Any]] = {}
        self.logged: list[list[str]] = []
        self.hearing = contextlib.ExitStack()

    @property
    def last_words(self) -> str:
        """The line in which pytest itself names an error, or the last that it said."""
        lines = [line.strip() for line in self.said.splitlines() if line.strip()]
        telling = [
            [line for line in lines if line.startswith(start)] for start in ("INTERNALERROR>", "E ", "ERROR", "!")
        ]
        found = next((some[-1] for some in telling if some), lines[-1] if lines else "it says nothing")
        return found.replace("INTERNALERROR> ", "").removeprefix("E ").strip("! ")

    def pytest_collection_finish(self, session: Any) -> None:
        self.collected = [item.nodeid for item in session.items]

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            lines = [line for line in str(report.longrepr).splitlines() if line.startswith("E ")]
            self.broken.append((lines or str(report.longrepr).splitlines() or ["?"])[-1].removeprefix("E ").strip())

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self._test(nodeid)["effects"] = self.hearing.enter_context(hear_effects())

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        self.hearing.close()

    def pytest_runtest_logreport(self, report: Any) -> None:
        kept = self._test(report.nodeid)
        outcome = "xfailed" if hasattr(report, "wasxfail") and report.skipped else report.outcome
        kept["outcomes"].append(f"{report.when} {outcome}")
        kept["stdout"], kept["stderr"] = report.capstdout, report.capstderr
        kept["logs"] += self.logged[:]
        self.logged.clear()
        if report.when == "call":
            self.seconds += report.duration
        if outcome == "skipped":
            self.skipped.append(report.nodeid)
        if report.failed and not kept["exception"]:
            crash = getattr(report.longrepr, "reprcrash", None)
            text = crash.message if crash else str(report.longrepr)
            kept["exception"] = [report.when, text, str(report.longrepr)]

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str, location: Any) -> None:
        if nodeid:
            kind = warning_message.category.__name__
            self._test(nodeid)["warnings"].append([kind, str(warning_message.message), warning_message.filename])

    def _test(self, name: str) -> dict[str, Any]:
        fresh: dict[str, Any] = {"exception": None, "stdout": "", "stderr": "", "effects": dict.fromkeys(KINDS, ())}
        fresh.update(outcomes=[], warnings=[], logs=[])
        return self.tests.setdefault(name, fresh)

    def records(self, masked: str) -> list[dict[str, Any]]:
        """What happened, in the shape in which all cases are compared; `masked` is a path that only this side has."""

        def mask(text: str) -> str:
            return mask_addresses(text.replace(masked, "/tmp"))

        return [
            {
                **NOTHING,
                "case": name,
                "output": [("outcome", "str", "; ".join(kept["outcomes"]))],
                "warnings": [[mask(part) for part in line] for line in kept["warnings"]],
                "exception": kept["exception"] and [mask(part) for part in kept["exception"]],
                "stdout": mask(kept["stdout"]),
                "stderr": mask(kept["stderr"]),
                "logs": [[mask(part) for part in line] for line in kept["logs"]],
                **{kind: [mask(line) for line in lines] for kind, lines in kept["effects"].items()},
            }
            for name, kept in self.tests.items()
        ]
