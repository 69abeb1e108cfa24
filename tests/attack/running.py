"""Proves rewrites of the bank, each in a project of its own."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fullgraph.validate.model import Ruling, Settings, Sides, ValidateError
from fullgraph.validate.prove import prove
from fullgraph.validate.scenario import read_scenario
from tests.attack.bank import Rewrite
from tests.validate.proofs import CACHE


@dataclass(frozen=True)
class Answer:
    """What the validator said; a refusal to run at all is as good as undecided. No ruling: it gave a traceback."""

    ruling: Ruling | None
    sentence: str
    seconds: float = 0.0


def ask(row: Rewrite, folder: Path) -> Answer:
    folder.mkdir(exist_ok=True)
    for name, text in {**row.files, "module.py": row.before, "scenario.py": row.scenario}.items():
        (folder / name).write_text(text)
    sides = Sides(folder, {"module.py": row.before.encode()}, {"module.py": row.after.encode()})
    given = {
        "device": "cpu",
        "python": sys.executable,
        "backend": "aot_eager",
        "untimed": True,
        "time_limit": 90,
        **row.settings,
    }
    try:
        verdict = prove(read_scenario(str(folder / "scenario.py"), folder), sides, Settings(**given), cache=CACHE)
    except ValidateError as refused:
        is_told = "Traceback (most" not in str(refused)
        return Answer(Ruling.UNDECIDED if is_told else None, f"refused: {refused}")
    except Exception as error:
        return Answer(None, f"{type(error).__name__}: {error}")
    return Answer(verdict.ruling, verdict.sentence)
