"""A verdict for people, on a terminal: where it ran, the ruling, the numbers, and every place that matters."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fullgraph.codemods.ui.layout import Entry, Paragraph, Piece, lay_out
from fullgraph.codemods.ui.listing import BLANK, MOST, clipped, tell_list, times
from fullgraph.codemods.ui.stage_line import StageLine
from fullgraph.codemods.ui.verdict.places import breaks_by_fate, count_lines, kind_labels, labels_of, place_of, repeated
from fullgraph.codemods.ui.verdict.rows import rows
from fullgraph.validate.judge import combined
from fullgraph.validate.model import Break, Difference, Measurement, Ruling, Sync, Verdict, count_breaks

__all__ = ["StageLine", "verdict_text"]

RULINGS = {
    Ruling.PROVEN: "green",
    Ruling.NEUTRAL: "blue",
    Ruling.WORSE: "yellow",
    Ruling.DIFFERENT: "red",
    Ruling.UNDECIDED: "magenta",
}
TENDENCIES = {"better": "green", "worse": "yellow", "different": "red", "unknown": "magenta"}
IN_FULL = "--report FILE.html shows all"


def verdict_text(verdicts: Sequence[Verdict], color: bool, width: int = 0) -> str:
    """All verdicts, each below where it ran; of several, also what they say together. No width: the terminal's."""
    return lay_out(tell_all(verdicts), color, width or shutil.get_terminal_size().columns)


def tell_all(verdicts: Sequence[Verdict]) -> Iterator[Piece]:
    told = ""
    for verdict in verdicts:
        if told:
            yield BLANK
        if (ran_on := where(verdict)) != told:
            yield Paragraph(ran_on)
            yield BLANK
        told = ran_on
        yield from tell(verdict)
    if len(verdicts) > 1:
        yield BLANK
        yield Paragraph(summary(verdicts), style={"bold": True})


def tell(verdict: Verdict) -> Iterator[Piece]:
    yield from tell_ruling(verdict)
    for side in (verdict.before, verdict.after):
        yield from tell_outcome(side)
    yield from tell_differences(verdict.differences)
    yield from tell_changed(verdict)
    yield from tell_numbers(verdict)
    yield from tell_breaks(verdict)
    yield from tell_recompiles(verdict)
    yield from tell_lines("Host reads", verdict, verdict.before.syncs, verdict.after.syncs)
    yield from tell_lines("Device copies", verdict, verdict.before.moves, verdict.after.moves)
    if verdict.notices:
        yield from tell_list("Notices", [[Paragraph(notice, 2)] for notice in verdict.notices], IN_FULL)


def where(verdict: Verdict) -> str:
    """`Ran on cpu (AMD EPYC, 2 threads), torch 2.13.0, Python 3.11.2. It cannot show: device memory.`"""
    known = verdict.environment
    threads = f"{known['threads']} threads" if known.get("threads") else ""
    inside = ", ".join(str(part) for part in (known.get("name"), threads) if part)
    device = str(known.get("device") or "no known device") + (f" ({inside})" if inside else "")
    versions = [f"{label} {known[key]}" for key, label in (("torch", "torch"), ("python", "Python")) if known.get(key)]
    return f"Ran on {', '.join([device, *versions])}.{cannot_show(verdict)}"


def cannot_show(verdict: Verdict) -> str:
    missing = verdict.environment.get("cannot_show") or ()
    named = missing if isinstance(missing, str) else ", ".join(map(str, missing))
    return f" It cannot show: {named.rstrip('.')}." if named else ""


def summary(verdicts: Sequence[Verdict]) -> str:
    counts = Counter(verdict.ruling for verdict in verdicts)
    named = ", ".join(f"{counts[ruling]} {ruling.value}" for ruling in Ruling if counts[ruling])
    return f"{len(verdicts)} scenarios: {named}; together {combined(verdicts).value}."


def short_sentence(verdict: Verdict) -> str:
    """The sentence with no more of each reason than can be read."""
    reasons = tuple(replace(reason, text=clipped(reason.text)) for reason in verdict.reasons)
    return replace(verdict, reasons=reasons).sentence


def tell_ruling(verdict: Verdict) -> Iterator[Piece]:
    style = {"fg": RULINGS[verdict.ruling], "bold": True}
    yield Paragraph(f"{verdict.ruling.value.upper()}: {verdict.scenario.name}", style=style)
    yield Paragraph(short_sentence(verdict))


def tell_outcome(side: Measurement) -> Iterator[Piece]:
    if side.outcome.kind == "ok":
        return
    stage = f" in the stage {side.outcome.stage}" if side.outcome.stage else ""
    lines = side.outcome.text.strip().split("\n")
    if len(lines) > 2 * MOST:
        gone = f"... {len(lines) - 2 * MOST} lines left out ..."
        lines = [*lines[:MOST], gone, *lines[-MOST:]]
    yield BLANK
    yield Paragraph(f"{side.side}: {side.outcome.kind}{stage}", style={"fg": "red", "bold": True})
    yield Paragraph("\n".join(lines), 2, is_code=True)


