"""Tickets in the words of many reviewers, about three more projects: what is meant is found, what is not is left."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

import pytest

from fullgraph.codemods.tickets.place import locate
from fullgraph.codemods.tickets.route import route
from fullgraph.codemods.tickets.routes.firing import Catalogue
from fullgraph.codemods.tickets.routes.model import Routed
from fullgraph.codemods.tickets.routes.proposals import defends_the_code, proposals_in, proposed_in, refused_in
from fullgraph.codemods.tickets.routes.wording import wording_of, words_in

from .asking import catalogue_of, sample_catalogue, ticket_of
from .corpus import CORPUS

NAMES = ("rain", "quarry", "bakery")


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


# The three projects


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
        "If it is meant, please add a comment.",
        "Only create it for half precision.",
        "Loop over the tuple.",
        "Better is to collect them in one tensor.",
        "The output needs a clone.",
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
        "serve.py:35.",
        "Above the limit the gradient is zero.",
        "Dynamo has to guard on each of them.",
        "Please do not move it.",
        "The timer should not block at each stop.",
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


# What is refused, and what is doubtful

HEAD = "**Severity:** P2\n**File:** `{}`\n"


def in_bakery(title: str, place: str, prose: str) -> Routed:
    return routed_in("bakery", f"# {title}\n{HEAD.format(place)}\n{prose}\n")


@pytest.mark.parametrize(
    ("sentence", "clause"),
    [
        ("Do not flatten the keys, they are fine.", "flatten the keys"),
        ("Please no caching here.", "caching here"),
        ("The keys should not be packed but documented.", "be packed"),
        ("It never warns.", ""),
    ],
)
def test_what_a_ticket_asks_not_to_do_ends_with_its_clause(sentence: str, clause: str) -> None:
    text = f"# Keys\n{HEAD.format('a.py')}\n{sentence}\n"
    assert refused_in(ticket_of(text)) == ([clause] if clause else [])


@pytest.mark.parametrize(
    ("sentence", "defends"),
    [
        ("The move is deliberate.", True),
        ("Leave it as it is.", True),
        ("It was rolled back last week.", True),
        ("Tuple keys are fine here.", True),
        ("Was this done on purpose?", False),
        ("That is not intentional.", False),
        ("Keep the numbers equal.", False),
        ("It is fine on the CPU, but not on a GPU.", False),
    ],
)
def test_a_ticket_may_defend_the_code(sentence: str, defends: bool) -> None:
    assert defends_the_code(ticket_of(f"# Keys\n{HEAD.format('a.py')}\n{sentence}\n")) is defends


def test_the_remedy_is_not_taken_from_a_sentence_that_refuses_it() -> None:
    place, wrong = "oven/observe.py:34-35", "ProbeScaler silently follows its input to another device."
    assert in_bakery("Device move", place, f"{wrong} Warn.").codemod == "warn_on_device_migration"
    assert not in_bakery("Device move", place, f"{wrong} Please do not warn.").codemod


def test_a_refusal_speaks_of_the_remedy_and_not_of_what_is_wrong() -> None:
    place = "oven/telemetry.py:40-43"
    routed = in_bakery("Timer waits", place, "The timer should not wait every time. Make it optional.")
    assert routed.codemod == "sample_timer_sync"


def test_who_wants_the_code_as_it_is_is_told_so() -> None:
    routed = in_bakery("Tuple keys", "oven/synergy.py:16", "The keys are pairs by design.")
    assert (routed.codemod, routed.nearest) == ("", "")
    assert "wants the code as it is" in routed.why


def test_without_a_proposal_the_headline_must_say_what_is_wrong() -> None:
    place, prose = "oven/telemetry.py:40-43", "The host waits for the device when the timer stops."
    assert in_bakery("Timer waits for the device", place, prose).codemod == "sample_timer_sync"
    doubtful = in_bakery("BakeTimer and the dashboard", place, prose)
    assert (doubtful.codemod, doubtful.nearest) == ("", "sample_timer_sync")
    assert "does not clearly ask for that" in doubtful.why


def test_a_remedy_that_no_codemod_is_for_contradicts() -> None:
    place, wrong = "oven/net.py:88", "The loop over the dict `gates` decides the order."
    assert in_bakery("Dict loop", place, f"{wrong} Loop over HEADS.").codemod == "iterate_constant_keys"
    assert not in_bakery("Dict loop", place, f"{wrong} Assert that it equals HEADS.").codemod


def test_another_name_than_the_one_that_would_be_written_is_another_remedy() -> None:
    place, wrong = "oven/serve.py:46", "The private name is only true for traces."
    assert in_bakery("Private API", place, f"{wrong} Use torch.jit.is_tracing.").codemod == "use_public_compiler_api"
    assert not in_bakery("Private API", place, f"{wrong} Use torch.compiler.is_exporting.").codemod


def test_words_match_from_their_start() -> None:
    assert words_in("together", "read together") == {"together"}
    assert not words_in("together", "delete them altogether")
    assert words_in("compil", "it recompiles") == {"compil"}
    assert words_in("timer", "BakeTimer") == {"timer"}
    assert words_in(r"\.item\b", "loss.item()") == {".item"}


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
