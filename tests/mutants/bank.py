"""The bank: `faults/<area>.toml` lists faults, each with the tests that should catch it.

[[fault]]
name = "a tie counts as better"          # says what is wrong with the code now
file = "validate/judge.py"
old = "if after < before:"               # stands there exactly once
new = "if after <= before:"
tests = ["tests/validate/test_judge.py"] # paths or node ids; they answer within a minute
equivalent = "why nobody could notice"   # only where that is so: it is then not run
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BANK = Path(__file__).parent / "faults"


class Misfit(Exception):  # noqa: N818 - the bank is out of date, the code is not at fault
    """The code that a fault changes is not there any more."""


@dataclass(frozen=True)
class Fault:
    """One wrong line: `old` becomes `new` in `file`."""

    area: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    equivalent: str = ""

    @property
    def title(self) -> str:
        return f"{self.area}: {self.name}"

    def put_into(self, text: str) -> str:
        """The file with the fault in it."""
        if text.count(self.old) != 1:
            raise Misfit(f"{self.area}: {self.name}: {text.count(self.old)} times in {self.file}")
        return text.replace(self.old, self.new)


def read_area(file: Path) -> list[Fault]:
    faults = tomllib.loads(file.read_text())["fault"]
    return [Fault(file.stem, **{**given, "tests": tuple(given["tests"])}) for given in faults]


def all_faults(areas: tuple[str, ...] = ()) -> list[Fault]:
    files = sorted(file for file in BANK.glob("*.toml") if not areas or file.stem in areas)
    return [fault for file in files for fault in read_area(file)]
