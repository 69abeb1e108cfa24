"""Comparing what the two sides recorded, in a clean process: no code of the user's runs there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fullgraph.validate.launch import Died, Refused, Worker
from fullgraph.validate.model import Declared, Difference, ValidateError
from fullgraph.validate.pair import Pair


@dataclass(frozen=True)
class Compared:
    """What two files of records differ in, and which declared changes were seen."""

    differences: tuple[Difference, ...]
    declared_seen: tuple[str, ...]
    uncompared: tuple[tuple[str, str, str], ...] = ()
    """Case, path and kind of what is there on both sides and cannot be compared."""


class Comparer:
    """Asks a worker of its own about what the sides of a pair have stored, each in a folder of its own."""

    def __init__(self, python: str, pair: Pair, declared: Sequence[Declared], signed_zero: bool) -> None:
        self.scratch = pair.scratch
        self.digests = pair.digests
        self.worker = Worker(python, "compare", pair.sides.root, pair.scratch)
        self.same = {
            "signed_zero": signed_zero,
            "declared": [[one.kind, one.pattern, one.why] for one in declared],
        }

    def __enter__(self) -> Comparer:
        return self

    def __exit__(self, *_: object) -> None:
        self.worker.kill()

    def pair_of(self, between: str, first: str, second: str, **given: Any) -> dict[str, Any]:
        """A request: `first` and `second` name records as `before/eager`; the workers have told their digests."""
        files = {"first": str(self.scratch / f"{first}.pt"), "second": str(self.scratch / f"{second}.pt")}
        return {
            "between": between,
            **files,
            "digests": [self.digests[first], self.digests[second]],
            **self.same,
            **given,
        }

    def compare(self, pairs: Sequence[dict[str, Any]], limit: float) -> list[Compared]:
        try:
            told = self.worker.ask("compare", limit=limit, pairs=list(pairs))
        except (Died, Refused) as failed:
            raise ValidateError(f"the records could not be compared: {failed}") from failed
        return [
            Compared(
                tuple(Difference(**one) for one in found["differences"]),
                tuple(found["declared_seen"]),
                tuple((case, path, kind) for case, path, kind in found["uncompared"]),
            )
            for found in told
        ]
