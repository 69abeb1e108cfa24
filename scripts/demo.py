"""The main job on the bundled training project: find, diff, prove, write, undo, with visible results.

Works on a copy in a scratch folder. Trains before and after, because the rewrite must not change what is learned.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
FULLGRAPH = Path(sys.executable).with_name("fullgraph")
TRAIN = [sys.executable, "-W", "ignore", "-m", "seedling.train", "--epochs", "2", "--seed", "0"]
PROVE = ["fix", "src", "--select", "disable_compile", "--prove", "scenarios/telemetry.py", "--backend", "aot_eager"]
PROVEN_IN_PART = 1
"""The exit code when findings are left: `slot_report` is not part of the scenario."""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="fullgraph-demo-") as scratch:
        project = Path(scratch) / "seedling"
        shutil.copytree(ROOT / "fixtures" / "demo", project, ignore=shutil.ignore_patterns("__pycache__"))
        return show_all(project)


def show_all(project: Path) -> int:
    original = snapshot(project)

    heading("Train for two epochs, before")
    before = train(project)
    print(before)

    heading("Find: fullgraph check src")
    run(project, "check", "src")

    heading("Diff: fullgraph fix src --diff")
    run(project, "fix", "src", "--diff", "--quiet")

    heading("Prove: fullgraph fix src --select disable_compile --prove scenarios/telemetry.py --diff")
    proof = run(project, *PROVE, "--diff")

    heading("Write: fullgraph fix src --yes")
    run(project, "fix", "src", "--yes")
    rewritten = changed(original, snapshot(project))

    heading("Train for two epochs, after")
    after = train(project)
    print(after)

    heading("What was written: fullgraph log")
    run(project, "log")

    heading("Take it back: fullgraph undo --all")
    run(project, "undo", "--all")
    left = changed(original, snapshot(project))

    heading("What this showed")
    return verdict(
        {
            f"{len(rewritten)} files rewritten": bool(rewritten),
            "the proof let through what it proves, and left what it never ran": proof == PROVEN_IN_PART,
            "losses and returns of both trainings are equal, digit for digit": before == after,
            "undo gave every byte back": not left,
        }
    )


def heading(text: str) -> None:
    print(f"\n== {text} " + "=" * max(0, 100 - len(text)), flush=True)


def run(project: Path, *arguments: str) -> int:
    return subprocess.run([FULLGRAPH, *arguments], cwd=project, check=False).returncode


def train(project: Path) -> str:
    """What a training prints, without the times."""
    environment = {**os.environ, "PYTHONPATH": str(project / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    started = time.perf_counter()
    done = subprocess.run(TRAIN, cwd=project, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the training failed:\n{done.stderr}")
    print(f"({time.perf_counter() - started:.0f} s)")
    return done.stdout.strip()


def snapshot(project: Path) -> dict[str, bytes]:
    files = (file for file in sorted(project.rglob("*")) if file.is_file())
    names = ((file.relative_to(project).as_posix(), file) for file in files)
    return {name: file.read_bytes() for name, file in names if not name.startswith(".fullgraph/")}


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    return [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]


def verdict(claims: dict[str, bool]) -> int:
    for claim, holds in claims.items():
        print(f"  {'yes' if holds else 'NO '}  {claim}")
    return 0 if all(claims.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
