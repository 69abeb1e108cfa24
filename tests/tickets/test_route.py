"""The codemod that fires is the one, if the ticket is about what it is for; no wrong one is ever named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fullgraph.codemods.codemod import parse_options
from fullgraph.codemods.model import Edit
from fullgraph.codemods.tickets.place import locate
from fullgraph.codemods.tickets.route import route
from fullgraph.codemods.tickets.routes.model import Routed
from fullgraph.codemods.tickets.routes.options import READERS
from fullgraph.codemods.tickets.routes.topics import OTHER_REMEDIES, TOPICS

from .asking import EPOCHS, WHITENING, commit, copied, git, rewrite, route_in, sample_catalogue, ticket_of
from .corpus import PROJECT, Sample, samples

ACTING = "src/orrery/agents/acting.py"
CLOCK = "src/orrery/probes/clock.py"
STORE = "src/orrery/training/store.py"
LEDGER = "src/orrery/training/ledger.py"
FEATURES = "src/orrery/agents/features.py"


def routes_of(sample: Sample, *, even_settled: bool = False) -> list[Routed]:
    catalogue = sample_catalogue()
    return [
        route(ticket, locate(ticket, catalogue.project), catalogue, even_settled=even_settled)
        for ticket in sample.read()
    ]


# The corpus


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.folder.name)
def test_no_ticket_is_routed_wrongly(sample: Sample) -> None:
    for ticket, routed, expected in zip(sample.read(), routes_of(sample), sample.expected, strict=True):
        wanted = expected["route"]["codemod"]
        assert routed.codemod in ("", wanted)
        assert not routed.codemod or dict(routed.options) == expected["route"]["options"]
        assert not (routed.codemod and (ticket.is_resolved or ticket.is_rejected))
        assert routed.codemod or routed.why


def test_nine_of_ten_tickets_with_a_codemod_are_routed() -> None:
    pairs = [
        (routed.codemod, expected["route"]["codemod"])
        for sample in samples()
        for routed, expected in zip(routes_of(sample, even_settled=True), sample.expected, strict=True)
        if expected["route"]["codemod"]
    ]
    right = [routed for routed, wanted in pairs if routed == wanted]
    assert len(pairs) >= 40
    assert all(routed in ("", wanted) for routed, wanted in pairs)
    assert len(right) >= 0.9 * len(pairs)


def test_settled_tickets_are_routed_only_if_asked() -> None:
    settled = [sample for sample in samples() if any(t.is_resolved or t.is_rejected for t in sample.read())]
    assert settled
    for sample in settled:
        for ticket, routed in zip(sample.read(), routes_of(sample), strict=True):
            if ticket.is_resolved or ticket.is_rejected:
                assert not routed.codemod
                assert routed.why.startswith(("resolved", "rejected"))


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.folder.name)
def test_options_are_the_codemods_own_and_it_fires_with_them(sample: Sample) -> None:
    kinds = sample_catalogue().kinds
    for routed in routes_of(sample):
        if routed.codemod:
            kind = kinds[routed.codemod]
            parse_options(kind.name, kind.options_type(), dict(routed.options))
            assert routed.findings
            assert all(finding.codemod == routed.codemod for finding in routed.findings)


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.folder.name)
def test_what_the_ticket_proposes_parses_where_it_is_put(sample: Sample) -> None:
    project = sample_catalogue().project
    for routed in routes_of(sample):
        by_path: dict[str, list[Edit]] = {}
        for edit in routed.literal.edits:
            by_path.setdefault(edit.path, []).append(edit)
        for path, edits in by_path.items():
            compile(project.source(path).splice(edits), path, "exec")
        assert not routed.codemod or routed.literal.edits or routed.literal.why_not


def test_the_tables_name_codemods_that_there_are() -> None:
    kinds = sample_catalogue().kinds
    assert {*READERS, *OTHER_REMEDIES} <= set(TOPICS) <= set(kinds)


# What has to be said to the codemod, and what has changed since


def test_a_function_that_is_named_for_the_decorator_gets_it(tmp_path: Path) -> None:
    root = copied(tmp_path)
    (root / "src/orrery/probes/shapes.py").write_text(
        "import torch\n\n\ndef describe(model):\n    return [p.shape for p in model.parameters()]\n"
    )
    text = (
        "# describe() ends up in compiled graphs\n**Severity:** P3\n**File:** `src/orrery/probes/shapes.py`\n"
        "**Function:** `describe`\n\n## Fix\n\n```python\n@torch.compiler.disable\ndef describe(...):\n    ...\n```\n"
    )
    routed = route_in(root, text)
    assert (routed.codemod, routed.symbols) == ("disable_compile", ("describe",))
    assert [edit.new_text for edit in routed.literal.edits] == ["@torch.compiler.disable\n"]


def test_code_that_is_fixed_already_gets_no_codemod(tmp_path: Path) -> None:
    root = copied(tmp_path)
    rewrite(root, ACTING, "chosen[name][i].item()", "chosen[name][i]")
    text = (
        f"# One .item() per element\n**Severity:** P2\n**File:** `{ACTING}:13`\n\n```python\nreturn [{{name: "
        "chosen[name][i].item() for name in chosen} for i in range(n_sims)]\n```\n"
    )
    routed = route_in(root, text)
    assert routed.codemod == ""
    assert routed.nearest == "batch_host_reads"


def test_a_renamed_function_in_a_renamed_file_is_routed(tmp_path: Path) -> None:
    root = copied(tmp_path)
    commit(root)
    git(root, "mv", EPOCHS, "src/orrery/training/schedule.py")
    commit(root)
    rewrite(root, "src/orrery/training/schedule.py", "def train_epoch", "def one_epoch")
    commit(root)
    text = f"# Autocast per batch\n**Severity:** P2\n**File:** `{EPOCHS}:15`\n**Function:** `train_epoch`\n"
    routed = route_in(root, text)
    assert routed.codemod == "hoist_autocast"
    assert routed.findings[0].symbol == "one_epoch"


def test_an_option_that_does_not_fit_is_dropped_and_said(tmp_path: Path) -> None:
    text = (
        f"# Redundant wait_stream\n**Severity:** P2\n**File:** `{EPOCHS}:56-57`\n\n## Fix\n\nOnly if needed:\n\n"
        "```python\nif pilot.stream and not no_such_flag:\n    pilot.stream.wait_stream(...)\n```\n"
    )
    routed = route_in(PROJECT, text)
    assert (routed.codemod, routed.options) == ("skip_redundant_wait_stream", ())
    assert "no_such_flag" in routed.notes[0]


def test_a_ticket_is_known_to_its_findings() -> None:
    text = f"# DEV-1: silent device moves\n**ID:** DEV-1\n**Severity:** P2\n**File:** `{WHITENING}:31`\n"
    assert [finding.ticket for finding in route_in(PROJECT, text).findings] == ["DEV-1"]


def test_the_same_ticket_is_answered_in_the_same_way() -> None:
    text = f"# Silent device moves\n**Severity:** P2\n**File:** `{WHITENING}:31`\n"
    assert route_in(PROJECT, text) == route_in(PROJECT, text)


# The ticket's own fix

GUARD = "if obs.device != self.mean.device:\n    self.to(obs.device)\n"
FIXED = 'if obs.device != self.mean.device:\n    raise ValueError("device")\n'


def literal_of(path: str, before: str, after: str, rest: str = "") -> Routed:
    text = f"# Device moves\n**Severity:** P2\n**File:** `{path}`\n{rest}\n## Problem\n\nSilent device moves.\n\n"
    return route_in(PROJECT, f"{text}```python\n{before}```\n\n## Fix\n\nRaise:\n\n```python\n{after}```\n")


def test_the_tickets_own_fix_replaces_what_it_quotes() -> None:
    routed = literal_of(WHITENING, GUARD, FIXED, "**Function:** `OrbitFilter.whiten`\n")
    (edit,) = routed.literal.edits
    text = sample_catalogue().project.source(WHITENING).splice([edit]).decode()
    assert text.count("raise ValueError") == 1
    assert text.count("self.to(obs.device)") == 1


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (GUARD.replace("mean", "mu"), FIXED, "not what the file says"),
        (GUARD, FIXED + "...\n", "leaves something out"),
        (GUARD + "...\n", FIXED, "does not quote"),
        (GUARD, GUARD, "says so already"),
    ],
)
def test_a_fix_that_could_be_read_in_two_ways_is_not_written(before: str, after: str, why: str) -> None:
    routed = literal_of(WHITENING, before, after)
    assert not routed.literal.edits
    assert why in routed.literal.why_not


def test_routes_can_be_compared_and_printed() -> None:
    routed = literal_of(WHITENING, GUARD, FIXED)
    assert json.dumps(dict(routed.options)) == "{}"
    assert hash(routed) == hash(literal_of(WHITENING, GUARD, FIXED))
    assert ticket_of("# A\n**Severity:** P1\n**File:** `a.py`\n").id
