"""The stages of one side when the scenario is a test: pytest runs it in this process, and each test is a case."""

from __future__ import annotations

import os
from typing import Any

import torch

from . import device, graphs, syncs
from .errors import UserError
from .ran import Watch

QUIET = ("-q", "--no-header", "--assert=plain", "-p", "no:cacheprovider", "-o", "addopts=", "--capture=fd")
"""Rewritten assertions would read test files from the disk, past the overlay; the project's own options may ask for
several processes."""


class TestStages:
    """A test, or a file of tests, in one process. What the tests compile themselves is watched; nothing else is."""

    __test__ = False

    def __init__(self, scenario: dict[str, Any], settings: dict[str, Any], scratch: str, watch: Watch) -> None:
        self.target = scenario["target"]
        self.settings = settings
        self.scratch = scratch
        self.watch = watch
        try:
            self.device = device.choose("cpu" if settings["device"] == "auto" else settings["device"])
        except device.NoDevice as error:
            raise UserError(str(error), "device") from error

    def open(self) -> dict[str, Any]:
        with self.watch.on():
            seen = self.run_tests("--collect-only")
        if seen.broken:
            raise UserError(f"{self.target} does not import: {seen.broken[0]}", "import")
        if not seen.collected:
            raise UserError(f"pytest finds no test in {self.target}")
        notices = ["the tests choose their devices themselves; what they compile is counted, the rest runs as it is"]
        return {
            "cases": seen.collected,
            "environment": self.device.describe(),
            "exact": True,
            "rtol": None,
            "atol": None,
            "notices": notices,
        }

    def eager(self) -> dict[str, Any]:
        """Run the tests and keep what each one did."""
        self.device.reset_peak()
        records = self.run_tests().records()
        peak = self.device.peak_bytes()
        file = os.path.join(self.scratch, "eager.pt")
        torch.save(records, file)
        failed = [kept for kept in records if kept["exception"]]
        return {
            "file": file,
            "raised": [kept["case"] for kept in failed],
            "exceptions": [" ".join(kept["exception"][:2]) for kept in failed],
            "mutated": False,
            "random": False,
            "opaque": [],
            "peak_bytes": peak,
        }

    def syncs(self) -> dict[str, Any]:
        with self.watch.on():
            self.run_tests()
        counted = syncs.count_syncs(self.run_tests, self.device, self.settings["roots"])
        return {**counted, "ran": self.watch.as_json(), "stale": sorted(self.watch.stale)}

    def graphs(self) -> dict[str, Any]:
        torch._dynamo.reset()
        with graphs.watching() as seen:
            self.run_tests()
        return {**seen.as_json(), "fullgraph": None, "fullgraph_reason": ""}

    def prepare(
        self, kind: str, leave_out: list[str], fresh_arguments: bool, compiles_itself: bool
    ) -> dict[str, Any]:
        return {"seconds": self.run_tests().seconds, "around": 0.0}

    def block(self, kind: str, passes: int) -> float:
        return sum(self.run_tests().seconds for _ in range(passes)) / passes

    def run_tests(self, *options: str) -> Seen:
        try:
            import pytest
        except ImportError as error:
            raise UserError(f"no pytest beside this torch ({error}); install it there, or give a file") from error
        seen = Seen()
        pytest.main([self.target, *QUIET, *options], plugins=[seen])
        return seen


class Seen:
    """A pytest plugin that keeps what every test did."""

    def __init__(self) -> None:
        self.collected: list[str] = []
        self.broken: list[str] = []
        self.seconds = 0.0
        self.tests: dict[str, dict[str, Any]] = {}

    def pytest_collection_finish(self, session: Any) -> None:
        self.collected = [item.nodeid for item in session.items]

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            lines = [line for line in str(report.longrepr).splitlines() if line.startswith("E ")]
            self.broken.append((lines or str(report.longrepr).splitlines() or ["?"])[-1].lstrip("E "))

    def pytest_runtest_logreport(self, report: Any) -> None:
        kept = self._test(report.nodeid)
        kept["outcomes"].append(f"{report.when} {report.outcome}")
        if report.when == "call":
            self.seconds += report.duration
            kept["stdout"] = report.capstdout
        if report.failed and not kept["exception"]:
            crash = getattr(report.longrepr, "reprcrash", None)
            text = crash.message if crash else str(report.longrepr)
            kept["exception"] = [report.when, text, str(report.longrepr)]

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str, location: Any) -> None:
        if nodeid:
            kind = warning_message.category.__name__
            self._test(nodeid)["warnings"].append([kind, str(warning_message.message), warning_message.filename])

    def _test(self, name: str) -> dict[str, Any]:
        fresh: dict[str, Any] = {"outcomes": [], "exception": None, "stdout": "", "warnings": []}
        return self.tests.setdefault(name, fresh)

    def records(self) -> list[dict[str, Any]]:
        """What happened, in the shape in which all cases are compared."""
        nothing: dict[str, list[Any]] = {
            "inputs": [],
            "args": [],
            "state": [],
            "grads": [],
            "rng": [],
            "logs": [],
            "opaque": [],
        }
        return [
            {
                **nothing,
                "case": name,
                "output": [("outcome", "str", "; ".join(kept["outcomes"]))],
                "warnings": kept["warnings"],
                "exception": kept["exception"],
                "stdout": kept["stdout"],
                "mutated": False,
                "random": False,
            }
            for name, kept in self.tests.items()
        ]
