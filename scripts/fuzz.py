"""Search for programs that the codemods get wrong: `make fuzz`, or `python scripts/fuzz.py 500` for fewer programs.

Parts of the search run in processes of their own, as many at a time as there are cores. Stopped, it goes on where it
was; after a change to the codemods it begins anew. What is found stands in `.bench/fuzz/found`, as small as it could be
made, each as a pattern to be: with the calls, the text after the rewrite and the differences.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".bench" / "fuzz"
PART = 100
"""Programs of one process."""

MOST = 30
"""Counterexamples after which the search ends: more would be the same again."""

HANGING_S = 180.0
"""How long one program may take before its process is ended."""


@dataclass
class Part:
    """A process that tries the programs of one seed."""

    seed: int
    count: int
    process: subprocess.Popen[bytes]
    began: float = field(default_factory=time.monotonic)

    @property
    def heartbeat(self) -> Path:
        return FOLDER / f"running_{self.seed}.json"

    @property
    def answer(self) -> Path:
        return FOLDER / f"done_{self.seed}.json"

    def is_hanging(self) -> bool:
        if not self.heartbeat.exists():
            return time.monotonic() - self.began > HANGING_S
        return time.time() - self.heartbeat.stat().st_mtime > HANGING_S


@dataclass
class Campaign:
    """All parts so far. One that died counts with the programs before its death, and names the one that killed it."""

    wanted: int
    workers: int
    running: list[Part] = field(default_factory=list)

    def run(self) -> None:
        try:
            while self.running or self.wants_more():
                self.start_more()
                time.sleep(0.5)
                self.settle()
        finally:
            for part in self.running:
                part.process.kill()
                part.process.wait()
                note_stop(part)

    def wants_more(self) -> bool:
        return self.done() + self.under_way() < self.wanted and len(found_places()) < MOST

    def done(self) -> int:
        return int(tally()["programs"])

    def start_more(self) -> None:
        while len(self.running) < self.workers and self.wants_more():
            used = [int(file.stem.split("_")[1]) for file in FOLDER.glob("done_*.json")]
            seed = max([0, *used, *(part.seed for part in self.running)]) + 1
            count = min(PART, self.wanted - self.done() - self.under_way())
            self.running.append(start(seed, count))

    def under_way(self) -> int:
        return sum(part.count for part in self.running)

    def settle(self) -> None:
        for part in list(self.running):
            if part.is_hanging():
                part.process.kill()
            if part.process.poll() is not None or part.is_hanging():
                part.process.wait()
                self.running.remove(part)
                if not part.answer.exists():
                    note_death(part)
                part.heartbeat.unlink(missing_ok=True)
                say_progress(self.wanted)


def start(seed: int, count: int) -> Part:
    command = [sys.executable, "-m", "tests.breaks.fuzzing", str(seed), str(count), str(FOLDER)]
    log = (FOLDER / f"log_{seed}.txt").open("wb")
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return Part(seed, count, subprocess.Popen(command, cwd=ROOT, env=settings, stdout=log, stderr=log))


def note_stop(part: Part) -> None:
    """What a part has done until it was stopped counts; its other programs are tried with another seed."""
    if part.heartbeat.exists() and not part.answer.exists():
        counts = json.loads(part.heartbeat.read_text())["counts"]
        part.answer.write_text(json.dumps({"seed": part.seed, "found": "", "counts": counts}))


def note_death(part: Part) -> None:
    """A process that ended without an answer: its last program is kept, whatever it died of."""
    how = "hung" if part.process.returncode == -9 else f"died ({part.process.returncode})"
    last = json.loads(part.heartbeat.read_text()) if part.heartbeat.exists() else {"counts": {}}
    home = FOLDER / "found" / f"{how.split()[0]}_{part.seed}"
    home.mkdir(parents=True, exist_ok=True)
    (home / "program.py").write_text(last.get("text", ""))
    (home / "calls.json").write_text(json.dumps([last.get("entry"), last.get("calls")], indent=1))
    counts = Counter({"programs": 1}) + Counter(last["counts"])
    part.answer.write_text(json.dumps({"seed": part.seed, "found": str(home), "counts": counts}))


def answers() -> list[dict[str, object]]:
    return [json.loads(file.read_text()) for file in sorted(FOLDER.glob("done_*.json"))]


def tally() -> Counter[str]:
    total: Counter[str] = Counter({"programs": 0})
    for answer in answers():
        total.update(answer["counts"])  # type: ignore[call-overload]
    return total


def found_places() -> list[str]:
    return [str(answer["found"]) for answer in answers() if answer["found"]]


def say_progress(wanted: int) -> None:
    total = tally()
    told = f"{total['programs']} of {wanted} programs, {total['changed']} rewritten, {len(found_places())} wrong"
    print(told, flush=True)


def say_summary() -> int:
    total = tally()
    print("\n".join(f"{count:7} {name}" for name, count in sorted(total.items(), key=lambda item: -item[1])))
    found = found_places()
    print(f"{len(found):7} wrong" + "".join(f"\n        {place}" for place in found))
    return 1 if found else 0


def fingerprint() -> str:
    """Of what is searched and what searches."""
    files = sorted([*(ROOT / "codemods").rglob("*.py"), *(ROOT / "tests" / "breaks").glob("*.py")])
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def prepare(fresh: bool) -> None:
    """Keep what an earlier run has done, if it was about the same text."""
    mark = FOLDER / "fingerprint"
    if fresh or not mark.exists() or mark.read_text() != fingerprint():
        shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    mark.write_text(fingerprint())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=int, nargs="?", default=10_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--fresh", action="store_true", help="forget what was done before")
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from fullgraph.codemods.registry import all_codemods

    if not any(kind.repairs_breaks for kind in all_codemods().values()):
        print("no codemod repairs breaks: there is nothing to examine")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    prepare(given.fresh)
    began = time.monotonic()
    Campaign(given.programs, given.workers).run()
    print(f"{time.monotonic() - began:.0f} s")
    return say_summary()


if __name__ == "__main__":
    sys.exit(main())
