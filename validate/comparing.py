"""Comparing what the two sides recorded, in a clean process: no code of the user's runs there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validate.launch import Died, Refused, Worker
from validate.model import Declared, Difference, ValidateError


@dataclass(frozen=True)
class Compared:
    """What two files of records differ in, and which declared changes were seen."""

    differences: tuple[Difference, ...]
    declared_seen: tuple[str, ...]


class Comparer:
    """Asks a worker of its own. `scratch` is where the sides left their records, a folder each."""

    def __init__(self, python: str, root: Path, scratch: Path, declared: Sequence[Declared], signed_zero: bool) -> None:
        self.scratch = scratch
        self.worker = Worker(python, "compare", root, scratch)
        self.same = {
            "signed_zero": signed_zero,
            "declared": [[one.kind, one.pattern, one.why] for one in declared],
        }

    def __enter__(self) -> Comparer:
        return self

    def __exit__(self, *_: object) -> None:
        self.worker.kill()

    def pair_of(self, between: str, first: str, second: str, **given: Any) -> dict[str, Any]:
        """A request: `first` and `second` name records as `before/eager`."""
        files = {"first": str(self.scratch / f"{first}.pt"), "second": str(self.scratch / f"{second}.pt")}
        return {"between": between, **files, **self.same, **given}

    def compare(self, pairs: Sequence[dict[str, Any]], limit: float) -> list[Compared]:
        try:
            told = self.worker.ask("compare", limit=limit, pairs=list(pairs))
        except (Died, Refused) as failed:
            raise ValidateError(f"the records could not be compared: {failed}") from failed
        return [
            Compared(tuple(Difference(**one) for one in found["differences"]), tuple(found["declared_seen"]))
            for found in told
        ]
