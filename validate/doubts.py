"""Why nothing can be decided although both sides ran: each adds a doubt or a notice to the evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fullgraph.validate.judge import IDLE, Evidence
from fullgraph.validate.model import Difference

SURROUNDINGS = "surroundings["
LOCKS = ("_thread.lock", "_thread.RLock", "threading.Condition", "threading.Event")
"""Kinds that hold nothing between two calls."""

NOISY = frozenset(("stderr", "stderr_masked", "contents", "contents_masked"))
SEVERAL = 5
"""Names that are worth telling of a longer list."""


def doubt_raising(evidence: Evidence, eager: Mapping[str, Any]) -> None:
    """Code that only ever fails shows nothing of what it does."""
    if all(len(told["raised"]) == len(evidence.after.cases) for told in eager.values()):
        why = eager["after"]["exceptions"][0].strip().splitlines()[0]
        evidence.doubt("cases", f"every case raises, before and after: {why}; give cases that run")


def doubt_empty(evidence: Evidence, eager: Mapping[str, Any]) -> None:
    """Two empty lists are the same whatever the code does; of outputs that never vary only a reader can judge."""
    told = eager["after"]
    if told.get("silent"):
        evidence.doubt(
            "results",
            "every output is empty or None and nothing else is left behind: there is nothing to compare; "
            "give cases that give something, or the scenario a `state(obj, output)`",
        )
    elif told.get("empty"):
        evidence.notices.append("every output is empty: only what the cases leave behind was compared")
    elif told.get("constant"):
        evidence.notices.append("every case gives the same output, whatever its arguments")


def doubt_tests(evidence: Evidence, eager: Mapping[str, Any]) -> None:
    """A test that fails on both sides tells nothing about the change, and neither does one that is skipped."""
    told = eager["after"]
    evidence.notices.append(
        "a test shows what it asserts, prints and raises; values that it does not look at may differ"
    )
    failed, skipped = told["raised"], told["skipped"]
    if len({*failed, *skipped}) == len(evidence.after.cases):
        why = told["exceptions"][0] if failed else "skipped"
        evidence.doubt("tests", f"no test passes, before and after: {why}")
        return
    for what, names in (("fails", failed), ("is skipped", skipped)):
        if names:
            evidence.notices.append(f"{what} before and after: {', '.join(names[:SEVERAL])}")


def doubt_opaque(evidence: Evidence, eager: Mapping[str, Any]) -> None:
    """What was asked for must be compared; what is only held along is told."""
    doubt_places(evidence, [place for told in eager.values() for place in told["opaque"]])
    unseen = {path: kind for told in eager.values() for _, path, kind in told.get("unseen", ()) if kind not in LOCKS}
    for path, kind in list(unseen.items())[:1]:
        more = f" (and {len(unseen) - 1} more)" if len(unseen) > 1 else ""
        evidence.notices.append(f"not compared: {path} is a {kind}{more}")


def doubt_places(evidence: Evidence, places: Sequence[Sequence[str]]) -> None:
    if places:
        case, path, kind = places[0]
        more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
        evidence.doubt(
            "comparable",
            f"{case}: {path} is a {kind}, which cannot be compared{more}; "
            "give the scenario a `state(obj, output)` that returns what counts",
        )


def is_all_unstable(evidence: Evidence, unstable: Sequence[Difference]) -> bool:
    """Whether nothing counts that differs, but what differs from itself."""
    shaky = {channel_of(one) for one in unstable}
    differing = {channel_of(one) for one in evidence.differences}
    return differing <= shaky and not differing <= NOISY


def doubt_unstable(evidence: Evidence, unstable: Sequence[Difference]) -> None:
    """What differs from itself tells nothing about the change: differences count where the same code is the same.

    Logs, files and globals have times in them more often than not: such ones are told, and decide nothing.
    """
    shaky = {channel_of(one) for one in unstable}
    for channel in sorted(filter(is_incidental, shaky)):
        evidence.notices.append(f"not compared: {channel} differs each time that the same code runs")
    steady = [one for one in evidence.differences if channel_of(one) not in shaky]
    is_decisive = any(not is_incidental(channel_of(one)) for one in evidence.differences)
    evidence.differences = steady
    if is_decisive and not steady:
        one = next(one for one in unstable if not is_incidental(channel_of(one)))
        evidence.doubt(
            "repeatable",
            f"{one.case}: {one.path} differs each time that the same code runs: {one.first} / {one.second}; "
            "let the scenario seed it or leave it out",
        )


def is_incidental(channel: str) -> bool:
    return channel in NOISY or channel.startswith(SURROUNDINGS)


def channel_of(difference: Difference) -> str:
    """`output` of `output[0]['loss']`; of a name in a module all of it: no other one has to do with it."""
    if difference.path.startswith(SURROUNDINGS):
        return difference.path.partition("]")[0] + "]"
    return re.split(r"\W", difference.path, maxsplit=1)[0]


def doubt_inputs(evidence: Evidence, drifted: Sequence[Difference]) -> None:
    """Stages that are given other arguments cannot be compared."""
    if drifted:
        one = drifted[0]
        evidence.doubt(
            "repeatable",
            f"{one.case}: cases() gives other arguments each time that it is called ({one.path}: {one.first} / "
            f"{one.second}); seed it by its argument `seed`, and keep nothing between two calls",
        )


def doubt_stale(evidence: Evidence, side: str, stale: Sequence[str]) -> None:
    """What reads a changed file from the disk runs the wrong code on one of the sides."""
    if stale:
        evidence.doubt(
            "overlay",
            f"{side}: {', '.join(stale[:SEVERAL])} was used as on the disk and not as on this side: "
            "it was read as a file, not imported; let the scenario import it",
        )


def doubt_idle(evidence: Evidence) -> None:
    """Lines that never ran prove nothing: of all changed places it is a doubt, of some a notice."""
    idle = [place for place in evidence.changed if not place.ran]
    if not idle:
        return
    named = ", ".join(f"{place.path}:{place.first} ({place.side})" for place in idle[:SEVERAL])
    if len(idle) == len(evidence.changed):
        evidence.doubt(IDLE, f"the scenario never runs what was changed: {named}")
    else:
        evidence.notices.append(f"{len(idle)} of {len(evidence.changed)} changed places never ran: {named}")


def doubt_late(evidence: Evidence, stage: str, limit: float) -> None:
    if stage:
        evidence.doubt(
            "time", f"the time limit of {limit:.0f} s was over in the stage {stage}; --time-limit gives more"
        )


def doubt_compiling(evidence: Evidence, options: Mapping[str, Any]) -> None:
    """Neither side compiles, and what would ask less of it."""
    fewer = [
        *(["leave out --fullgraph"] if options.get("fullgraph") else []),
        *(["--backend eager asks less"] if options.get("backend") != "eager" else []),
    ]
    advice = "; ".join(["", *fewer])
    evidence.doubt("compiles", f"neither side compiles: {evidence.compile_failures['after']}{advice}")
