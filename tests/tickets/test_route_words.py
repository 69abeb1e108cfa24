"""Tickets in the words of many reviewers, about two more projects: what is meant is found, what is not is left."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

import pytest

from codemods.tickets.place import locate
from codemods.tickets.route import route
from codemods.tickets.routes.firing import Catalogue
from codemods.tickets.routes.model import Routed
from codemods.tickets.routes.proposals import proposals_in, proposed_in
from codemods.tickets.routes.wording import wording_of

from .asking import catalogue_of, sample_catalogue, ticket_of
from .corpus import CORPUS

NAMES = ("rain", "quarry")


@cache
def catalogue_for(name: str) -> Catalogue:
    return catalogue_of(CORPUS / name / "project")


def tickets_of(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((CORPUS / name / "tickets.toml").read_text())["ticket"]
    return found


def routed_in(name: str, text: str) -> Routed:
    ticket = ticket_of(text)
    catalogue = catalogue_for(name)
    return route(ticket, locate(ticket, catalogue.project), catalogue)


# The two projects


@pytest.mark.parametrize("name", NAMES)
def test_no_ticket_is_routed_wrongly(name: str) -> None:
    for each in tickets_of(name):
        routed = routed_in(name, each["text"])
        assert routed.codemod in ("", each["codemod"]), each["text"]
        assert routed.codemod or routed.why


@pytest.mark.parametrize("name", NAMES)
def test_nine_of_ten_are_routed_and_to_the_right_function(name: str) -> None:
    wanted = [each for each in tickets_of(name) if each["codemod"]]
    routes = [routed_in(name, each["text"]) for each in wanted]
    pairs = [(each, routed) for each, routed in zip(wanted, routes, strict=True) if routed.codemod == each["codemod"]]
    assert len(wanted) >= 30
    assert len(pairs) >= 0.9 * len(wanted)
    assert all(each["symbol"] in {finding.symbol for finding in routed.findings} for each, routed in pairs)


@pytest.mark.parametrize("name", NAMES)
def test_half_of_the_tickets_are_for_no_codemod_though_one_fires_near(name: str) -> None:
    others = [each for each in tickets_of(name) if not each["codemod"]]
    near = [each for each in others if "fire" in routed_in(name, each["text"]).why]
    assert len(others) >= 30
    assert len(near) >= len(others) / 2


# What is proposed


@pytest.mark.parametrize(
    "sentence",
    [
        "Add a lock around it.",
        "Anchor it.",
        "Please use the public name.",
        "We could then hoist the flag.",
        "The timer should be optional.",
        "Suggested: one transfer for all.",
        "A plain tensor would be simpler.",
    ],
)
def test_a_sentence_asks_for_something(sentence: str) -> None:
    assert proposals_in(sentence)[0]


@pytest.mark.parametrize(
    "sentence",
    [
        "Each call waits for the device.",
        "One .item() per index.",
        "Recompilation when the views come in another order.",
        "import math stands in the body of forward.",
        "If the net is compiled, the graph breaks.",
        "Use of private names is deprecated.",
    ],
)
def test_a_sentence_asks_for_nothing(sentence: str) -> None:
    assert not proposals_in(sentence)[0]


def test_what_is_asked_for_is_what_follows_the_need() -> None:
    assert proposals_in("The taps are constant, but they should sum to one.")[0] == ["should sum to one."]


def test_the_noun_in_a_title_is_not_a_request() -> None:
    text = "# Copy in the loop\n**Severity:** P2\n**File:** `a.py`\n\nEach pass copies the tensor.\n"
    asked, offered = proposed_in(ticket_of(text))
    assert (asked, offered) == ([], ["Copy in the loop"])


# What words weigh


def test_words_that_many_codemods_share_weigh_less_than_those_of_one() -> None:
    text = "# Import\n**Severity:** P2\n**File:** `a.py`\n\nAn import in a function is looked up again at every call.\n"
    wording = wording_of(ticket_of(text), sample_catalogue().kinds)
    totals = {name: wording.of(name).total for name in ("move_import_to_top", "cache_loop_queries", "hoist_autocast")}
    assert totals["move_import_to_top"] > max(totals["cache_loop_queries"], totals["hoist_autocast"]) > 0
    assert wording.is_about("move_import_to_top")
    assert not wording.is_about("cache_loop_queries")


def test_a_remedy_of_another_kind_contradicts_whatever_the_complaint_is() -> None:
    text = "# Device\n**Severity:** P2\n**File:** `a.py`\n\nThe module silently follows its input. {}\n"
    kinds = sample_catalogue().kinds
    asked = {
        remedy: wording_of(ticket_of(text.format(remedy)), kinds).of("warn_on_device_migration").contradicts
        for remedy in ("Register a buffer.", "Emit a warning.", "")
    }
    assert asked == {"Register a buffer.": True, "Emit a warning.": False, "": False}


def test_prose_in_another_language_leaves_the_code_to_speak() -> None:
    block = "```python\nfor i in range(blades):\n    cuts.append((i, best[i].item()))\n```\n"
    text = (
        f"# Lecture élément par élément dans une boucle\n**Severity:** P2\n**File:** `saw.py`\n\nTrop lent.\n\n{block}"
    )
    assert routed_in("quarry", text).codemod == "batch_host_reads"


def test_what_the_codemod_would_write_counts_whatever_the_words_are() -> None:
    text = (
        "# Liveness\n**Severity:** P2\n**File:** `pluvia/tools/decide.py:37-40`\n\nThe question comes twice.\n\n"
        "## Fix\n\nRather:\n\n```python\nVALUE = bank.is_live(site)\nif VALUE:\n    gains[site] = bank.gain[site] * 2\n"
        "if not VALUE:\n    asleep += 1\n```\n"
    )
    (finding,) = [
        each
        for each in catalogue_for("rain").findings("pluvia/tools/decide.py")
        if each.codemod == "cache_loop_queries"
    ]
    name = finding.edits[0].new_text.split(" =")[0].strip()
    assert routed_in("rain", text.replace("VALUE", name)).codemod == "cache_loop_queries"
    assert not routed_in(
        "rain", text.replace("VALUE", name).replace("bank.gain[site] * 2", "bank.scale(site).clamp(0, 1)")
    ).codemod
