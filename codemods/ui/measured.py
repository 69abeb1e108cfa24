"""What a codemod's claim comes to: its fixtures with a scenario, proven here and now or as they were proven last."""

from __future__ import annotations

import json
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.project import Project
from fullgraph.codemods.registry import codemod_named
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.ui.commands import UNDECIDED
from fullgraph.codemods.ui.explain import fixtures_folder, side
from fullgraph.codemods.ui.failure import FailedError
from fullgraph.codemods.ui.proof import declared_by
from fullgraph.codemods.ui.stage_line import StageLine
from fullgraph.codemods.ui.terminal import wrap
from fullgraph.validate.key import key_of
from fullgraph.validate.model import Declared, Settings, Sides, ValidateError, Verdict
from fullgraph.validate.pair import Progress
from fullgraph.validate.prove import prove
from fullgraph.validate.scenario import read_scenario

ROW = "measured.json"
COUNTED = ("equivalence", "breaks", "fullgraph", "recompiles", "host reads", "moves")
TIMED = ("compiled", "eager", "cold start")


def proven_cases(name: str) -> list[Path]:
    """The fixtures of a codemod that have a scenario."""
    return sorted(file.parent for file in (fixtures_folder() / name).glob("*/scenario.py"))


def wanted_of(case: Path) -> dict[str, Any]:
    """What the proof of a fixture must come to, and how it is run."""
    wanted: dict[str, Any] = settings_of(case)["proof"]
    return wanted


def settings_of(case: Path) -> dict[str, Any]:
    return tomllib.loads((case / "case.toml").read_text())


def codemod_of(case: Path) -> Codemod:
    """The codemod of a fixture, with the options that the fixture sets."""
    given = settings_of(case)
    kind = codemod_named(case.parent.name)
    return kind(given.get("options"), tuple(given.get("symbols", ())), *([given["tests"]] if "tests" in given else []))


@dataclass(frozen=True)
class Question:
    """All that the proof of a fixture rests on."""

    before: dict[str, bytes]
    after: dict[str, bytes]
    scenario: bytes
    settings: Settings
    declared: tuple[Declared, ...]

    def key(self, torch: str) -> str:
        """The same for the same answer. `torch` is its version; which build of it does not count."""
        told = {
            "torch": torch.partition("+")[0],
            "python": [*sys.version_info[:2]],
            "settings": {**asdict(self.settings), "python": ""},
            "declared": [asdict(one) for one in self.declared],
        }
        return key_of((self.before, self.after), self.scenario, told)


def question_of(case: Path, codemod: Codemod, python: str = "", *, untimed: bool = True) -> Question:
    """What is asked of a fixture; its findings say what may change on purpose."""
    wanted = wanted_of(case)
    device, backend = wanted.get("device", "cpu"), wanted.get("backend", "aot_eager")
    settings = Settings(device=device, backend=backend, python=python, repeat=12, untimed=untimed)
    before = side(case, "before")
    project = Project(case / "before", before, before)
    findings = [finding for path in before for finding in find(project, path, [codemod]).findings]
    after = {**before, **side(case, "after")}
    declared = tuple(declared_by([codemod], findings))
    return Question(before, after, (case / "scenario.py").read_bytes(), settings, declared)


def prove_question(question: Question, cache: Path, progress: Progress = lambda stage, detail: None) -> Verdict:
    """The fixture as a project on disk, its scenario run on both sides."""
    with tempfile.TemporaryDirectory(prefix="fullgraph-case-") as folder:
        root = Path(folder).resolve()
        for path, data in {**question.before, "scenario.py": question.scenario}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        scenario = read_scenario(str(root / "scenario.py"), root)
        sides = Sides(root, question.before, question.after)
        return prove(scenario, sides, question.settings, declared=question.declared, progress=progress, cache=cache)


def measure_now(name: str, python: str) -> int:
    """Prove a codemod's fixtures on the user's torch; a line each."""
    from platformdirs import user_cache_path

    line = StageLine()
    try:
        for case in proven_cases(name):
            question = question_of(case, codemod_of(case), python, untimed=False)
            verdict = prove_question(question, user_cache_path("fullgraph") / "inductor", line)
            line.finish()
            click.echo(wrap(f"Measured: {row_text(case.name, row_of(verdict, COUNTED + TIMED))}"))
    except ValidateError as error:
        line.finish()
        raise FailedError(f"undecided: {error}", UNDECIDED) from None
    return 0


def row_of(verdict: Verdict, names: tuple[str, ...] = COUNTED) -> dict[str, Any]:
    """What is kept of a verdict: the ruling and counts, which hold on every machine if no times were taken."""
    return {
        "torch": verdict.environment["torch"],
        "device": verdict.environment["device"],
        "ruling": verdict.ruling.value,
        "better": sorted(reason.name for reason in verdict.reasons if reason.tendency == "better"),
        "numbers": {reason.name: reason.text for reason in verdict.reasons if reason.name in names},
        "guard_us": [round(side.guard_us or 0, 1) for side in (verdict.before, verdict.after)],
        "notices": [notice for notice in verdict.notices if notice.startswith("allowed to change")],
    }


def stored_rows(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each fixture with the row that was measured last."""
    for case in proven_cases(name):
        if (case / ROW).is_file():
            yield case.name, json.loads((case / ROW).read_text())


def measured_text(name: str) -> list[str]:
    """A line for each fixture: on which torch, and what came out."""
    return [row_text(case, row) for case, row in stored_rows(name)]


def row_text(case: str, row: dict[str, Any]) -> str:
    return f"torch {row['torch']}, {row['device']}, fixture {case}: {row['ruling']}: {numbers_text(row)}"


def numbers_text(row: dict[str, Any]) -> str:
    guards = ["guard time {} > {} us".format(*row["guard_us"])] if any(row["guard_us"]) else []
    return "; ".join([*row["numbers"].values(), *guards, *row["notices"]])