def tell_differences(differences: Sequence[Difference]) -> Iterator[Piece]:
    if not differences:
        return
    first, *others = differences
    title, one, other = labels_of(first.between)
    yield BLANK
    yield Paragraph(f"First difference: {title}, in {first.case}", style={"fg": "red", "bold": True})
    yield Paragraph(f"{first.path} differs: {first.what}", 2, {"bold": True})
    for label, text in ((one, first.first), (other, first.second), ("error", first.error)):
        if text:
            yield Paragraph(f"{label}: {clipped(text)}", 4)
    also = [f"{one.path} differs: {one.what} ({labels_of(one.between)[0]}, in {one.case})" for one in others]
    if also:
        yield from tell_list("Other differences", [[Paragraph(text, 2)] for text in also], IN_FULL)


def tell_changed(verdict: Verdict) -> Iterator[Piece]:
    """Every changed place, and what was seen of it."""
    entries = [
        [Paragraph(f"{place.name}: {place.sentence}", 2, {} if place.is_seen else {"fg": "magenta"})]
        for place in verdict.changed
    ]
    yield from tell_list("Changed places", entries, IN_FULL)


def tell_numbers(verdict: Verdict) -> Iterator[Piece]:
    all_rows = rows(verdict)
    measured = [row for row in all_rows if row.is_measured]
    yield BLANK
    if measured:
        yield [
            Entry(("number", "before", "after", "what follows"), {"dim": True}),
            *(
                Entry(
                    (row.name, row.before, row.after, row.follows),
                    {"fg": TENDENCIES[row.tendency]} if row.tendency in TENDENCIES else {},
                )
                for row in measured
            ),
        ]
    if missing := [row.name for row in all_rows if not row.is_measured]:
        yield Paragraph(f"Not measured: {', '.join(missing)}.", style={"dim": True})


def tell_breaks(verdict: Verdict) -> Iterator[Piece]:
    fates = breaks_by_fate(verdict)
    if fates:
        went, came = ([break_pieces(one) for one in found] for found in (fates.went, fates.came))
        stayed = [[stayed_piece(*pair)] for pair in fates.stayed]
        briefly = [pieces[:2] for pieces in went]
        yield from tell_list("Graph breaks that went", briefly, IN_FULL, "green", count_breaks(fates.went))
        yield from tell_list("Graph breaks that came", came, IN_FULL, "yellow", count_breaks(fates.came))
        yield from tell_list("Graph breaks that stayed", stayed, IN_FULL, number=fates.stayed_count)
    else:
        for side in (verdict.before, verdict.after):
            pieces = [break_pieces(one) for one in side.breaks or ()]
            yield from tell_list(f"Graph breaks {side.side}", pieces, IN_FULL, number=side.break_count)
    for side in (verdict.before, verdict.after):
        if side.fullgraph_reason and not side.breaks:
            text = f"fullgraph=True does not compile {side.side}: {clipped(side.fullgraph_reason)}"
            yield from (BLANK, Paragraph(text))


def break_pieces(one: Break) -> list[Paragraph]:
    pieces = [Paragraph(f"{place_of(one)} in {one.function}{labels(one)}", 2), Paragraph(clipped(one.reason), 4)]
    return [*pieces, Paragraph(f"hint: {clipped(one.hint)}", 4, {"dim": True})] if one.hint else pieces


def stayed_piece(before: Break, after: Break) -> Paragraph:
    """What is no news in one line: the first clause of torch's reason names its kind."""
    moved = f" > {after.line}" if after.line != before.line else ""
    kind = clipped(before.reason).partition(": ")[0]
    return Paragraph(f"{place_of(before)}{moved} in {before.function}{labels(before)}: {kind}", 2)


def labels(one: Break) -> str:
    """` (GB0124, not compiled at all, in 2 functions, 3 times)`, as far as there is something to say."""
    named = ", ".join(filter(None, [one.id, *kind_labels(one)]))
    return f" ({named}{times(one.count)})" if named else times(one.count)


def tell_recompiles(verdict: Verdict) -> Iterator[Piece]:
    """Each with the guard that failed; of the same ones on both sides, those after."""
    before, after = (verdict.before.recompiles or (), verdict.after.recompiles or ())
    if [(one.function, one.recompile) for one in before] == [(one.function, one.recompile) for one in after]:
        named = [("before and after", after)]
    else:
        named = [("before", before), ("after", after)]
    for when, recompiles in named:
        entries = [
            [Paragraph(f"{graph.function} ({place_of(graph)}){times(number)}: {clipped(graph.recompile)}", 2)]
            for graph, number in repeated(recompiles)
        ]
        yield from tell_list(f"Recompiles {when}, by the guard that failed", entries, IN_FULL)


def tell_lines(
    title: str, verdict: Verdict, before: Sequence[Sync] | None, after: Sequence[Sync] | None
) -> Iterator[Piece]:
    entries = [
        [Paragraph(f"{one.place} {one.call}: {one.before} > {one.after}", 2)]
        for one in count_lines(verdict, before or (), after or ())
    ]
    yield from tell_list(f"{title} by line, before > after", entries, IN_FULL)
