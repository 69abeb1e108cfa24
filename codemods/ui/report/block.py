"""A finding on the screen, as people know it from compilers: title, place, code, fix, remarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from fullgraph.codemods.ui.report.code import CodeLayout
from fullgraph.codemods.ui.screen import Screen, joined, on_one_line
from fullgraph.codemods.ui.view import Badge, View

if TYPE_CHECKING:
    from rich.text import Text

COLORS = {Badge.SAFE: "green", Badge.OBSERVED: "cyan", Badge.UNSAFE: "yellow", Badge.LEFT: "dim"}
MOST = 8
"""Other places that are named of findings that say the same."""


def block(view: View, screen: Screen, *, is_first: bool = True) -> Text:
    """All of it. What holds for every finding of the codemod is told with the first one only."""
    hunks = [hunk for part in view.fix if not part.is_new for hunk in part.hunks]
    numbers = [line.number for lines in (view.frame, *hunks) for line in lines]
    layout = CodeLayout(len(str(max(numbers, default=1))), screen.width, COLORS[view.badge])
    lines = [*title(view, screen), *place(view, layout)]
    for part in (code(view, layout), remarks(view, screen, layout.digits, is_first=is_first)):
        if shown := [*part]:
            lines += [layout.gutter(), *shown] if view.frame else shown
    return joined(lines)


def code(view: View, layout: CodeLayout) -> Iterator[Text]:
    """The frame, then the fix. Where the fix begins with the very line of the frame, that is shown once."""
    parts, own = view.fix, [part for part in view.fix if part.path == view.path]
    if len(view.frame) == 1 and own and len(own[0].hunks) == 1:
        first, *rest = own[0].hunks[0]
        if (first.sign, first.number, first.text) == ("-", view.frame[0].number, view.frame[0].text):
            yield from layout.frame(view.frame, "-")
            yield from layout.fix((replace(own[0], hunks=(tuple(rest),)), *parts[1:]), view.path)
            return
    yield from layout.frame(view.frame) if view.frame else ()
    if parts:
        yield layout.gutter()
        yield from layout.fix(parts, view.path)


def title(view: View, screen: Screen) -> Iterator[Text]:
    from rich.text import Text

    text = Text.assemble((view.codemod, "bold cyan"), f" [{view.badge.value}] ", (on_one_line(view.title), "bold"))
    text.stylize(COLORS[view.badge], len(view.codemod) + 1, len(view.codemod) + 3 + len(view.badge.value))
    return screen.wrap(text, hang=2)


def place(view: View, layout: CodeLayout) -> Iterator[Text]:
    from rich.text import Text

    within = "" if view.symbol in ("", "<module>") else f" in {on_one_line(view.symbol)}"
    arrow = (f"{'':{layout.digits}}--> ", "blue")
    yield Text.assemble(arrow, on_one_line(view.place), (within, "dim"))


def remarks(view: View, screen: Screen, indent: int, *, is_first: bool) -> Iterator[Text]:
    """What is to be known beside the code, a line each."""
    from rich.text import Text

    for label, text in said(view, is_first=is_first):
        style = COLORS[Badge.UNSAFE] if label == Badge.UNSAFE.value else ""
        told = Text.assemble(("= ", "blue"), (f"{label}: ", f"bold {style}".strip()), on_one_line(text))
        yield from screen.wrap(told, indent + 1, indent + 3)


def said(view: View, *, is_first: bool) -> Iterator[tuple[str, str]]:
    if view.also:
        more = len(view.also) - MOST
        yield "also at", ", ".join(view.also[:MOST]) + (f" and {more} more" if more > 0 else "")
    if view.cost:
        yield "observed", view.cost
    yield from (remark for remark in view.remarks() if remark[0] != "new" or not view.fix)
    if is_first and view.is_fixable:
        yield from [("gain", view.gain)] if view.gain else []
        yield "help", view.help


def concise(view: View) -> str:
    """`path:line:col: codemod: message [badge]`, in one line whatever its parts hold."""
    verb = "" if view.outcome == "found" else f"{view.outcome}: "
    return on_one_line(f"{view.place}: {verb}{view.codemod}: {view.title} [{view.badge.value}]")


def heading(path: str, number: str) -> Text:
    """Above the findings of one file."""
    from rich.text import Text

    return Text.assemble((on_one_line(path), "bold underline"), (f"  {number}", "dim"))
