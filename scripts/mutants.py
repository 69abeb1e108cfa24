"""Put faults in, one at a time, and see whether the tests next to the code notice.

python scripts/mutants.py                         the whole bank (`make mutants`)
python scripts/mutants.py --area rewrite          one area; --name TEXT for some of it
python scripts/mutants.py --tenth "$(git rev-parse HEAD)"     a tenth of those that were caught, chosen by the commit
python scripts/mutants.py --try validate/judge.py tests/validate/test_judge.py     every fault that rules make of a file
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.chosen import is_chosen  # noqa: E402
from tests.mutants.bank import Fault, all_faults  # noqa: E402
from tests.mutants.operators import mutations  # noqa: E402
from tests.mutants.running import Attempt, Trial, try_all  # noqa: E402

WANTED = 0.97
"""The part of the bank that must be caught."""

CAUGHT = ROOT / "tests" / "mutants" / "caught.txt"


def main() -> int:
    given = arguments()
    if given.try_file:
        return try_rules(given)
    faults = [fault for fault in all_faults(tuple(given.area)) if given.name in fault.name]
    if given.tenth:
        faults = [fault for fault in faults if fault.title in known_caught() and is_chosen(fault.title, given.tenth)]
    attempts = [attempt_of(fault) for fault in faults if not fault.equivalent]
    trials = {trial.name: trial for trial in try_all(attempts, given.jobs, tell, given.source)}
    missed = [title for title, trial in trials.items() if trial.end != "caught" and title in known_caught()]
    for title in missed:
        print(f"was caught before: {title}")
    if not given.tenth and given.source == ROOT:
        remember({title for title, trial in trials.items() if trial.end == "caught"})
    is_whole = not (given.tenth or given.area or given.name)
    return int(bool(missed) or (report(faults, trials) < WANTED and is_whole))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--area", action="append", default=[])
    parser.add_argument("--name", default="", help="faults with this text in their name")
    parser.add_argument("--tenth", default="", metavar="COMMIT")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--source", type=Path, default=ROOT, help="another checkout, whose tests are tried")
    parser.add_argument("--try", dest="try_file", default="", metavar="FILE")
    parser.add_argument("--most", type=int, default=40, help="with --try: so many faults, chosen at random")
    parser.add_argument("tests", nargs="*", help="with --try: the tests that should notice")
    return parser.parse_args()


def attempt_of(fault: Fault) -> Attempt:
    return Attempt(fault.title, fault.file, lambda raw: fault.put_into(raw.decode()).encode(), fault.tests)


def known_caught() -> set[str]:
    """The faults that a run has seen to be caught: none of them may be missed again."""
    return set(CAUGHT.read_text().splitlines()) if CAUGHT.exists() else set()


def remember(titles: set[str]) -> None:
    there = {fault.title for fault in all_faults()}
    CAUGHT.write_text("".join(f"{title}\n" for title in sorted((known_caught() | titles) & there)))


def try_rules(given: argparse.Namespace) -> int:
    """Faults by rule in one file."""
    found = list(mutations((ROOT / given.try_file).read_text()))
    chosen = sorted(random.Random(0).sample(found, min(given.most, len(found))), key=lambda one: one.start)
    raw = (ROOT / given.try_file).read_bytes()
    attempts = [
        Attempt(
            f"{given.try_file}:{one.line}: {one.what}: {raw[one.start : one.end].decode()} > {one.new}",
            given.try_file,
            one.put_into,
            tuple(given.tests),
        )
        for one in chosen
    ]
    trials = try_all(attempts, given.jobs, tell)
    print(", ".join(f"{count} {end}" for end, count in Counter(trial.end for trial in trials).items()))
    return 0


def tell(trial: Trial) -> None:
    print(f"{trial.end:9}{trial.name}", flush=True)
    if trial.end == "broken":
        print(trial.told, flush=True)


def report(faults: list[Fault], trials: dict[str, Trial]) -> float:
    """A row for each area; the part that was caught."""
    rows: dict[str, Counter[str]] = {}
    for fault in faults:
        trial = trials.get(fault.title)
        rows.setdefault(fault.area, Counter())[trial.end if trial else "equivalent"] += 1
    ends = ("caught", "survived", "late", "broken", "equivalent")
    print(f"\n{'area':24}" + "".join(f"{end:>12}" for end in ends))
    for area, counts in rows.items():
        print(f"{area:24}" + "".join(f"{counts[end]:12}" for end in ends))
    tried = list(trials.values())
    caught = sum(trial.end == "caught" for trial in tried)
    print(f"{caught} of {len(tried)} caught ({caught / max(len(tried), 1):.0%}), {len(faults) - len(tried)} equivalent")
    return caught / max(len(tried), 1)


if __name__ == "__main__":
    sys.exit(main())
