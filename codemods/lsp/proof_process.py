"""One proof in a process of its own: the request on standard input, a line of JSON for each stage and for the verdict.

The server can end it at any time, and it ends with the server: then the workers end too, and nothing is left behind.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from fullgraph.validate.model import Declared, Settings, Sides, ValidateError, Verdict


@dataclass(frozen=True)
class ProofTask:
    """What to run on which sides."""

    scenario: str
    sides: Sides
    settings: Settings
    declared: Sequence[Declared] = ()


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else prints must not be taken for an answer
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    task: ProofTask = pickle.load(sys.stdin.buffer)
    threading.Thread(target=end_with_the_server, daemon=True).start()
    try:
        tell(answers, verdict=summary(run(task, answers)))
    except ValidateError as error:
        tell(answers, verdict={"ruling": "undecided", "sentence": str(error), "notices": []})


def end_with_the_server() -> None:
    """Wait until standard input is closed: nobody is there any more to be told of a verdict."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def run(task: ProofTask, answers: TextIO) -> Verdict:
    from platformdirs import user_cache_path

    from fullgraph.codemods.source_roots import import_folders
    from fullgraph.validate.prove import prove
    from fullgraph.validate.scenario import read_scenario

    def progress(stage: str, detail: str) -> None:
        tell(answers, stage=stage, detail=detail)

    scenario = read_scenario(task.scenario, task.sides.root, import_folders(task.sides.root))
    cache = user_cache_path("fullgraph") / "inductor"
    return prove(scenario, task.sides, task.settings, declared=task.declared, progress=progress, cache=cache)


def summary(verdict: Verdict) -> dict[str, Any]:
    return {
        "ruling": verdict.ruling.value,
        "sentence": verdict.sentence,
        "notices": list(verdict.notices),
        "torch": str(verdict.environment.get("torch", "")),
        "device": str(verdict.environment.get("device", "")),
    }


def tell(answers: TextIO, **said: Any) -> None:
    answers.write(json.dumps(said) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
