"""An observed run as one page that opens anywhere, offline: totals, every entry, host reads, and where it ran."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from fullgraph.codemods.ui.observed.as_text import (
    HEADS,
    command_text,
    compiled_text,
    headline,
    place_of,
    recompiles_of,
    seconds,
)
from fullgraph.codemods.ui.verdict.page.markup import Child, Html, element, escape, markup
from fullgraph.validate.model import count_breaks

PAGE = Path(__file__).parent / "page"
STYLE = Path(__file__).parent.parent / "verdict" / "page" / "page.css"
FOLDED = 12
"""Rows of one list from which on it is folded."""

One = Mapping[str, Any]


def observed_html(report: One) -> str:
    """The whole page. It asks for nothing from anywhere else, and says so to the browser."""
    template = Template((PAGE / "page.html").read_text(encoding="utf-8"))
    styles = [file.read_text(encoding="utf-8") for file in (STYLE, PAGE / "page.css")]
    return template.substitute(
        title=escape(command_text(report)),
        style="".join(styles),
        navigation=navigation(report),
        body=markup(*body(report)),
        environment=facts(report),
    )


def navigation(report: One) -> Html:
    links = [("entries", "Entries"), ("reads", "Host reads"), ("environment", "Environment")]
    items = (element("li", element("a", label, href=f"#{place}")) for place, label in links)
    return element("nav", element("ul", items), aria_label="Contents")


def body(report: One) -> Iterator[Child]:
    yield element("p", headline(report), class_="sentence")
    yield notices(report["notices"])
    yield totals(report)
    yield element("section", overview(report["entries"]), id="entries", aria_label="Compiled entries")
    yield [entry_section(entry, number) for number, entry in enumerate(report["entries"], 1)]
    yield element("section", element("h3", "Host reads by line"), reads(report["reads"]), id="reads")


def notices(texts: Sequence[str]) -> Html | None:
    if not texts:
        return None
    items = (element("li", text) for text in texts)
    return element("aside", element("p", "To know"), element("ul", items), class_="notices", aria_label="Notices")


def totals(report: One) -> Html:
    entries = report["entries"]
    figures = [
        ("compiled entries", str(len(entries)), False),
        ("calls", str(sum(one["calls"] for one in entries)), False),
        ("graphs", str(sum(one["graphs"] for one in entries)), False),
        ("breaks", *counted(sum(count_breaks(one["breaks"]) for one in entries))),
        ("recompiles", *counted(sum(map(recompiles_of, entries)))),
        ("host reads", str(sum(one["count"] for one in report["reads"])), False),
        ("compiling", seconds(sum(one["compile_seconds"] for one in entries)), False),
        ("in all", seconds(report["seconds"]), False),
    ]
    items = (
        element("div", element("dt", name), element("dd", text), class_="worse" if is_bad else None)
        for name, text, is_bad in figures
    )
    return element("dl", items, class_="totals")


def counted(number: int) -> tuple[str, bool]:
    return str(number), number > 0


def overview(entries: Sequence[One]) -> Html:
    if not entries:
        return element("p", "Nothing was compiled.", class_="quiet")
    rows = (overview_row(entry, number) for number, entry in enumerate(entries, 1))
    head = element("thead", element("tr", (element("th", text, scope="col") for text in HEADS)))
    table = element("table", head, element("tbody", rows))
    return element("div", table, class_="entries-table", tabindex=0, role="region", aria_label="All entries")


def overview_row(entry: One, number: int) -> Html:
    link = element("a", element("code", entry["name"]), href=f"#e{number}")
    inputs = f"{len(entry['inputs'])}{'+' if entry['other_inputs'] else ''}"
    cells = [(str(entry["calls"]), False), (inputs, False), (str(entry["graphs"]), False)]
    cells += [counted(count_breaks(entry["breaks"])), counted(recompiles_of(entry))]
    cells += [(seconds(entry["compile_seconds"]), False), counted(entry["reentries"])]
    shown = (element("td", text, class_="worse" if is_bad else None) for text, is_bad in cells)
    return element("tr", element("th", link, scope="row"), shown)


def entry_section(entry: One, number: int) -> Html:
    return element(
        "section",
        element("h3", element("code", entry["name"]), id=f"e{number}-title"),
        element("p", element("code", place_of(entry)), compiled_text(entry), class_="quiet"),
        phases(entry),
        reentry_line(entry),
        folded("Breaks", [break_item(one) for one in entry["breaks"]], number=count_breaks(entry["breaks"])),
        folded("Recompiles, by the guard that failed", [recompile_item(one) for one in entry["recompiles"]]),
        inputs_table(entry),
        id=f"e{number}",
        class_="entry",
        aria_labelledby=f"e{number}-title",
    )


def phases(entry: One) -> Html:
    if not entry["calls"]:
        return element("p", "Never called.", class_="quiet")
    items = (element("li", element("b", str(number)), f" {phase}") for phase, number in entry["phases"].items())
    return element("ul", items, class_="phases", aria_label="Calls by phase")


def reentry_line(entry: One) -> Html | None:
    if not entry["reentries"]:
        return None
    never = "" if entry["backwards"] else " No backward ever ran."
    times = f"{entry['reentries']} of {entry['calls']} calls"
    return element("p", f"{times} came before the backward of the call before had run.{never}", class_="again")


def folded(title: str, items: Sequence[Child], kind: str = "places", number: int | None = None) -> Html | None:
    """A list below its title; a long one is folded, an empty one left out. An item may stand for several."""
    if not items:
        return None
    counted = str(len(items) if number is None else number)
    head = [element("span", title, class_="list-title"), " ", element("span", counted, class_="quiet")]
    shown = element("ul", (element("li", item) for item in items), class_=kind)
    return element("details", element("summary", head), shown, class_="list", open=len(items) <= FOLDED)


def break_item(one: One) -> Html:
    kind = {"break": "", "skipped": "not compiled at all"}.get(one["kind"], one["kind"])
    several = f"in {one['frames']} functions" if one.get("frames", 1) > 1 else ""
    labels = [one["id"], kind, several, f"{one['count']} times" if one["count"] > 1 else ""]
    return markup(
        element("code", place_of(one)),
        f" in {one['function']} ",
        [element("span", label, class_="label") for label in labels if label],
        element("p", one["reason"]),
        element("p", f"Hint: {one['hint']}", class_="quiet") if one["hint"] else None,
    )


def recompile_item(one: One) -> Html:
    number = element("span", f"{one['count']} times", class_="label") if one["count"] > 1 else None
    place = element("code", place_of(one))
    return markup(place, f" in {one['function']} ", number, element("p", element("code", one["guard"])))


def inputs_table(entry: One) -> Html | None:
    rows = [(element("code", one["inputs"] or "nothing"), one["count"]) for one in entry["inputs"]]
    if entry["other_inputs"]:
        rows.append((element("span", "others", class_="quiet"), entry["other_inputs"]))
    return counts_table("Inputs", ("inputs", "calls"), rows)


def reads(found: Sequence[One]) -> Html:
    rows = [
        (markup(element("code", place_of(one)), f" in {one['function']} ", element("code", one["call"])), one["count"])
        for one in found
    ]
    return counts_table("Lines", ("line", "reads"), rows) or element("p", "None was seen.", class_="quiet")


def counts_table(title: str, heads: tuple[str, str], rows: Sequence[tuple[Html, int]]) -> Html | None:
    if not rows:
        return None
    numbers = (
        element("tr", element("th", label, scope="row"), element("td", str(number), class_="number"))
        for label, number in rows
    )
    first, second = heads
    head = element("tr", element("th", first, scope="col"), element("th", second, scope="col", class_="number"))
    table = element("table", element("thead", head), element("tbody", numbers), class_="counts")
    named = [element("span", title, class_="list-title"), " ", element("span", str(len(rows)), class_="quiet")]
    return element("details", element("summary", named), table, class_="list", open=len(rows) <= FOLDED)


def facts(report: One) -> Html:
    told = {
        "command": shlex.join(report["command"]),
        "time": report["time"],
        "device": report["device"],
        "torch": report["torch"],
        "python": report["python"],
        "processes": str(len(report["processes"])),
        "exit code": str(report["exit_code"]),
    }
    items = (element("div", element("dt", name), element("dd", text)) for name, text in told.items() if text)
    return element("dl", items, class_="facts")
