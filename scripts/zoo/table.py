"""The rows as text: one line for each model, and below it what is to be said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from zoo.entries import SOURCE
from zoo.row import Row

MISSING = "-"
COLUMNS = (
    "model",
    "explain",
    "reported",
    "GraphMend",
    "breaks",
    "fragments",
    "fullgraph",
    "plain outputs",
    "compiled outputs",
    "plain messages",
    "compiled messages",
    "recompiles",
    "cold start",
    "rewrite",
)
LEGEND = f"""Before > after; {MISSING}: not measured.
explain: graph breaks of the first call as torch._dynamo.explain counts them; reported: the same, as known beforehand.
GraphMend: what is left there ({SOURCE}).
breaks: places that break in three calls, by the validator's count. fragments: graphs that run in one forward.
plain outputs: bit for bit, with dtypes, shapes, strides, shared memory, buffers, caches and gradients.
compiled outputs: against plain ones, within the tolerance of the model.
messages: log records, warnings and prints, against plain code before.
cold start: seconds of the first compiled call, and the ratio. rewrite: seconds of every `fullgraph fix --unsafe`."""


def render(rows: Sequence[Row]) -> str:
    lines = [LEGEND]
    for version in dict.fromkeys(row.version for row in rows):
        lines += ["", f"transformers {version}", *render_version([row for row in rows if row.version == version])]
    return "\n".join(lines) + "\n"


def render_version(rows: Sequence[Row]) -> Iterable[str]:
    cells = [COLUMNS, *map(show, rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(COLUMNS))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    yield table[0]
    for line, row in zip(table[1:], rows, strict=True):
        yield line
        yield from (f"    {reason}" for reason in row.reasons)


def show(row: Row) -> tuple[str, ...]:
    return (
        row.model,
        show_pair(row.explained),
        show_one(row.known),
        show_one(row.rival),
        show_pair(row.breaks),
        show_pair(row.fragments),
        show_pair([{None: None, True: "yes", False: "no"}[one] for one in row.fullgraph]),
        show_one(row.plain),
        show_pair(row.compiled),
        show_one(row.messages[0]),
        show_pair(row.messages[1:]),
        show_pair(row.recompiles),
        show_cold(row.cold),
        MISSING if row.seconds is None else f"{row.seconds:.1f} s",
    )


def show_pair(pair: Sequence[Any]) -> str:
    return " > ".join(map(show_one, pair))


def show_one(value: object) -> str:
    return MISSING if value is None else str(value)


def show_cold(pair: Sequence[float | None]) -> str:
    before, after = pair
    shown = " > ".join(MISSING if one is None else f"{one:.1f}" for one in pair)
    return f"{shown} ({after / before:.2f})" if before and after else shown
