"""Tickets that were written to be misunderstood: about other things at places where codemods fire, and odd ones."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fullgraph.codemods.tickets.place import locate
from fullgraph.codemods.tickets.route import route
from fullgraph.codemods.tickets.routes.firing import Catalogue
from fullgraph.codemods.tickets.routes.model import Routed

from .asking import catalogue_of, sample_catalogue, ticket_of
from .corpus import CORPUS, PROJECT

DEMO = CORPUS.parent / "demo"
TELEMETRY = {"isolate_telemetry", "disable_compile"}
"""What is said of these two is the same; the code decides."""


def attacks() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("attacks.toml").read_text())["ticket"]
    return found


@cache
def demo_catalogue() -> Catalogue:
    return catalogue_of(DEMO)


def routed_by(text: str, catalogue: Catalogue) -> Routed:
    ticket = ticket_of(text)
    return route(ticket, locate(ticket, catalogue.project), catalogue)


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: str(attack["name"]))
def test_a_ticket_leads_to_what_it_is_about(attack: dict[str, Any]) -> None:
    routed = routed_by(attack["text"], demo_catalogue() if attack["project"] == "demo" else sample_catalogue())
    assert routed.codemod == attack["codemod"] or (attack.get("or_none") and not routed.codemod)
    assert routed.codemod or routed.why


def test_most_tickets_in_unusual_words_are_routed() -> None:
    unusual = [attack for attack in attacks() if attack.get("or_none") and attack["codemod"]]
    catalogues = {"demo": demo_catalogue(), "sample": sample_catalogue()}
    routes = [routed_by(each["text"], catalogues[each["project"]]).codemod for each in unusual]
    right = [each for each, routed in zip(unusual, routes, strict=True) if routed == each["codemod"]]
    assert len(right) >= 0.7 * len(unusual)


# Every codemod's claim, at the places of all others


def claims(catalogue: Catalogue) -> Iterator[tuple[str, str, str]]:
    """For every finding and codemod a ticket at its place that says what reviewers say of the codemod."""
    for path in catalogue.project.files:
        for finding in catalogue.findings(path):
            place = f"**File:** `{path}:{finding.line}-{finding.last_line}`\n**Function:** `{finding.symbol}`\n"
            for name, kind in catalogue.kinds.items():
                yield finding.codemod, name, f"# Finding\n\n**Severity:** P2\n{place}\n## Problem\n\n{kind.claim}\n"


@pytest.mark.parametrize("root", [PROJECT, DEMO], ids=["sample", "demo"])
def test_a_claim_leads_to_its_own_codemod_or_to_none(root: Path) -> None:
    catalogue = sample_catalogue() if root == PROJECT else demo_catalogue()
    for firing, claimed, text in claims(catalogue):
        routed = routed_by(text, catalogue).codemod
        assert routed in ("", claimed) or {routed, claimed} == TELEMETRY, (firing, claimed, routed)
