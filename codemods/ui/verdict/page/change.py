"""The change side by side: what was on the left, what it became on the right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from fullgraph.codemods.ui.verdict.diff import FileDiff, Hunk, Line, Pair, Span, changed_words, read_diff, side_by_side
from fullgraph.codemods.ui.verdict.page.code import code
from fullgraph.codemods.ui.verdict.page.markup import Html, element, markup
from fullgraph.codemods.ui.verdict.page.places import titled
from fullgraph.validate.model import ChangedPlace, Verdict

UNFOLDED = 160
"""Lines of all files together up to which they are shown without being asked for."""


def change_section(verdict: Verdict) -> Html:
    files = read_diff(verdict.diff)
    if not files:
        return element("p", "No diff is stored with this verdict.", class_="quiet")
    shown: list[Html] = []
    lines = 0
    for file in files:
        lines += sum(len(hunk.lines) for hunk in file.hunks)
        shown.append(file_block(file, verdict, is_open=not shown or lines <= UNFOLDED))
    legend = "A dot beside a number: this changed line ran." if verdict.before.ran or verdict.after.ran else None
    places = titled("Changed places", [seen_entry(place) for place in verdict.changed])
    return markup(shown, legend and element("p", legend, class_="quiet"), places)


def seen_entry(place: ChangedPlace) -> Html:
    """A changed place, and what was seen of it."""
    return markup(
        element("code", place.name), element("p", place.sentence, class_=None if place.is_seen else "unknown")
    )


def file_block(file: FileDiff, verdict: Verdict, is_open: bool) -> Html:
    come, gone = file.counts
    renamed = file.before and file.after and file.before != file.after
    name = f"{file.before} > {file.after}" if renamed else file.path
    fate = "" if file.before and file.after else "new file" if file.after else "file removed"
    summary = element(
        "summary",
        element("code", name),
        " ",
        element("span", f"+{come}", class_="come-count"),
        " ",
        element("span", f"\u2212{gone}", class_="gone-count"),
        f" {fate}" if fate else None,
    )
    return element("details", summary, file_table(file, verdict), class_="file", open=is_open)


def file_table(file: FileDiff, verdict: Verdict) -> Html:
    ran = (verdict.before.ran.get(file.before, ()), verdict.after.ran.get(file.after, ()))
    bodies = [hunk_bodies(hunk, [lines_of(side) for side in ran], is_python(file.path)) for hunk in file.hunks]
    head = element(
        "thead",
        element("tr", element("th", "before", colspan=2, scope="col"), element("th", "after", colspan=2, scope="col")),
    )
    columns = [element("col", class_=kind) for kind in ("n", "c", "n", "c")]
    return element("table", element("colgroup", columns), head, bodies, class_="diff", dir="ltr")


def lines_of(ran: Sequence[int]) -> frozenset[int]:
    return frozenset(map(abs, ran))


def is_python(path: str) -> bool:
    return path.endswith((".py", ".pyi", ".ipynb"))


def hunk_bodies(hunk: Hunk, ran: Sequence[frozenset[int]], colored: bool) -> Iterator[Html]:
    """Every run of changed lines is a body of its own: where there is no room, the old ones stand above the new."""
    title = f"line {hunk.first}" + (f": {hunk.heading}" if hunk.heading else "")
    yield element("tbody", element("tr", element("th", title, colspan=4, scope="rowgroup")), class_="hunk")
    for is_same, pairs in groupby(side_by_side(hunk), lambda pair: pair[0] is pair[1]):
        rows = (pair_row(pair, ran, colored) for pair in pairs)
        yield element("tbody", rows, class_="same" if is_same else "changed")


def pair_row(pair: Pair, ran: Sequence[frozenset[int]], colored: bool) -> Html:
    old, new = pair
    if old is new and old is not None:
        cells = [*side_cells(old, old.old, "", (), colored), *side_cells(old, old.new, "", (), colored)]
        return element("tr", cells)
    texts = [shown_text(line, other) for line, other in ((old, new), (new, old))]
    marks: tuple[Sequence[Span], Sequence[Span]] = changed_words(*texts) if old and new else ((), ())
    cells = []
    for line, number, text, spans, has_run, kind in (
        (old, old.old if old else None, texts[0], marks[0], ran[0], "gone"),
        (new, new.new if new else None, texts[1], marks[1], ran[1], "come"),
    ):
        cells += side_cells(line, number, kind, spans, colored, text, number in has_run)
    return element("tr", cells)


def shown_text(line: Line | None, other: Line | None) -> str:
    """The line without its carriage return, unless that is what differs."""
    if line is None:
        return ""
    is_same = other is None or line.text.endswith("\r") == other.text.endswith("\r")
    return line.text.removesuffix("\r") if is_same else line.text


def side_cells(
    line: Line | None,
    number: int | None,
    kind: str,
    marks: Sequence[Span],
    colored: bool,
    text: str | None = None,
    has_run: bool = False,
) -> Iterator[Html]:
    if line is None:
        yield from (element("td", class_="n none"), element("td", class_="c none"))
        return
    shown = line.text.removesuffix("\r") if text is None else text
    end = element("span", "no newline at the end", class_="control") if line.lacks_newline else None
    names = " ".join(filter(None, ["n", kind, "ran" if has_run else ""]))
    yield element("td", str(number), class_=names, title="this line ran" if has_run else None)
    yield element("td", code(shown, marks, colored), end, class_=f"c {kind}".strip())
