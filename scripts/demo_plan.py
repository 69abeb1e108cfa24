"""The whole plan on the bundled training project: find, diff, prove, write, train again, undo; one table at the end.

Works on a copy in a scratch folder. Trains before and after, because the rewrite must not change what is learned.
`DEVICE=cuda` runs proofs and trainings there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from demo_project import FULLGRAPH, answer, changed, conclude, copy_project, snapshot

from fullgraph.codemods.registry import bundled
from fullgraph.codemods.ui.layout import Entry, table_lines
from fullgraph.validate.model import count_breaks

DEVICE = os.environ.get("DEVICE") or "cpu"
TRAIN = [sys.executable, "-W", "ignore", "-m", "seedling.train", "--epochs", "2", "--seed", "0", "--device", DEVICE]
EPOCH, POLICY = "scenarios/epoch.py", "scenarios/policy.py"
SCENARIOS = {
    "allocate_on_device": ("scenarios/buffer.py", "second"),
    "disable_compile": ("scenarios/telemetry.py", ""),
    "hoist_invariant_construction": (POLICY, ""),
    "isolate_telemetry": ("scenarios/verbose.py", ""),
    "warn_on_device_migration": ("scenarios/migration.py", "second"),
}
"""What proves a codemod, where an epoch does not show it; and on which device, where it takes two to show."""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="fullgraph-demo-") as scratch:
        return show_all(copy_project("demo", Path(scratch) / "seedling"))


def show_all(project: Path) -> int:
    original = snapshot(project)

    heading("Train for two epochs, before")
    before = train(project)

    heading("Find: fullgraph check src")
    run(project, "check", "src")

    heading("Diff: fullgraph fix src --diff")
    run(project, "fix", "src", "--diff", "--quiet")

    heading("Prove each codemod alone: fullgraph fix src --select NAME --unsafe --prove SCENARIO --diff")
    trials = [try_one(project, name) for name, kind in sorted(bundled().items()) if not kind.on_request]

    heading("Write all of it: fullgraph fix src --yes --unsafe")
    run(project, "fix", "src", "--yes", "--unsafe")
    rewritten = changed(original, snapshot(project))

    heading("Train for two epochs, after")
    after = train(project)

    heading("Prove all of it: fullgraph prove --run 1 scenarios/epoch.py scenarios/policy.py")
    whole = {name: prove(project, name) for name in (EPOCH, POLICY)}

    heading("What was written, and back: fullgraph log, fullgraph undo --all")
    run(project, "log")
    run(project, "undo", "--all")
    left = changed(original, snapshot(project))

    heading("The plan as a whole")
    show_table(trials, whole)
    return conclude(
        {
            f"{len(rewritten)} files rewritten": bool(rewritten),
            "no rewrite is different or worse": not any(trial["ruling"] in HARM for trial in trials),
            "nor is the epoch with all of them": whole[EPOCH]["ruling"] not in HARM,
            "losses and returns of both trainings are equal, digit for digit": before == after,
            "undo gave every byte back": not left,
        }
    )


HARM = ("different", "worse")


# What is run


def try_one(project: Path, name: str) -> dict[str, Any]:
    """One codemod on the whole project, proven and not written."""
    scenario, device = SCENARIOS.get(name, (EPOCH, ""))
    chosen = ["fix", "src", "--select", name, "--unsafe", "--diff", "--prove", scenario, "--keep", "neutral"]
    told = answer(project, *chosen, "--device", device or DEVICE, "--repeat", "3", *backend())
    fixable = [one for one in told["findings"] if one["edits"]]
    proof = told.get("proofs", [{}])[0]
    ruling = proof.get("ruling") or ("left alone" if told["findings"] else "no finding")
    print(f"  {name}: {ruling}: {proof.get('sentence') or '-'}", flush=True)
    return {
        "name": name,
        "findings": len(told["findings"]),
        "fixable": len(fixable),
        "ruling": ruling,
        "measured": gains(proof) if proof else "".join(one["left_alone"] for one in told["findings"][:1]),
        "where": f"{Path(scenario).stem} on {device or DEVICE}",
    }


def prove(project: Path, scenario: str) -> dict[str, Any]:
    proof: dict[str, Any] = answer(project, "prove", scenario, "--run", "1", "--device", DEVICE)["verdicts"][0]
    print(f"  {scenario}: {proof['ruling']}: {proof['sentence']}", flush=True)
    return proof


def backend() -> list[str]:
    """Counts do not need inductor; a GPU's times do."""
    return ["--backend", "aot_eager"] if DEVICE == "cpu" else []


def run(project: Path, *arguments: str) -> int:
    return subprocess.run([FULLGRAPH, *arguments], cwd=project, check=False).returncode


def train(project: Path) -> str:
    """What a training prints, without the times."""
    environment = {**os.environ, "PYTHONPATH": str(project / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    started = time.perf_counter()
    done = subprocess.run(TRAIN, cwd=project, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the training failed:\n{done.stderr}")
    print(f"{done.stdout.strip()}\n({time.perf_counter() - started:.0f} s)")
    return done.stdout


# What is shown


def heading(text: str) -> None:
    print(f"\n== {text} " + "=" * max(0, 100 - len(text)), flush=True)


def show_table(trials: list[dict[str, Any]], whole: dict[str, Any]) -> None:
    rows = [("codemod", "findings", "verdict", "scenario", "measured")]
    for trial in trials:
        found = f"{trial['fixable']} of {trial['findings']}"
        rows.append((trial["name"], found, trial["ruling"], trial["where"], trial["measured"]))
    for name, proof in whole.items():
        where = f"{Path(name).stem} on {DEVICE}"
        rows.append(("all together", "", proof["ruling"], where, gains(proof)))
    print("\n".join(table_lines([Entry(row) for row in rows], color=False, width=150)))
    print("The plan's own criteria:")
    for line in criteria(whole):
        print(f"  {line}")


def gains(proof: dict[str, Any]) -> str:
    """What a proof found to be better."""
    better = [reason["text"] for reason in proof["reasons"] if reason["tendency"] == "better"]
    return "; ".join(better) or "equivalent, nothing better"


def criteria(whole: dict[str, Any]) -> Iterator[str]:
    """What the plan asks for, beside what was measured here."""
    speed = whole[EPOCH]["ratios"].get("eager")
    told = f"{speed['ratio']:.2f}x [{speed['low']:.2f}, {speed['high']:.2f}]" if speed else "not measured"
    unseen = "; what a host read costs, only a GPU shows" if DEVICE == "cpu" else ""
    yield f"epochs 10-20 % faster: {told} on {DEVICE}{unseen}"
    policy = whole[POLICY]
    sides = [policy[side] for side in ("before", "after")]
    breaks = " > ".join(str(count_breaks(side["breaks"] or ())) for side in sides)
    compiles = " > ".join("yes" if side["fullgraph"] else "no" for side in sides)
    yield f"the policy's forward compiles with fullgraph=True: {compiles}; graph breaks {breaks}"
    for one in sides[1]["breaks"] or ():
        yield f"  left: {one['file']}:{one['line']} {one['reason'].partition(':')[0]}"


if __name__ == "__main__":
    sys.exit(main())
