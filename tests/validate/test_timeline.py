"""The moments of a run: kept in few bins by each process, and told in equal parts of the whole."""

from __future__ import annotations

import pytest

from fullgraph.validate.observe_timeline import PARTS, make_timeline
from fullgraph.validate.worker.observing.moments import BINS, Moments


@pytest.mark.parametrize("seconds", [0.01, 1.0, 3_600.0, 1e7])
def test_no_moment_is_lost_however_long_the_run(seconds: float) -> None:
    moments = Moments()
    for number in range(1_000):
        moments.add(5.0 + seconds * number / 1_000)
    told = moments.tell()
    assert (sum(told["counts"]), len(told["counts"])) == (1_000, BINS)
    assert told["start"] == 5.0
    assert told["width"] * BINS <= max(2 * seconds, BINS * 0.001)


def test_moments_of_all_processes_fall_into_their_part_of_the_run() -> None:
    early, late = Moments(), Moments()
    for at in (100.0, 100.15):
        early.add(at)
    late.add(112.0 - 0.01)
    told = [{"compiles": [], "read_moments": one.tell()} for one in (early, late)]
    reads = make_timeline(told, 100.0, 12.0)["reads"]
    assert (reads[0], reads[1], reads[-1]) == (1, 1, 1)
    assert (sum(reads), len(reads)) == (3, PARTS)


def test_compilations_are_told_in_order_since_the_start_of_the_program() -> None:
    one = {"entry": "f", "kind": "compile", "at": 103.5, "seconds": 1.0, "breaks": 0}
    told = [{"compiles": [one, {**one, "at": 101.25}], "read_moments": Moments().tell()}]
    assert [each["at"] for each in make_timeline(told, 100.0, 10.0)["compiles"]] == [1.25, 3.5]
