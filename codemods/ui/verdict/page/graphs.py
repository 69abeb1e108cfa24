"""Graphs before and after as a picture: boxes in the order of capture, and a gap wherever a break tears them apart."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.codemods.ui.verdict.page.frames import Captured, Frame, frames_of
from fullgraph.codemods.ui.verdict.page.markup import Html, element, markup
from fullgraph.codemods.ui.verdict.places import count_of, place_of
from fullgraph.validate.model import Break, Graph, Measurement, Verdict

ROOMY = 14
"""Boxes up to which each has room for words; more are drawn small."""


def graphs_section(verdict: Verdict) -> Html:
    sides = (verdict.before, verdict.after)
    most = max((graph.operators for side in sides for graph in side.graphs or ()), default=0)
    is_small = any(len(side.graphs or ()) + len(side.breaks or ()) > 2 * ROOMY for side in sides)
    lanes = [lane(side, most, is_small) for side in sides]
    return markup(element("div", lanes, class_="lanes"), element("p", key_of(verdict), class_="quiet key"))


def key_of(verdict: Verdict) -> Iterator[Html | str]:
    """What the boxes mean, as far as they occur."""
    graphs = [graph for side in (verdict.before, verdict.after) for graph in side.graphs or ()]
    breaks = [gap for side in (verdict.before, verdict.after) for gap in side.breaks or ()]
    if graphs:
        yield from (element("span", class_="sample graph"), "a graph with its number of operators ")
    if any(gap.kind == "break" for gap in breaks):
        yield from (element("span", class_="sample gap"), "a break ")
    if any(graph.recompile for graph in graphs):
        yield from (element("span", class_="sample graph again"), "compiled again for other inputs ")
    if any(gap.kind != "break" for gap in breaks):
        yield from (element("span", class_="sample skipped"), "a function that was not compiled at all")


def lane(side: Measurement, most: int, is_small: bool) -> Html:
    title = element("h4", side.side.capitalize(), " ", element("span", totals(side), class_="quiet"))
    if side.graphs is None:
        return element("section", title, element("p", "Not measured.", class_="quiet"), class_="lane")
    frames = [frame_item(frame, most, is_small) for frame in frames_of(side)]
    if not frames:
        return element("section", title, element("p", "No graph was captured.", class_="quiet"), class_="lane")
    picture = element("ol", frames, class_="frames small" if is_small else "frames")
    return element("section", title, picture, class_="lane")


def totals(side: Measurement) -> str:
    parts = []
    if side.graphs is not None:
        parts += [count_of(len(side.graphs), "graph"), count_of(len(side.recompiles or ()), "recompile")]
    if side.break_count is not None:
        parts.insert(1, count_of(side.break_count, "break"))
    return ", ".join(parts)


def frame_item(frame: Frame, most: int, is_small: bool) -> Html:
    name = element(
        "p",
        element("code", frame.function),
        " ",
        element("span", f"{frame.file}:{frame.line}", class_="quiet"),
        class_="frame-name",
    )
    tiles: list[Html] = []
    for one in frame.captured:
        tiles.append(graph_tile(one, most, is_small))
        if one.is_broken:
            tiles.append(gap_tile(one.gap, is_small))
    tiles += [gap_tile(gap, is_small) if gap.kind == "break" else skipped_tile(gap) for gap in frame.others]
    return element("li", name, element("ol", tiles, class_="strip"), class_="frame")


def graph_tile(one: Captured, most: int, is_small: bool) -> Html:
    share = round(100 * one.graph.operators / most) if most else 0
    repeats = element("span", f"\u00d7{1 + len(one.again)}", class_="repeats") if one.again else None
    word = "operator" if one.graph.operators == 1 else "operators"
    return element(
        "li",
        element("b", str(one.graph.operators)),
        element("span", f" {word}", class_="hidden" if is_small else "word"),
        repeats,
        class_="graph again" if one.again else "graph",
        style=f"--share:{share}%",
        title=graph_title(one),
    )


def graph_title(one: Captured) -> str:
    again = [f"compiled again as graph {number}: {graph.recompile}" for number, graph in one.again]
    return "\n".join([f"graph {one.number}, {graph_numbers(one.graph)}", *again])


def graph_numbers(graph: Graph) -> str:
    place = f"{graph.function} ({place_of(graph)})"
    return f"{place}: {count_of(graph.operators, 'operator')}, {count_of(graph.guards, 'guard')}"


def gap_tile(gap: Break | None, is_small: bool) -> Html:
    if gap is None:
        return element("li", element("b", "break"), class_="gap")
    label = gap.id or "break"
    line = f":{gap.line}" if is_small else f"line {gap.line}"
    title = f"{gap.id} {place_of(gap)} in {gap.function}: {gap.reason}".strip()
    return element("li", element("b", label), " ", element("span", line), class_="gap", title=title)


def skipped_tile(gap: Break) -> Html:
    title = f"{gap.id} {place_of(gap)} in {gap.function}: {gap.reason}".strip()
    label = element("b", "not compiled")
    place = element("span", " ".join(filter(None, [gap.id, f"line {gap.line}"])))
    return element("li", label, " ", place, class_="skipped", title=title)
