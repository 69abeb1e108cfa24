"""Verdicts as one page that opens anywhere, offline: the ruling, the evidence, and at the foot where it ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from string import Template
from typing import Any

from fullgraph.codemods.ui.verdict.as_text import short_sentence, where
from fullgraph.codemods.ui.verdict.page.change import change_section
from fullgraph.codemods.ui.verdict.page.graphs import graphs_section
from fullgraph.codemods.ui.verdict.page.markup import Child, Html, element, escape, markup
from fullgraph.codemods.ui.verdict.page.places import differences_section, outcome_block, places_section
from fullgraph.codemods.ui.verdict.page.plots import speed_section
from fullgraph.codemods.ui.verdict.places import count_of
from fullgraph.codemods.ui.verdict.rows import WORDS, Row, rows
from fullgraph.validate.judge import combined
from fullgraph.validate.model import Ruling, Verdict

FILES = Path(__file__).parent / "page"

SAME = "Before and after are equivalent"
MEANINGS = {
    Ruling.PROVEN: f"{SAME}, and after is better in a number that is named here.",
    Ruling.NEUTRAL: f"{SAME}, and nothing is better: what was found does not show here.",
    Ruling.WORSE: f"{SAME}, but a number got worse.",
    Ruling.DIFFERENT: "Before and after are not equivalent.",
    Ruling.UNDECIDED: "It could not be told whether before and after are equivalent.",
}
SECTIONS = {
    "change": ("Change", change_section),
    "graphs": ("Graphs", graphs_section),
    "speed": ("Speed", speed_section),
    "numbers": ("Numbers", lambda verdict: numbers_section(verdict)),
    "places": ("Places", places_section),
}


def verdict_html(verdicts: Sequence[Verdict], title: str = "") -> str:
    """The whole page. It asks for nothing from anywhere else, and says so to the browser."""
    title = title or default_title(verdicts)
    template = Template((FILES / "page.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(title),
        style=(FILES / "page.css").read_text(encoding="utf-8"),
        navigation=navigation(verdicts),
        overview=overview(verdicts),
        verdicts=markup(article(verdict, number, verdicts) for number, verdict in enumerate(verdicts, 1)),
        environment=environments(verdicts),
    )


def default_title(verdicts: Sequence[Verdict]) -> str:
    if len(verdicts) == 1:
        return f"{verdicts[0].scenario.name}: before and after"
    return f"{count_of(len(verdicts), 'scenario')}: before and after"


def navigation(verdicts: Sequence[Verdict]) -> Html:
    """Of one verdict its sections; of several the overview, which leads to each."""
    if len(verdicts) == 1:
        links = [("v1", "Verdict"), *((f"v1-{name}", label) for name, (label, _) in SECTIONS.items())]
    else:
        links = [("overview", "All verdicts")]
    links.append(("environment", "Environment"))
    entries = (element("li", element("a", label, href=f"#{place}")) for place, label in links)
    return element("nav", element("ul", entries), aria_label="Contents")


def overview(verdicts: Sequence[Verdict]) -> Html:
    """Of several verdicts: what they say together, and each in a line."""
    if len(verdicts) == 1:
        return Html()
    ruling = combined(verdicts)
    counts = Counter(verdict.ruling for verdict in verdicts)
    told = ", ".join(f"{counts[one]} {one.value}" for one in Ruling if counts[one])
    lines = (
        element(
            "li",
            element("a", verdict.scenario.name, href=f"#v{number}"),
            " ",
            element("b", verdict.ruling.value, class_=f"ruling {verdict.ruling.value}"),
            element("p", short_sentence(verdict), class_="quiet"),
        )
        for number, verdict in enumerate(verdicts, 1)
    )
    head = element("p", "Together ", element("b", ruling.value, class_=f"ruling {ruling.value}"), f": {told}.")
    return element("section", head, element("ol", lines), id="overview", aria_label="All verdicts")


def article(verdict: Verdict, number: int, verdicts: Sequence[Verdict]) -> Html:
    place = f"v{number}"
    same = next((n for n, one in enumerate(verdicts[: number - 1], 1) if one.diff and one.diff == verdict.diff), 0)
    return element(
        "article",
        head_of(verdict, place),
        failures(verdict, place),
        (
            section(place, name, label, same_change(same) if same and name == "change" else write(verdict))
            for name, (label, write) in SECTIONS.items()
        ),
        id=place,
        class_=f"verdict {verdict.ruling.value}",
        aria_labelledby=f"{place}-ruling",
    )


def section(place: str, name: str, label: str, body: Child, kind: str | None = None) -> Html:
    heading = element("h3", label, id=f"{place}-{name}-title")
    return element("section", heading, body, id=f"{place}-{name}", aria_labelledby=f"{place}-{name}-title", class_=kind)


def same_change(number: int) -> Html:
    return element("p", "The same change as ", element("a", "above", href=f"#v{number}-change"), ".", class_="quiet")


def head_of(verdict: Verdict, place: str) -> Html:
    """The ruling, what it means, the sentence, and every reason with the way it points."""
    scenario = verdict.scenario
    target = None if scenario.target == scenario.name else element("code", scenario.target, class_="quiet")
    return element(
        "header",
        element(
            "h2",
            element("span", verdict.ruling.value.capitalize(), class_="word"),
            " ",
            element("code", scenario.name),
            " ",
            target,
            id=f"{place}-ruling",
        ),
        element("p", meaning_of(verdict), class_="meaning"),
        element("p", short_sentence(verdict), class_="sentence"),
        element("p", where(verdict), class_="quiet"),
        reason_list(verdict),
        notice_list(verdict),
        class_="head",
    )


def meaning_of(verdict: Verdict) -> str:
    """The ruling in a sentence; it claims no equivalence that no reason names."""
    text = MEANINGS[verdict.ruling]
    if any(reason.name == "equivalence" and reason.tendency == "same" for reason in verdict.reasons):
        return text
    return text.replace(SAME, "What before and after return was not compared")


def reason_list(verdict: Verdict) -> Html:
    """What decided, and what else was looked at."""
    entries = (
        element(
            "li",
            element("b", reason.name),
            " ",
            element("span", WORDS.get(reason.tendency, reason.tendency)),
            class_=f"reason {reason.tendency}",
        )
        for reason in verdict.reasons
    )
    return element("ul", entries, class_="reasons", aria_label="What decided")


def notice_list(verdict: Verdict) -> Html | None:
    if not verdict.notices:
        return None
    entries = (element("li", notice) for notice in verdict.notices)
    return element("aside", element("p", "To know"), element("ul", entries), class_="notices", aria_label="Notices")


def failures(verdict: Verdict, place: str) -> Iterator[Html]:
    """What comes before all evidence: a side that failed, and the first difference."""
    outcomes = [block for side in (verdict.before, verdict.after) if (block := outcome_block(side))]
    if outcomes:
        yield section(place, "outcome", "How it ended", outcomes, "failure")
    if verdict.differences:
        yield section(place, "difference", "First difference", differences_section(verdict.differences), "failure")


def numbers_section(verdict: Verdict) -> Html:
    all_rows = rows(verdict)
    heads = [element("th", head, scope="col") for head in ("number", "before", "after", "what follows")]
    table = element(
        "table",
        element("thead", element("tr", heads)),
        element("tbody", (number_row(row) for row in all_rows if row.is_measured)),
        class_="numbers",
    )
    missing = [row.name for row in all_rows if not row.is_measured]
    told = element("p", f"Not measured: {', '.join(missing)}.", class_="quiet") if missing else None
    return markup(table if len(missing) < len(all_rows) else None, told)


def number_row(row: Row) -> Html:
    return element(
        "tr",
        element("th", row.name, scope="row"),
        element("td", row.before, class_="number"),
        element("td", row.after, class_="number"),
        element("td", row.follows, class_=f"follows {row.tendency}".strip()),
    )


def environments(verdicts: Sequence[Verdict]) -> Html:
    """Where it ran and how it was asked for: once, if it was the same for all."""
    facts = [facts_of(verdict) for verdict in verdicts]
    if all(one == facts[0] for one in facts):
        return fact_list(facts[0]) if facts else Html()
    return markup(
        (element("h4", verdict.scenario.name), fact_list(one)) for verdict, one in zip(verdicts, facts, strict=True)
    )


def facts_of(verdict: Verdict) -> dict[str, str]:
    known = {**verdict.environment}
    order = ["torch", "python", "device", "name", "driver", "platform", "threads", "cannot_show", "command"]
    names = [*(name for name in order if name in known), *sorted(set(known) - set(order))]
    facts = {name.replace("_", " "): fact_text(known[name]) for name in names}
    facts["settings"] = fact_text({k: v for k, v in asdict(verdict.settings).items() if v not in ("", None)})
    return {name: text for name, text in facts.items() if text}


def fact_text(fact: Any) -> str:
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    if isinstance(fact, Mapping):
        return ", ".join(f"{name} {fact_text(one)}" for name, one in fact.items() if one is not None)
    if isinstance(fact, list | tuple):
        return ", ".join(map(fact_text, fact))
    return "" if fact is None else str(fact)


def fact_list(facts: Mapping[str, str]) -> Html:
    entries = (element("div", element("dt", name), element("dd", text)) for name, text in facts.items())
    return element("dl", entries, class_="facts")
