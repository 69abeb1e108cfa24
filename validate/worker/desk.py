"""What the controller can ask of a worker: every method is a request, every return value is JSON."""

from __future__ import annotations

import base64
import importlib
import platform
import sys
from typing import Any

from .errors import UserError

OLDEST_PYTHON = (3, 9)
OLDEST_TORCH = (2, 6)


class Desk:
    """One side of a proof, or the clean process that compares. Rooms that need torch are imported when asked for."""

    def __init__(self) -> None:
        self.stages: Any = None

    def hello(self) -> dict[str, Any]:
        """Who is there: refuses a python without torch, or with one that is too old."""
        if sys.version_info < OLDEST_PYTHON:
            raise UserError(f"{sys.executable} is Python {platform.python_version()}; 3.9 or newer is needed", "torch")
        try:
            torch = importlib.import_module("torch")
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise UserError(
                f"{sys.executable} has no torch ({reason}); --python names one that has", "torch"
            ) from error
        if release(torch.__version__) < OLDEST_TORCH:
            raise UserError(f"{sys.executable} has torch {torch.__version__}; 2.6 or newer is needed", "torch")
        return {"torch": torch.__version__, "python": platform.python_version(), "platform": platform.platform()}

    def open(
        self,
        scenario: dict[str, Any],
        files: dict[str, Any],
        watched: list[str],
        settings: dict[str, Any],
        scratch: str,
        shared_cache: str,
    ) -> dict[str, Any]:
        """Lay the files over the tree, choose the device and read the scenario."""
        from . import overlay, ran

        overlay.lay_over({path: None if data is None else base64.b64decode(data) for path, data in files.items()})
        sys.path[:0] = scenario["imports"]
        watch = ran.Watch(watched)
        if scenario["kind"] == "pytest":
            from .tests import TestStages

            self.stages = TestStages(scenario, settings, scratch, watch)
        else:
            from .stages import Stages

            self.stages = Stages(scenario, settings, scratch, watch, shared_cache)
        opened: dict[str, Any] = self.stages.open()
        return opened

    def run(self, stage: str, **given: Any) -> Any:
        """One stage of the scenario."""
        return getattr(self.stages, stage)(**given)

    def compare(self, pairs: list[dict[str, Any]]) -> list[Any]:
        """Compare files of records, pair by pair. Asked of a process in which no user code has run."""
        from .compare import compare_files

        return [compare_files(pair.pop("first"), pair.pop("second"), **pair) for pair in pairs]


def release(version: str) -> tuple[int, int]:
    """`2.13.0+cpu` as (2, 13)."""
    major, minor = version.split(".")[:2]
    return int(major), int("".join(digit for digit in minor if digit.isdigit()) or 0)
