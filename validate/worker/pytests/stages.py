"""The stages of one side when the scenario is a test: pytest runs it in this process, and each test is a case."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import torch

from .. import compiling
from ..devices import device, syncs
from ..errors import UserError
from ..graphs import counting
from ..process.ran import Watch
from ..recording.listening import hear_logs
from ..recording.record import store
from ..subject import seed_all
from .plugin import Seen

QUIET = (
    "-q",
    "--no-header",
    "--assert=plain",  # rewritten assertions would read test files from the disk, past the overlay
    "--capture=fd",
    "-o",
    "addopts=",  # the project's own may ask for several processes
    *(part for name in ("cacheprovider", "faulthandler", "randomly") for part in ("-p", f"no:{name}")),
)
WELL = (0, 1, 5)
"""Exit codes of pytest: all passed, some failed, none found. Others say that it was stopped or did not even begin."""


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
        if not seen.collected:
            raise UserError(f"pytest finds no test in {self.target}: {seen.last_words}")
        notices = ["the tests choose their devices themselves; what they compile is counted, the rest runs as it is"]
        return {
            "cases": seen.collected,
            "environment": {**self.device.describe(), "is_accelerator": torch.accelerator.is_available()},
            "exact": True,
            "rtol": None,
            "atol": None,
            "notices": notices,
        }

    def eager(self, name: str = "eager") -> dict[str, Any]:
        """Run the tests and keep what each one did."""
        self.device.reset_peak()
        seen = self.run_tests()
        peak = self.device.peak_bytes()
        records = seen.records(masked=self.temporary)
        stored = store(records, os.path.join(self.scratch, f"{name}.pt"))
        return {**stored, "skipped": seen.skipped, "peak_bytes": peak}

    def syncs(self) -> dict[str, Any]:
        with compiling.eagerly():
            with self.watch.on():
                self.run_tests()
            counted = syncs.count_syncs(self.run_tests, self.device, self.settings["roots"])
        return {**counted, **self.watch.as_json()}

    def graphs(self) -> dict[str, Any]:
        torch._dynamo.reset()
        with counting.watching() as seen:
            self.run_tests()
        return {**seen.as_json(), "fullgraph": None, "fullgraph_reason": ""}

    def prepare(self, kind: str, leave_out: list[str], fresh_arguments: bool, compiles_itself: bool) -> dict[str, Any]:
        """All of a run takes time, although only that of the tests counts."""
        started = perf_counter()
        self.run_tests()
        return {"seconds": perf_counter() - started, "around": 0.0}

    def block(self, kind: str, passes: int) -> float:
        return sum(self.run_tests().seconds for _ in range(passes)) / passes

    @property
    def temporary(self) -> str:
        """Where the tests find their `tmp_path`."""
        return os.path.join(self.scratch, "tmp")

    def run_tests(self, *options: str, also: Sequence[Any] = ()) -> Seen:
        """Run pytest; `also` are plugins beside the one that keeps what the tests did."""
        try:
            import pytest
        except ImportError as error:
            raise UserError(f"no pytest beside this torch ({error}); install it there, or give a file") from error
        seen, said = Seen(), io.StringIO()
        seed_all(0)
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), hear_logs() as logged:
            seen.logged = logged["logs"]
            code = pytest.main([self.target, *QUIET, f"--basetemp={self.temporary}", *options], plugins=[seen, *also])
        seen.said = said.getvalue()
        if seen.broken:
            raise UserError(f"{self.target} does not import: {seen.broken[0]}", "import")
        if int(code) not in WELL:
            raise UserError(f"pytest cannot run {self.target}: {seen.last_words}")
        return seen
