"""From a training run to a proven speed-up in a minute: observe, rank, review, prove, measure, undo.

Works on a copy of `fixtures/quick` in a scratch folder. Every command that is shown is run, and every number is
measured in this run, on the CPU. The exit code is 0 only if all criteria of the plan are reached. `demo_plan.py` is the
whole plan on a bigger project. The review is answered on a pseudo terminal, which Windows has only in WSL.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from demo_gain import Sides, criteria, side_of, table
from demo_project import FULLGRAPH, answer, changed, conclude, copy_project, snapshot
from demo_review import review

EPOCHS = Path(__file__).with_name("demo_epochs.py")
OBSERVED = ".fullgraph/observed.json"
SCENARIOS = "scenarios/policy.py scenarios/epoch.py"
CHOSEN = "batch_host_reads,select_without_branch"
TURNS = 24
FINDINGS_LEFT = 1
WIDTH = min(100, shutil.get_terminal_size((100, 24)).columns)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="fullgraph-demo-") as scratch:
        return Demo(Path(scratch)).show()


class Demo:
    """Six steps on a copy of the project. A second copy stays as it was, to be timed."""

    def __init__(self, scratch: Path) -> None:
        self.started = time.monotonic()
        self.project = copy_project("quick", scratch / "sprout")
        self.untouched = copy_project("quick", scratch / "before")
        self.compile = " ".join(["--compile", *backend()])
        self.environment = {
            **os.environ,
            "PATH": f"{FULLGRAPH.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": "src",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TORCHINDUCTOR_CACHE_DIR": str(scratch / "inductor"),
            **({} if sys.stdout.isatty() else {"NO_COLOR": "1"}),
        }

    def show(self) -> int:
        original = snapshot(self.project)
        print("The project is fixtures/quick, a small PPO training. All commands run in a copy, with PYTHONPATH=src.")

        self.head("1 of 6: Observe", "Train for one epoch as it is, and watch torch.compile and the host reads.")
        before = self.observe(OBSERVED)

        self.head("2 of 6: Rank", "Find what can be rewritten. What cost most in that run comes first.")
        self.run(f"fullgraph check src --observed {OBSERVED}")

        self.head("3 of 6: Review", "Read the two that cost most, and answer y to both. Only then files are written.")
        self.review(f"fullgraph fix src --observed {OBSERVED} --select {CHOSEN}", "yy")
        written = changed(original, snapshot(self.project))

        self.head(
            "4 of 6: Prove",
            "Run both versions side by side and compare all that they do. Of each verdict, its sentence:",
        )
        policy, epoch = self.prove(f"fullgraph prove {SCENARIOS} --untimed --backend aot_eager")

        self.head("5 of 6: Measure", "Train again under observation, then time epochs before and after in turns.")
        after = self.observe(".fullgraph/after.json")
        epochs = self.time_epochs()

        self.head("6 of 6: Undo", "Take both rewrites back, and compare every byte of the project.")
        self.run("fullgraph undo")
        left = changed(original, snapshot(self.project))

        self.head("What it gained", "Measured in this run, on this CPU.")
        sides = Sides(side_of(policy["before"], before, epochs[0]), side_of(policy["after"], after, epochs[1]))
        print(table(sides, WIDTH), end="\n\n")
        return conclude(
            {
                f"{len(written)} files were rewritten, and undo gave every byte back": len(written) == 2 and not left,
                "both scenarios say proven": policy["ruling"] == epoch["ruling"] == "proven",
                **criteria(sides),
            }
        )

    def head(self, title: str, text: str) -> None:
        told = f"{title} (after {time.monotonic() - self.started:.0f} s)"
        print(f"\n== {told} {'=' * (WIDTH - len(told) - 4)}\n{text}\n", flush=True)

    def run(self, command: str) -> None:
        print(f"$ {command}", flush=True)
        done = subprocess.run(shlex.split(command), cwd=self.project, env=self.environment, check=False)
        if done.returncode not in (0, FINDINGS_LEFT):
            sys.exit(f"this ended with exit code {done.returncode}")

    def observe(self, report: str) -> dict[str, Any]:
        out = "" if report == OBSERVED else f"--out {report} "
        self.run(f"fullgraph observe {out}-- python -m sprout.train --epochs 1 {self.compile}")
        told: dict[str, Any] = json.loads((self.project / report).read_text())
        return told

    def review(self, command: str, keys: str) -> None:
        print(f"$ {command}", flush=True)
        review(shlex.split(command), keys, self.project, self.environment, WIDTH)

    def prove(self, command: str) -> list[dict[str, Any]]:
        """Of each verdict its sentence is shown; all of it would be more than a page."""
        print(f"$ {command}", flush=True)
        verdicts: list[dict[str, Any]] = answer(self.project, *shlex.split(command)[1:])["verdicts"]
        for name, verdict in zip(SCENARIOS.split(), verdicts, strict=True):
            print(f"{verdict['ruling']}: {name}\n    {verdict['sentence']}", flush=True)
        return verdicts

    def time_epochs(self) -> tuple[list[Any], list[Any]]:
        """What each side answers to each epoch. Its time is CPU time, which a busy machine does not change."""
        print(f"\nTiming {TURNS} epochs before and {TURNS} after, in turns (CPU time) ...", flush=True)
        sides = [self.start(self.untouched), self.start(self.project)]
        ask(sides)  # the first epoch compiles
        told: tuple[list[Any], list[Any]] = [], []
        for turn in range(TURNS):
            for number in (0, 1) if turn % 2 == 0 else (1, 0):
                told[number].extend(ask([sides[number]]))
        for side in sides:
            side.communicate()
        return told

    def start(self, folder: Path) -> subprocess.Popen[str]:
        command = [sys.executable, str(EPOCHS), *shlex.split(self.compile)]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, cwd=folder, env=self.environment, **pipes)


def ask(sides: Sequence[subprocess.Popen[str]]) -> list[Any]:
    """An epoch of each, at the same time."""
    for side in sides:
        print(file=side.stdin, flush=True)
    told = [side.stdout.readline() for side in sides if side.stdout]
    return [json.loads(line) if line else sys.exit("the training failed") for line in told]


def backend() -> list[str]:
    """Inductor needs a C++ compiler on a CPU; without one the graphs stay and their operators run one by one."""
    compiler = os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")
    return [] if shutil.which(compiler) else ["--compile-backend", "aot_eager"]


if __name__ == "__main__":
    sys.exit(main())
