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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo_project import FULLGRAPH, answer, changed, conclude, copy_project, snapshot
from demo_review import review

from fullgraph.codemods.ui.layout import Entry, table_lines
from fullgraph.validate.judge import BETTER, compare_speed
from fullgraph.validate.model import Ratio, count_breaks
from fullgraph.validate.statistics import ratio_of

EPOCHS = Path(__file__).with_name("demo_epochs.py")
POLICY, EPOCH = "scenarios/policy.py", "scenarios/epoch.py"
CHOSEN = "batch_host_reads,select_without_branch"
TURNS = 24
FINDINGS_LEFT = 1
WIDTH = min(100, shutil.get_terminal_size((100, 24)).columns)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="fullgraph-demo-") as scratch:
        return Demo(Path(scratch)).show()


@dataclass(frozen=True)
class Epochs:
    """What the same epochs cost before and after, and whether they learned the same."""

    milliseconds: tuple[float, float]
    ratio: Ratio
    losses: tuple[list[Any], list[Any]]


class Demo:
    """The six steps on one copy of the project; another copy stays as it was."""

    def __init__(self, scratch: Path) -> None:
        self.project = copy_project("quick", scratch / "sprout")
        self.untouched = copy_project("quick", scratch / "before")
        self.train = " ".join(["--compile", *backend()])
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

        step(1, "Observe", "Train for one epoch as it is, and watch what torch.compile and the host do.")
        before = self.observe("observed")

        step(2, "Rank", "Find what can be rewritten; what cost most in that run comes first.")
        self.run("fullgraph check src --observed .fullgraph/observed.json")

        step(3, "Review", "Look at the two that cost most; y to both. Nothing is written before the last answer.")
        self.review(f"fullgraph fix src --observed .fullgraph/observed.json --select {CHOSEN}", "yy")
        written = changed(original, snapshot(self.project))

        step(4, "Prove", "Run the files before and after side by side: same values, fewer breaks, fewer reads?")
        verdicts = self.prove(f"fullgraph prove {POLICY} {EPOCH} --untimed --backend aot_eager")

        step(5, "Gain", "Train again under observation, then time epochs before and after in turns.")
        after = self.observe("after")
        epochs = self.time_epochs()

        step(6, "Undo", "Take it back, and compare every byte of the project.")
        self.run("fullgraph undo")
        left = changed(original, snapshot(self.project))

        print_table(before, after, verdicts, epochs)
        return conclude(criteria(before, after, verdicts, epochs, written, left))

    # What is run

    def run(self, command: str) -> None:
        print(f"$ {command}", flush=True)
        done = subprocess.run(shlex.split(command), cwd=self.project, env=self.environment, check=False)
        if done.returncode not in (0, FINDINGS_LEFT):
            sys.exit(f"this ended with exit code {done.returncode}")

    def observe(self, name: str) -> dict[str, Any]:
        out = "" if name == "observed" else f"--out .fullgraph/{name}.json "
        self.run(f"fullgraph observe {out}-- python -m sprout.train --epochs 1 {self.train}")
        report: dict[str, Any] = json.loads((self.project / ".fullgraph" / f"{name}.json").read_text())
        return report

    def review(self, command: str, keys: str) -> None:
        print(f"$ {command}", flush=True)
        review(shlex.split(command), keys, self.project, self.environment, WIDTH)

    def prove(self, command: str) -> dict[str, Any]:
        """The verdict of each scenario. All of a verdict is more than a page, so its sentence is shown."""
        print(f"$ {command}", flush=True)
        verdicts = answer(self.project, *shlex.split(command)[1:])["verdicts"]
        for name, verdict in zip((POLICY, EPOCH), verdicts, strict=True):
            print(f"{verdict['ruling']}: {name}\n    {verdict['sentence']}")
        return dict(zip((POLICY, EPOCH), verdicts, strict=True))

    def time_epochs(self) -> Epochs:
        """One epoch of each side in turns. CPU time, because a busy machine does not change it."""
        print(f"Timing: {TURNS} epochs before and {TURNS} after, in turns, CPU time of one thread", flush=True)
        sides = [self.start(self.untouched), self.start(self.project)]
        ask_all(sides)  # the first epoch compiles
        told: tuple[list[Any], list[Any]] = [], []
        for turn in range(TURNS):
            for number in (0, 1) if turn % 2 == 0 else (1, 0):
                told[number].append(ask_all([sides[number]])[0])
        for side in sides:
            side.communicate()
        seconds = [[one[0] for one in side] for side in told]
        middle = [1000 * sorted(side)[len(side) // 2] for side in seconds]
        losses = [one[1] for one in told[0]], [one[1] for one in told[1]]
        return Epochs((middle[0], middle[1]), ratio_of(*seconds), losses)

    def start(self, folder: Path) -> subprocess.Popen[str]:
        command = [sys.executable, str(EPOCHS), *shlex.split(self.train)]
        return subprocess.Popen(
            command, cwd=folder, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )


def ask_all(sides: Sequence[subprocess.Popen[str]]) -> list[Any]:
    """An epoch of each, at the same time."""
    for side in sides:
        print(file=side.stdin, flush=True)
    told = [side.stdout.readline() for side in sides if side.stdout]
    return [json.loads(line) if line else sys.exit("the training failed") for line in told]


def backend() -> list[str]:
    """Inductor needs a C++ compiler on a CPU; without one the graphs stay and their operators run one by one."""
    compiler = os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")
    return [] if shutil.which(compiler) else ["--compile-backend", "aot_eager"]


# What is shown


started = time.monotonic()


def step(number: int, name: str, text: str) -> None:
    head = f"{number} of 6: {name} ({time.monotonic() - started:.0f} s)"
    print(f"\n== {head} {'=' * (WIDTH - len(head) - 4)}\n{text}\n", flush=True)


def breaks_of(report: dict[str, Any]) -> int:
    return sum(count_breaks(entry["breaks"]) for entry in report["entries"])


def reads_of(report: dict[str, Any]) -> int:
    return sum(int(one["count"]) for one in report["reads"])


def print_table(before: dict[str, Any], after: dict[str, Any], verdicts: dict[str, Any], epochs: Epochs) -> None:
    policy, reads, ratio = verdicts[POLICY], (reads_of(before), reads_of(after)), epochs.ratio
    compiles = ["yes" if policy[side]["fullgraph"] else "no" for side in ("before", "after")]
    graphs = [str(len(policy[side]["graphs"])) for side in ("before", "after")]
    told = [f"{side[-1][1]:.8f}" for side in epochs.losses]
    rows = [
        ("", "before", "after", "gain"),
        ("policy forward compiles with fullgraph=True", *compiles, " graphs become ".join(graphs)),
        ("graph breaks in training", str(breaks_of(before)), str(breaks_of(after)), "no graph breaks"),
        ("host reads per epoch", str(reads[0]), str(reads[1]), f"{reads[0] / max(reads[1], 1):.1f} times fewer"),
        (
            "an epoch, CPU time",
            *(f"{one:.0f} ms" for one in epochs.milliseconds),
            f"{ratio.ratio:.2f}x [{ratio.low:.2f}, {ratio.high:.2f}]",
        ),
        (f"policy loss after {TURNS + 1} epochs", *told, "digit for digit"),
    ]
    print(f"\n== What it gained {'=' * (WIDTH - 18)}\n")
    print("\n".join(table_lines([Entry(row) for row in rows], color=False, width=WIDTH)), end="\n\n")


def criteria(
    before: dict[str, Any],
    after: dict[str, Any],
    verdicts: dict[str, Any],
    epochs: Epochs,
    written: list[str],
    left: list[str],
) -> dict[str, bool]:
    """What the plan asks for. Nothing here is a matter of wording: each is a comparison of what was measured."""
    policy = verdicts[POLICY]
    return {
        "two rewrites in two files, both scenarios proven": len(written) == 2
        and all(one["ruling"] == "proven" for one in verdicts.values()),
        "the policy's forward compiles with fullgraph=True: no > yes": not policy["before"]["fullgraph"]
        and bool(policy["after"]["fullgraph"]),
        "training had graph breaks, and has none now": breaks_of(before) > 0 == breaks_of(after),
        "an epoch reads fewer values from the device": reads_of(before) > reads_of(after),
        "an epoch is faster beyond its interval": compare_speed("eager", "eager", epochs.ratio).tendency == BETTER,
        "returns and losses are equal, digit for digit": epochs.losses[0] == epochs.losses[1],
        "undo gave every byte back": not left,
    }


if __name__ == "__main__":
    sys.exit(main())
