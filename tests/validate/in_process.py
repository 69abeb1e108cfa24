"""Both sides of a scenario in this process, one after the other: without workers, for code that behaves itself."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fullgraph.validate.worker.process.ran import Watch
from fullgraph.validate.worker.recording.compare import compare_files
from fullgraph.validate.worker.stages import Stages

SETTINGS: dict[str, Any] = {"device": "cpu", "backend": "eager"}


@contextmanager
def opened(folder: Path, module: str, scenario: str, **settings: Any) -> Iterator[Stages]:
    """`module.py` and a scenario that imports it, read."""
    folder.mkdir(exist_ok=True)
    (folder / "module.py").write_text(textwrap.dedent(module))
    file = folder / "scenario.py"
    file.write_text(textwrap.dedent(scenario))
    path, argued = list(sys.path), {"kind": "file", "target": str(file), "capture": ""}
    sys.path.insert(0, str(folder))
    try:
        stages = Stages(argued, {**SETTINGS, "roots": [str(folder)], **settings}, str(folder), Watch([]), str(folder))
        stages.open()
        yield stages
    finally:
        sys.path[:] = path
        sys.modules.pop("module", None)


def record(folder: Path, module: str, scenario: str, stage: str = "eager", **settings: Any) -> dict[str, Any]:
    """What a stage tells of one side; its records are in `told["file"]`."""
    with opened(folder, module, scenario, **settings) as stages:
        given = {"random_as_in_eager": True} if stage == "compiled" else {}
        told: dict[str, Any] = getattr(stages, stage)(**given)
        return {**told, "exact": stages.source.exact, "rtol": stages.source.rtol, "atol": stages.source.atol}


def differ(folder: Path, before: str, after: str, scenario: str, **same: Any) -> list[str]:
    """`case 1: output` for everything in which the plain runs of two sides differ."""
    first, second = record(folder / "before", before, scenario), record(folder / "after", after, scenario)
    how = {"between": "eager", "exact": first["exact"], "rtol": first["rtol"], "atol": first["atol"], **same}
    found = compare_files(first["file"], second["file"], **how)
    return [f"{one['case']}: {one['path']}" for one in found["differences"]]
