"""From two measurements to a ruling, with the numbers that decided it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fullgraph.validate.model import (
    ChangedPlace,
    Difference,
    Measurement,
    Outcome,
    Ratio,
    Reason,
    Ruling,
    Sync,
    Verdict,
)

BETTER, WORSE, SAME, DIFFERENT, UNKNOWN = "better", "worse", "same", "different", "unknown"
NOISY = "noisy"
"""Measured, and too noisy to tell: not the same as `same`."""

WEIGHTY = {"equivalence", "compiles", "captured", "breaks", "fullgraph", "recompiles", "host reads", "compiled"}
"""A loss in one of these is never made up for by a gain elsewhere."""

MARGIN = 1.02
"""Two processes that run the same code differ by so much for no reason; an interval must lie beyond it."""

COLD_MARGIN = 1.1
NARROW, COLD_NARROW = 1.1, 1.25
"""An interval that lies within is the same; one that reaches further tells nothing."""

SHARE = 0.5
"""So much less of the work in graphs, as a share of what it was, is no longer the same code compiled."""

WIDE = 3.0
"""An interval whose ends are further apart comes from a machine that did much else meanwhile."""

GUARD_MARGIN, GUARD_FLOOR_US = 1.2, 1.0
MEMORY_MARGIN, MEMORY_FLOOR = 1.25, 32 * 2**20


@dataclass
class Evidence:
    """All that the stages brought home."""

    before: Measurement = field(default_factory=lambda: Measurement("before"))
    after: Measurement = field(default_factory=lambda: Measurement("after"))
    differences: list[Difference] = field(default_factory=list)
    ratios: dict[str, Ratio] = field(default_factory=dict)
    compile_failures: dict[str, str] = field(default_factory=dict)
    """By side: why compiled code failed where plain code did not."""

    unconfirmed: set[str] = field(default_factory=set)
    """Numbers that were better or worse in one pair of processes, and not in another."""

    is_untimed: bool = False
    """Whether times, even of guards, are not to decide."""

    is_valueless: bool = False
    is_isolating: bool = False
    """Whether the rewrite keeps something out of compiled code on purpose."""

    """Whether the device only traces, so that nothing could be compared."""

    changed: list[ChangedPlace] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    doubts: list[Reason] = field(default_factory=list)
    """What makes it impossible to decide; one is enough."""

    def doubt(self, name: str, text: str) -> None:
        self.doubts.append(Reason(name, text, UNKNOWN))


IDLE, EFFECT = "idle", "effect"
"""The names of the doubts that the scenario does not run what was changed, or does not show all that it does."""


def judge(evidence: Evidence) -> tuple[Ruling, tuple[Reason, ...]]:
    """The ruling, and every reason for it in order of weight."""
    if failed := told_outcomes(evidence):
        return failed
    if evidence.differences:
        return Ruling.DIFFERENT, (Reason("equivalence", tell_difference(evidence.differences[0]), DIFFERENT),)
    if evidence.doubts:
        return Ruling.UNDECIDED, tuple(evidence.doubts)
    reasons = tuple(confirmed(evidence, reason) for reason in compare_numbers(evidence))
    unseen = tuple(doubt_effects(evidence.changed))
    return Ruling.UNDECIDED if evidence.is_valueless or unseen else rule(reasons), (*unseen, *reasons)


def doubt_effects(changed: Sequence[ChangedPlace]) -> Iterator[Reason]:
    """What ran, and did not show all that was changed: nobody knows the rest."""
    gaps = [f"{place.path}: {text}" for place in changed for text in place.unseen]
    if gaps:
        more = f" (and {len(gaps) - 1} more)" if len(gaps) > 1 else ""
        yield Reason(
            EFFECT, f"not all of the change was seen: {gaps[0]}{more}; give a case, or a device, that shows it", UNKNOWN
        )


def confirmed(evidence: Evidence, reason: Reason) -> Reason:
    """What was not seen again decides nothing."""
    if reason.name not in evidence.unconfirmed or reason.tendency not in (BETTER, WORSE):
        return reason
    return Reason(reason.name, f"{reason.text}, but not in every process: too noisy to tell", NOISY)


def rule(reasons: Sequence[Reason]) -> Ruling:
    better = {reason.name for reason in reasons if reason.tendency == BETTER}
    worse = {reason.name for reason in reasons if reason.tendency == WORSE}
    if worse & WEIGHTY or (worse and not better & WEIGHTY):
        return Ruling.WORSE
    return Ruling.PROVEN if better else Ruling.NEUTRAL


def told_outcomes(evidence: Evidence) -> tuple[Ruling, tuple[Reason, ...]] | None:
    """What follows when a side did not come to its end: alone it is a difference, both together decide nothing."""
    before, after = evidence.before.outcome, evidence.after.outcome
    failed = [(side, outcome) for side, outcome in (("before", before), ("after", after)) if outcome.kind != "ok"]
    if not failed:
        return None
    reasons = tuple(
        Reason("outcome", f"{side}: {outcome.kind} in the stage {outcome.stage}: {key_line(outcome)}", DIFFERENT)
        for side, outcome in failed
    )
    return (Ruling.UNDECIDED if len(failed) == 2 else Ruling.DIFFERENT), reasons


def key_line(outcome: Outcome) -> str:
    """Of a traceback, what was raised; of a crash, how the process died, and not what it had said before."""
    lines = outcome.text.strip().splitlines() or [""]
    return lines[0] if outcome.kind == "crash" else lines[-1]


def tell_difference(difference: Difference) -> str:
    sides = {
        "eager": "before and after differ",
        "compiled": "before and after differ once compiled",
        "before": "before, compiled and eager differ",
        "after": "after, compiled and eager differ",
    }[difference.between]
    error = f"; {difference.error}" if difference.error else ""
    return (
        f"{sides} in {difference.case}: {difference.path} has another {difference.what}: "
        f"{difference.first} / {difference.second}{error}"
    )


def compare_numbers(evidence: Evidence) -> Iterator[Reason]:
    before, after = evidence.before, evidence.after
    cases = len(after.cases)
    shown = f"{cases} {'case' if cases == 1 else 'cases'}"
    if evidence.is_valueless:
        yield Reason("equivalence", f"not compared: this device has no values ({shown})", UNKNOWN)
    else:
        yield Reason("equivalence", f"equivalent on {shown}", SAME)
    yield from compare_compiling(evidence)
    yield from compare_captured(before, after, evidence.is_isolating)
    yield from compare_counts("breaks", "graph breaks", before.break_count, after.break_count)
    if before.fullgraph is not None and after.fullgraph is not None:
        yield compare_flags("fullgraph", "fullgraph=True compiles", before.fullgraph, after.fullgraph)
    recompiles = [None if side.recompiles is None else len(side.recompiles) for side in (before, after)]
    yield from compare_counts("recompiles", "recompiles", *recompiles)
    yield from compare_counts("host reads", "host reads", total(before.syncs), total(after.syncs))
    if before.moves or after.moves:
        yield from compare_counts("moves", "moves between devices", total(before.moves), total(after.moves))
    for name, text in (("compiled", "compiled pass"), ("eager", "eager pass"), ("cold start", "cold start")):
        if name in evidence.ratios:
            yield compare_speed(name, text, evidence.ratios[name])
    if not evidence.is_untimed:
        yield from compare_guards(before, after)
    yield from compare_memory(before, after)


def compare_compiling(evidence: Evidence) -> Iterator[Reason]:
    failed = evidence.compile_failures
    if failed:
        flag = compare_flags("compiles", "compiles", "before" not in failed, "after" not in failed)
        why = failed.get("after") or failed.get("before", "")
        yield Reason(flag.name, f"{flag.text} ({why})", flag.tendency)


def compare_captured(before: Measurement, after: Measurement, is_isolating: bool) -> Iterator[Reason]:
    """Less is compiled: then fewer breaks are no merit, unless that is the purpose and something still is.

    What compiles itself no longer is measured as if it were.
    """
    if before.compiles_itself and after.compiles_itself is False:
        yield Reason("captured", "the code compiles itself: yes > no", WORSE)
        return
    first, second = before.captured, after.captured
    if not first or not second or second[1] >= SHARE * first[0]:
        return
    graphs = [sum(graph.operators for graph in side.graphs or ()) for side in (before, after)]
    is_meant = is_isolating and graphs[1] > 0
    text = f"less is compiled{', on purpose' if is_meant else ''}: operators in graphs {graphs[0]} > {graphs[1]}"
    yield Reason("captured", text, SAME if is_meant else WORSE)


def total(counted: Sequence[Sync] | None) -> int | None:
    return None if counted is None else sum(one.count for one in counted)


def compare_counts(name: str, text: str, before: int | None, after: int | None) -> Iterator[Reason]:
    if before is None or after is None:
        return
    shown = f"{text} {before} > {after}" if before != after else f"{text} {after}"
    yield Reason(name, shown, BETTER if after < before else WORSE if after > before else SAME)


def compare_flags(name: str, text: str, before: bool, after: bool) -> Reason:
    words = {True: "yes", False: "no"}
    shown = f"{text}: {words[before]} > {words[after]}" if before != after else f"{text}: {words[after]}"
    return Reason(name, shown, SAME if before == after else BETTER if after else WORSE)


def compare_speed(name: str, text: str, ratio: Ratio) -> Reason:
    """Faster or slower only if the whole interval says so, and by more than two runs of the same code would differ."""
    is_cold = name == "cold start"
    margin = max(COLD_MARGIN if is_cold else MARGIN, noise_in(ratio))
    narrow = COLD_NARROW if is_cold else NARROW
    level = SAME if 1 / narrow <= ratio.low <= ratio.high <= narrow else NOISY
    tendency = BETTER if ratio.low > margin else WORSE if ratio.high < 1 / margin else level
    return Reason(name, f"{text} {ratio_text(ratio, tendency)}", tendency)


def ratio_text(ratio: Ratio, tendency: str) -> str:
    """`1.31x faster [1.27, 1.35]`; slower the other way round, so that the number is above 1 again."""
    if tendency == BETTER:
        return f"{ratio.ratio:.2f}x faster [{ratio.low:.2f}, {ratio.high:.2f}]"
    if tendency == WORSE:
        return f"{1 / ratio.ratio:.2f}x slower [{1 / ratio.high:.2f}, {1 / ratio.low:.2f}]"
    return f"{'too noisy to tell' if tendency == NOISY else 'the same'} [{ratio.low:.2f}, {ratio.high:.2f}]"


def noise_in(ratio: Ratio) -> float:
    """By how much a wide interval must lie beyond 1: by half of its width, as a factor. A narrow one needs nothing."""
    width = ratio.high / ratio.low if ratio.low > 0 else float("inf")
    return math.sqrt(width) if width > WIDE else 1.0


def compare_guards(before: Measurement, after: Measurement) -> Iterator[Reason]:
    first, second = before.guard_us, after.guard_us
    if first is not None and second is not None:
        tendency = guard_tendency(first, second)
        shown = f"{second:.1f}" if tendency == SAME else f"{first:.1f} > {second:.1f}"
        yield Reason("guards", f"guard time {shown} us", tendency)


def guard_tendency(first: float | None, second: float | None) -> str:
    return tendency_of(first, second, GUARD_MARGIN, GUARD_FLOOR_US)


def compare_memory(before: Measurement, after: Measurement) -> Iterator[Reason]:
    first, second = before.peak_bytes, after.peak_bytes
    tendency = memory_tendency(first, second)
    if first is not None and second is not None and tendency != SAME:
        yield Reason("memory", f"peak memory {first / 2**20:.0f} > {second / 2**20:.0f} MB", tendency)


def memory_tendency(first: int | None, second: int | None) -> str:
    return tendency_of(first, second, MEMORY_MARGIN, MEMORY_FLOOR)


def tendency_of(first: float | None, second: float | None, margin: float, floor: float) -> str:
    """Less is better, if it is less by the margin and by the floor."""
    if first is None or second is None:
        return SAME
    more, less = max(first, second), min(first, second)
    if more - less < floor or more < margin * less:
        return SAME
    return BETTER if second < first else WORSE


def combined(verdicts: Sequence[Verdict]) -> Ruling:
    """What several scenarios say together. One that does not run the change says nothing, unless none does.

    What one does not show of the change another may.
    """
    running = [verdict for verdict in verdicts if not is_idle(verdict)]
    gaps = [unseen_in(verdict) for verdict in running if verdict.changed]
    left = set.intersection(*gaps) if gaps else set()
    telling = [verdict.ruling if left & unseen_in(verdict) else ruling_but_effects(verdict) for verdict in running]
    for ruling in (Ruling.DIFFERENT, Ruling.WORSE, Ruling.UNDECIDED, Ruling.PROVEN, Ruling.NEUTRAL):
        if ruling in telling:
            return ruling
    return Ruling.UNDECIDED


def unseen_in(verdict: Verdict) -> set[tuple[str, str]]:
    """The places that a scenario does not show, and what of them; all of a place that it never runs."""
    return {(place.name, text) for place in verdict.changed for text in place.unseen or ("",) * (not place.ran)}


def ruling_but_effects(verdict: Verdict) -> Ruling:
    """What a verdict would say if all of the change had been seen."""
    doubts = [reason.name for reason in verdict.reasons if reason.tendency == UNKNOWN]
    return rule(verdict.reasons) if doubts and set(doubts) == {EFFECT} else verdict.ruling


def is_idle(verdict: Verdict) -> bool:
    return any(reason.name == IDLE for reason in verdict.reasons)


def exit_code(ruling: Ruling, keep_neutral: bool) -> int:
    """0 may be written, 3 may not, 4 nobody knows."""
    if ruling is Ruling.UNDECIDED:
        return 4
    return 0 if ruling is Ruling.PROVEN or (ruling is Ruling.NEUTRAL and keep_neutral) else 3
