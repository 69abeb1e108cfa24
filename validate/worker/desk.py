"""What the controller can ask of a worker: every method is a request, every return value is JSON."""

from __future__ import annotations

import importlib
import os
import platform
import re
import sys
from typing import Any

from .errors import UserError

OLDEST_PYTHON = (3, 9)
OLDEST_TORCH = (2, 6)


class Desk:
    """One side of a proof, or the clean process that compares. Rooms that need torch are imported when asked for."""

    def __init__(self) -> None:
        self.stages: Any = None
        self.initial: Any = None
        self.auditor: Any = None
        self.program: Any = None

    def hello(self) -> dict[str, Any]:
        """Who is there: refuses a python without torch, or with one that is too old."""
        if sys.version_info < OLDEST_PYTHON:
            raise UserError(
                f"{sys.executable} is Python {platform.python_version()}; 3.9 or newer is needed, "
                "and --python names another one",
                "torch",
            )
        try:
            torch = importlib.import_module("torch")
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise UserError(
                f"{sys.executable} has no torch ({reason}); --python names one that has", "torch"
            ) from error
        version = str(getattr(torch, "__version__", ""))
        if not version:
            raise UserError(f"{sys.executable} has no torch ({torch} is something else); --python names one", "torch")
        if release(version) < OLDEST_TORCH:
            raise UserError(
                f"{sys.executable} has torch {version}; 2.6 or newer is needed, and --python names another one", "torch"
            )
        return {"torch": version, "python": platform.python_version(), "platform": platform.platform()}

    def open(
        self,
        scenario: dict[str, Any],
        files: dict[str, Any],
        watched: list[str],
        settings: dict[str, Any],
        scratch: str,
        shared_cache: str,
        followed: dict[str, list[int]] | None = None,
    ) -> dict[str, Any]:
        """Lay the files over the tree, choose the device and read the scenario.

        What it needs itself is imported before the user's folders stand on sys.path.
        """
        from . import stages
        from .process import initial, overlay, ran
        from .pytests import stages as tests
        from .recording import listening

        listening.folder = scratch
        laid = overlay.lay_over(files, os.path.join(scratch, "overlay.json"))
        sys.path[:0] = scenario["imports"]
        watch = ran.Watch(watched, laid, followed)
        if scenario["kind"] == "pytest":
            self.stages = tests.TestStages(scenario, settings, scratch, watch)
        else:
            self.stages = stages.Stages(scenario, settings, scratch, watch, shared_cache)
        opened: dict[str, Any] = self.stages.open()
        self.initial = initial.Initial()
        return opened

    def run(self, stage: str, **given: Any) -> Any:
        """One stage of the scenario."""
        self.initial.restore()
        return getattr(self.stages, stage)(**given)

    def expect_audit(self, everything: bool) -> None:
        """Asked before `open`: what the user's modules compile when they are imported is audited, too."""
        from .lifetimes.auditor import Auditor

        self.auditor = Auditor(everything)
        self.auditor.install()

    def audit(self) -> dict[str, Any]:
        """The hazards of the scenario that was opened."""
        from .lifetimes.stage import audit

        self.initial.restore()
        self.program, found = audit(self.stages, self.auditor)
        return found

    def find_lines(self) -> list[dict[str, Any]]:
        """The hazards of the audit that was just made, with the lines that kept the outputs."""
        from .lifetimes.stage import find_lines

        self.initial.restore()
        return find_lines(self.program, self.auditor)

    def collect_errors(self, compiles_itself: bool) -> list[dict[str, Any]]:
        """What CUDA graphs themselves complain of; asked of a worker that expects no audit."""
        from .lifetimes.real import collect_errors
        from .lifetimes.stage import MODE

        self.initial.restore()
        return collect_errors(self.stages, compiles_itself, MODE)

    def compare(self, pairs: list[dict[str, Any]]) -> list[Any]:
        """Compare files of records, pair by pair. Asked of a process in which no user code has run."""
        from .recording.compare import compare_files

        return [compare_files(pair.pop("first"), pair.pop("second"), **pair) for pair in pairs]


def release(version: str) -> tuple[int, int]:
    """`2.13.0+cpu` as (2, 13)."""
    major, minor = re.findall(r"\d+", version + ".0")[:2]
    return int(major), int(minor)
