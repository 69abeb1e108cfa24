"""What came of each pattern, kept by the bytes that it rests on: texts, calls, torch, Python, exam and validator.

`fixtures/patterns/examined.json` is written by `make measure`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fullgraph.validate.key import fingerprint, key_of
from tests.breaks.comparing import compare_plain
from tests.breaks.exam import Graphs, Result, examine_rewritten, record_compiled, refusals
from tests.breaks.patterns import PATTERNS, Pattern
from tests.breaks.programs import PLAIN
from tests.breaks.reached import unreached
from tests.breaks.recording import record_program
from tests.breaks.rewriting import Rewritten, break_codemods, rewrite

FILE = PATTERNS / "examined.json"


@dataclass(frozen=True)
class Outcome:
    """The exam of one pattern. `unsteady`: in what two plain runs differ. `refused`: where torch says it breaks."""

    end: str
    is_whole: bool
    breaks: int
    by: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain values, without what is empty."""
        return {name: value for name, value in json.loads(json.dumps(asdict(self))).items() if value != []}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Outcome:
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
        }
        return cls(**given)


@dataclass(frozen=True)
class Exam:
    """A pattern, and what the codemods make of it: by what is safe, and by all they would do."""

    pattern: Pattern
    backend: str
    safe: Rewritten
    bold: Rewritten

    @property
    def name(self) -> str:
        return self.pattern.name if self.backend == "eager" else f"{self.pattern.name} {self.backend}"

    @property
    def key(self) -> str:
        before, given = self.pattern.program(), self.pattern.expected
        told = {
            "torch": version("torch").partition("+")[0],
            "python": [*sys.version_info[:2]],
            "backend": self.backend,
            "exam": fingerprint(Path(__file__).parent),
            "bold": {path: data.decode() for path, data in self.bold.files.items()},
            "end": given["end"],
        }
        calls = json.dumps([given["calls"], given.get("entry", "run")]).encode()
        return key_of((before.files, self.safe.files), calls, told)

    def run(self, folder: Path) -> Outcome:
        """By what is safe; where that is not enough, by what says when it is not."""
        program = self.pattern.program()
        result = examine_rewritten(program, self.safe, folder, self.backend)
        if self.pattern.end == "repaired" and end_of(result) != "repaired":
            result = examine_rewritten(program, self.bold, folder, self.backend)
        before, after = result.before_graphs, result.after_graphs
        if before is None:
            before = record_compiled(program, folder, self.backend)[1]
        is_whole = after is not None and after.is_whole
        return Outcome(
            end_of(result),
            is_whole,
            before.breaks,
            result.rewritten.by,
            result.differences,
            tuple(unreached(program, folder)),
            tuple(compare_plain(*(record_program(program, folder, PLAIN) for _ in range(2)))),
            tuple(refusals(result.after, folder)) if is_whole else (),
        )


def end_of(result: Result) -> str:
    """Changed is not yet repaired: fewer breaks are."""
    before, after = result.before_graphs, result.after_graphs
    if before is None or after is None:
        return "declined"
    return "repaired" if is_better(before, after) else "changed for nothing"


def is_better(before: Graphs, after: Graphs) -> bool:
    return after.graphs > 0 and after.breaks < before.breaks


def exam_of(pattern: Pattern, backend: str = "eager") -> Exam:
    files, codemods = pattern.program().files, break_codemods()
    return Exam(pattern, backend, rewrite(files, codemods), rewrite(files, codemods, unsafe=True))


@cache
def known() -> Mapping[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found


def store(rows: Mapping[str, dict[str, Any]]) -> None:
    FILE.write_text(json.dumps(dict(sorted(rows.items())), indent=1) + "\n")
