"""Let the validator judge rewrites that are wrong on purpose, no-ops, and right rewrites (`make attack`).

python scripts/attack.py                          the whole bank
python scripts/attack.py --class streams --name stderr
python scripts/attack.py --tenth "$(git rev-parse HEAD)"     a tenth, chosen by the commit

The exit code is 1 if a wrong rewrite is called equivalent, a no-op is praised, or a right rewrite is refused.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import fullgraph.validate.launch  # noqa: E402
from tests.attack.bank import all_rewrites  # noqa: E402
from tests.attack.running import Answer, ask  # noqa: E402
from tests.chosen import is_chosen  # noqa: E402
from tests.zygote import TORCH  # noqa: E402

START = fullgraph.validate.launch.start
BANK = all_rewrites()
FAULTS = {"wrong": "accepted", "unseen": "accepted", "clock": "accepted", "no-op": "praised", "right": "refused"}
BAD = ("accepted", "praised", "refused", "crashed")


def main() -> int:
    given = arguments()
    titles = [title for title in BANK if given.name in title.partition(": ")[2] and given.class_ in class_of(title)]
    if given.tenth:
        titles = [title for title in titles if is_chosen(title, given.tenth)]
    answers: dict[str, Answer] = {}
    with ProcessPoolExecutor(given.jobs, multiprocessing.get_context("spawn")) as pool:
        asked = {pool.submit(try_row, title): title for title in titles}
        for done in as_completed(asked):
            answers[asked[done]] = done.result()
            tell(asked[done], done.result())
    return report(answers)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="", help="rewrites with this text in their name")
    parser.add_argument("--class", dest="class_", default="", help="classes with this text in their name")
    parser.add_argument("--tenth", default="", metavar="COMMIT")
    parser.add_argument("--jobs", type=int, default=2, choices=(1, 2))
    return parser.parse_args()


def class_of(title: str) -> str:
    return title.partition(": ")[0]


def try_row(title: str) -> Answer:
    """Runs in a process of the pool, which has a zygote of its own."""
    fullgraph.validate.launch.start = START if BANK[title].is_fresh else TORCH.start
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        answer = ask(BANK[title], Path(folder) / "project")
    return replace(answer, seconds=time.monotonic() - started)


def verdict_on(title: str, answer: Answer) -> str:
    """What became of a row: one of BAD where that is a fault, else the ruling."""
    row = BANK[title]
    if answer.ruling is None:
        return "crashed"
    return answer.ruling.value if row.allows(answer.ruling) else FAULTS[row.kind]


def tell(title: str, answer: Answer) -> None:
    word = verdict_on(title, answer)
    ruling = answer.ruling.value if answer.ruling else "traceback"
    mark = word.upper() if word in BAD else word
    print(f"{mark:10}{title}  ({answer.seconds:.1f} s)\n          {ruling}: {answer.sentence}", flush=True)


def report(answers: dict[str, Answer]) -> int:
    """A row for each class, and the number of faults as one."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for title, answer in answers.items():
        table[class_of(title)][verdict_on(title, answer)] += 1
    total = sum(table.values(), Counter[str]())
    columns = (*BAD, "undecided", "different", "neutral", "proven", "worse")
    print(f"\n{'class':24}{'rows':>10}" + "".join(f"{column:>10}" for column in columns))
    for name, counts in [*sorted(table.items()), ("all", total)]:
        print(f"{name:24}{counts.total():10}" + "".join(f"{counts[column]:10}" for column in columns))
    return int(any(total[fault] for fault in BAD))


if __name__ == "__main__":
    sys.exit(main())
