"""Each ticket in its turn: its findings are chosen, proven and written with its own file, and undo reopens it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Change, Finding, FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.proving import Prover
from fullgraph.codemods.registry import bundled
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.undo import undo
from fullgraph.codemods.rewrite.walk import plant_trees
from fullgraph.codemods.run import Settler, keep_all, writer_for
from fullgraph.codemods.tickets import read_tickets
from fullgraph.codemods.tickets.fix import Fixer
from fullgraph.codemods.tickets.fixing.choosing import Task
from fullgraph.codemods.tickets.fixing.leftover import left_of
from fullgraph.codemods.tickets.fixing.model import Filed, Handled, Wish
from fullgraph.codemods.tickets.fixing.turn import Left
from fullgraph.codemods.tickets.fixing.whole import whole
from fullgraph.codemods.tickets.route import ALSO
from fullgraph.codemods.tickets.routes.firing import Catalogue
from fullgraph.codemods.tickets.understanding import Understood, understand
from fullgraph.validate.model import Ruling, ValidateError, Verdict

from .asking import WHITENING, copied, sample_catalogue
from .closings import DAY, verdict
from .corpus import CORPUS, samples

ACTING = "src/orrery/agents/acting.py"
ANNOUNCED = (
    "allowed to change: warning: OrbitFilter migrates from cpu to meta; create it there to avoid the move. "
    "(warn_on_device_migration: the migration is announced)"
)
Prove = Callable[[Change, Project], Sequence[Verdict]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return copied(tmp_path)


def put(root: Path, *names: str) -> list[Filed]:
    """Tickets of the corpus in the project, each under its name."""
    filed: list[Filed] = []
    for name in names:
        file = next((CORPUS / name).rglob("ticket.*"))
        path = f"docs/tickets/{name}{file.suffix}"
        (root / "docs/tickets").mkdir(parents=True, exist_ok=True)
        shutil.copy(file, root / path)
        filed += [Filed(ticket, path) for ticket in read_tickets(path, (root / path).read_bytes())]
    return filed


QUOTE = """\
```python
if obs.device != self.mean.device:
    self.to(obs.device)
return (obs - self.mean) / self.spread
```
"""


def put_moves(root: Path, functions: str, code: str = "", level: str = "P1") -> list[Filed]:
    """A ticket about the filter that names these functions, with or without a quote of the last of them."""
    path = "docs/moves.md"
    (root / "docs").mkdir(exist_ok=True)
    if not (root / path).exists():
        (root / path).write_text(
            f"# Filters move silently\n\n**Severity:** {level}\n**Status:** open\n**File:** `{WHITENING}`\n"
            f"**Function:** {functions}\n\n## Problem\n\nThe filter follows the batch silently to another device.\n\n"
            f"{code}\n## Fix\n\nWarn when the migration happens.\n"
        )
    return [Filed(ticket, path) for ticket in read_tickets(path, (root / path).read_bytes())]


def accept(understood: Understood, task: Task, project: Project) -> tuple[list[Finding], Left]:
    return task.fixable, [(finding, finding.left_alone) for finding in task.findings if not finding.is_fixable]


def settlers(prove: Prove | None, keep_neutral: bool) -> Callable[[Sequence[Codemod], list[Verdict]], Settler]:
    def settler(codemods: Sequence[Codemod], verdicts: list[Verdict]) -> Settler:
        return Prover(prove, keep_neutral, verdicts).settle if prove else keep_all

    return settler


def fixer(root: Path, prove: Prove | None = None, wish: Wish | None = None, keep_neutral: bool = False) -> Fixer:
    tree = plant_trees([root])[0][0]
    catalogue = Catalogue(Project(tree.root, tree.entries), bundled())
    wish = wish or Wish()
    write = writer_for(None if wish.is_dry else Journal(root))
    return Fixer(tree, catalogue, wish, accept, settlers(prove, keep_neutral), write, lambda: DAY)


def fix(root: Path, filed: list[Filed], prove: Prove | None = None, **rest: object) -> dict[str, Handled]:
    found = fixer(root, prove, **rest).fix(filed)  # type: ignore[arg-type]
    return {handled.understood.ticket.id: handled for handled in found}


def always(*verdicts: Verdict) -> Prove:
    return lambda change, project: verdicts


def snapshot(root: Path) -> dict[str, bytes]:
    files = (file for file in sorted(root.rglob("*")) if file.is_file() and ".fullgraph" not in file.parts)
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


# What is written


def test_a_proven_ticket_is_resolved_in_the_run_of_its_fix_and_undo_reopens_it(root: Path) -> None:
    filed = put(root, "device_table")
    before = snapshot(root)
    handled = fix(root, filed, always(verdict(Ruling.PROVEN, ANNOUNCED)))["R2-DEV-01"]
    assert (handled.outcome, handled.status) == ("fixed", "resolved")
    assert handled.run
    assert handled.run.paths == (WHITENING, "docs/tickets/device_table.md")
    text = (root / "docs/tickets/device_table.md").read_text()
    assert "| **Status** | `resolved` |" in text
    assert "| **Updated** | 2026-03-04 |" in text
    assert "- [x] Warning seen when the filter is moved\n- [x] No change in the numbers\n" in text
    assert "`fullgraph undo 1`" in text
    undo(Journal(root), ["1"])
    assert snapshot(root) == before


@pytest.mark.parametrize("name", ["1.1", "1.2", "1.3"])
def test_taking_back_any_finding_reopens_the_ticket(root: Path, name: str) -> None:
    filed = put(root, "device_table")
    fix(root, filed, always(verdict()))
    undo(Journal(root), [name])
    assert (root / "docs/tickets/device_table.md").read_bytes() == (CORPUS / "device_table/ticket.md").read_bytes()
    undo(Journal(root), ["2"])
    assert b"`resolved`" in (root / "docs/tickets/device_table.md").read_bytes()


def test_undo_keeps_what_was_written_into_the_ticket_since(root: Path) -> None:
    filed = put(root, "device_table")
    fix(root, filed, always(verdict()))
    file = root / "docs/tickets/device_table.md"
    mine = b"A filter that was made on the CPU is moved by the first batch, and by no other."
    old = b"A filter that was made on the CPU is moved by the first batch."
    file.write_bytes(file.read_bytes().replace(old, mine))
    undo(Journal(root), ["1"])
    was = (CORPUS / "device_table/ticket.md").read_bytes()
    assert mine in file.read_bytes()
    assert file.read_bytes() == was.replace(old, mine)


def test_without_a_scenario_nothing_is_ticked_and_nothing_settled(root: Path) -> None:
    handled = fix(root, put(root, "device_table"))["R2-DEV-01"]
    assert (handled.outcome, handled.status) == ("fixed", "fix written, not verified")
    (ticket,) = read_tickets("t.md", (root / "docs/tickets/device_table.md").read_bytes())
    assert not ticket.is_resolved
    assert [check.is_ticked for check in ticket.checks] == [False, False, True]


def test_several_tickets_are_one_command_the_worst_first(root: Path) -> None:
    filed = put(root, "tuple_keys_table", "host_reads_plan_style", "device_table")
    handled = fix(root, filed, always(verdict()))
    assert list(handled) == ["host_reads_plan_style", "R2-DEV-01", "R3-KEY-02"]
    runs = Journal(root).runs()
    assert [(run.number, run.command) for run in runs] == [(1, 1), (2, 1), (3, 1)]


def test_the_issues_of_a_plan_are_closed_one_by_one_and_reopened_together(root: Path) -> None:
    filed = put(root, "plan_many")
    before = snapshot(root)
    handled = fix(root, filed, always(verdict()))
    assert [each.outcome for each in handled.values()] == ["fixed", "fixed", "fixed", "left"]
    text = (root / "docs/tickets/plan_many.md").read_text()
    assert text.count("**Status:** resolved") == 3
    undo(Journal(root), ["2"])
    assert (root / "docs/tickets/plan_many.md").read_text().count("**Status:** resolved") == 2
    undo(Journal(root), ["3", "1"])
    assert snapshot(root) == before


def test_a_dry_run_writes_nothing_and_sees_what_came_before(root: Path) -> None:
    filed = [*put(root, "device_table", "plan_many"), *put_moves(root, "`OrbitFilter.whiten()`", QUOTE, "P3")]
    before = snapshot(root)
    handled = fix(root, filed, wish=Wish(is_dry=True))
    assert snapshot(root) == before
    assert not (root / ".fullgraph").exists()
    assert handled["R2-DEV-01"].after[WHITENING] != before[WHITENING]
    assert "the same finding as R2-DEV-01" in handled["moves"].reason


# What the scenarios say


@pytest.mark.parametrize("ruling", [Ruling.NEUTRAL, Ruling.WORSE, Ruling.DIFFERENT, Ruling.UNDECIDED])
def test_what_is_not_proven_leaves_code_and_ticket_alone(root: Path, ruling: Ruling) -> None:
    filed = put(root, "device_table")
    before = snapshot(root)
    handled = fix(root, filed, always(verdict(ruling)), wish=Wish(close_neutral=ruling is not Ruling.NEUTRAL))
    assert handled["R2-DEV-01"].outcome == "left"
    assert handled["R2-DEV-01"].reason.startswith(f"not written: {ruling.value}")
    assert snapshot(root) == before


def test_neutral_is_written_and_closed_on_request(root: Path) -> None:
    handled = fix(root, put(root, "device_table"), always(verdict(Ruling.NEUTRAL)), keep_neutral=True)["R2-DEV-01"]
    assert (handled.outcome, handled.status) == ("fixed", "resolved")
    assert b"- Neutral by scenarios/step.py" in (root / "docs/tickets/device_table.md").read_bytes()


def test_what_does_not_reproduce_is_closed_on_request_with_the_code_as_it_is(root: Path) -> None:
    filed = put(root, "device_table")
    before = snapshot(root)
    found = fix(root, filed, always(verdict(Ruling.NEUTRAL)), wish=Wish(close_neutral=True))["R2-DEV-01"]
    assert (found.outcome, found.status) == ("closed", "closed (not reproduced on torch 2.13.0)")
    after = snapshot(root)
    assert [path for path in after if after[path] != before[path]] == ["docs/tickets/device_table.md"]
    assert b"- [ ] No change in the numbers" in after["docs/tickets/device_table.md"]
    undo(Journal(root), ["1"])
    assert snapshot(root) == before


def test_what_was_seen_to_happen_is_not_closed_as_not_reproduced(root: Path) -> None:
    filed = put(root, "device_table")
    neutral = verdict(Ruling.NEUTRAL, ANNOUNCED)
    assert fix(root, filed, always(neutral), wish=Wish(close_neutral=True))["R2-DEV-01"].outcome == "left"


def test_a_part_that_is_proven_is_written_and_the_ticket_stays_open(root: Path) -> None:
    def prove(change: Change, project: Project) -> list[Verdict]:
        symbols = {finding.symbol for finding in change.applied}
        return [verdict(Ruling.DIFFERENT if "OrbitFilter.whiten" in symbols else Ruling.PROVEN)]

    handled = fix(root, put(root, "device_table"), prove)["R2-DEV-01"]
    assert (handled.outcome, handled.status) == ("partly", "partially fixed")
    assert handled.reason == "1 of 2 findings"
    assert handled.left[0].startswith(f"{WHITENING}:31: not written: different")
    text = (root / "docs/tickets/device_table.md").read_text()
    assert not read_tickets("t.md", text.encode())[0].is_resolved
    assert "- Proven by" in text
    assert "- Different by" not in text


def test_a_scenario_that_cannot_run_leaves_this_ticket_and_goes_on(root: Path) -> None:
    def prove(change: Change, project: Project) -> list[Verdict]:
        if WHITENING in change.after:
            raise ValidateError("no such scenario")
        return [verdict()]

    handled = fix(root, put(root, "device_table", "host_reads_plan_style"), prove)
    assert handled["R2-DEV-01"].reason == "not written: undecided: no such scenario"
    assert handled["host_reads_plan_style"].outcome == "fixed"


# Tickets that have to do with each other


def test_two_tickets_for_one_finding_are_closed_and_reopened_in_one_run(root: Path) -> None:
    filed = [*put(root, "device_table"), *put_moves(root, "`OrbitFilter.whiten()`", QUOTE, "P3")]
    before = snapshot(root)
    handled = fix(root, filed, always(verdict()))
    second = handled["moves"]
    assert (second.outcome, second.status) == ("fixed", "resolved")
    assert second.reason == "the same finding as R2-DEV-01"
    assert second.run
    assert second.run == handled["R2-DEV-01"].run
    assert second.run.paths == (WHITENING, "docs/tickets/device_table.md", "docs/moves.md")
    undo(Journal(root), ["1"])
    assert snapshot(root) == before


def test_two_issues_of_one_plan_for_one_finding_are_closed_in_one_run(root: Path) -> None:
    body = (
        "**Priority:** P1\n**File:** `src/orrery/agents/acting.py`\n**Function:** `pick_actions()`\n\n### Problem\n\n"
    )
    text = "# Plan\n\n" + "\n".join(
        f"## Issue {number}: {title}\n\n{body}Each `.item()` waits for the device.\n"
        for number, title in ((1, "Reads one by one"), (2, "A sync for each action"))
    )
    path = "docs/plan.md"
    (root / "docs").mkdir()
    (root / path).write_text(text)
    before = snapshot(root)
    filed = [Filed(ticket, path) for ticket in read_tickets(path, text.encode())]
    handled = fix(root, filed, always(verdict()))
    assert [each.outcome for each in handled.values()] == ["fixed", "fixed"]
    assert [run.number for run in Journal(root).runs()] == [1]
    assert (root / path).read_text().count("**Status:** resolved") == 2
    undo(Journal(root), ["1"])
    assert snapshot(root) == before


def test_a_ticket_for_what_two_others_fixed_is_closed_in_a_run_of_its_own(root: Path) -> None:
    """The two are less severe parts of it; neither alone is all that it asks for."""
    text = (CORPUS / "device_table/ticket.md").read_text()
    both = "`OrbitFilter.absorb()`, `OrbitFilter.whiten()`"
    parts = [("first", "P0", "`OrbitFilter.absorb()`", "23-24"), ("second", "P0", "`OrbitFilter.whiten()`", "30-31")]
    filed = put(root, "device_table")
    for name, level, symbol, lines in parts:
        part = text.replace("R2-DEV-01", name).replace("`P2`", f"`{level}`").replace(both, symbol)
        path = f"docs/tickets/{name}.md"
        (root / path).write_text(
            re.sub(r"```python\n# In.*?```", "", part.replace("23-24, 30-31", lines), flags=re.DOTALL)
        )
        filed += [Filed(ticket, path) for ticket in read_tickets(path, (root / path).read_bytes())]
    handled = fix(root, filed, always(verdict()))
    assert [len(handled[name].applied) for name in ("first", "second", "R2-DEV-01")] == [1, 1, 0]
    assert handled["R2-DEV-01"].reason == "the same finding as first, written in run 1"
    assert handled["R2-DEV-01"].status == "resolved"


def test_the_same_finding_with_other_settings_is_not_the_same(root: Path) -> None:
    handled = fix(root, put(root, "device_table", "device_strict_bold"), always(verdict()))
    assert handled["DEV-7"].understood.routed.options == (("form", "strict"),)
    assert not any("the same finding" in each.reason for each in handled.values())
    assert len(handled["R2-DEV-01"].applied) + len(handled["DEV-7"].applied) == 2


def test_a_finding_that_overlaps_one_just_written_is_looked_for_again(root: Path) -> None:
    """Both are about one loop; whatever is written second is planned on the text that is there by then."""
    path = "src/orrery/overlap.py"
    (root / path).write_text(
        "import torch\n\n\ndef total(parts: list[torch.Tensor]) -> float:\n"
        "    out = 0.0\n    for part in parts:\n        import math\n\n        out += math.sqrt(part.item())\n"
        "    return out\n"
    )
    reads, imports = (
        f"# {title}\n\n**Severity:** {level}\n**Status:** open\n**File:** `{path}`\n**Function:** `total()`\n\n"
        f"## Problem\n\n{problem}\n\n## Fix\n\n{remedy}\n"
        for title, level, problem, remedy in (
            ("One `.item()` per part", "P1", "`.item()` syncs for each part.", "Read all at once with `.tolist()`."),
            ("Import in a loop", "P2", "`import math` runs in the loop.", "Move the import to the top."),
        )
    )
    (root / "docs").mkdir()
    filed = []
    for name, text in (("reads.md", reads), ("imports.md", imports)):
        (root / "docs" / name).write_text(text)
        filed += [Filed(ticket, f"docs/{name}") for ticket in read_tickets(f"docs/{name}", text.encode())]
    before = snapshot(root)
    handled = fix(root, filed, always(verdict()))
    assert handled["imports"].outcome == "fixed"
    text = (root / path).read_text()
    assert text.startswith("import math\n")
    compile(text, path, "exec")
    runs = [run.number for run in Journal(root).runs()]
    undo(Journal(root), [str(number) for number in reversed(runs)])
    assert snapshot(root) == before


def test_a_ticket_that_leads_elsewhere_since_another_was_written_is_left(root: Path) -> None:
    """Both are about one read, with different settings: the first leaves nothing for the second."""
    filed = []
    (root / "docs").mkdir()
    for name, level, remedy in (
        ("a", "P1", "Use `.tolist()`."),
        ("b", "P2", "Use one transfer for all heads, `.tolist()`."),
    ):
        text = (
            f"# One `.item()` per head\n\n**Severity:** {level}\n**Status:** open\n"
            "**File:** `src/orrery/agents/acting.py:13`\n\n"
            f"## Problem\n\nEach `.item()` is a sync, one per head.\n\n## Fix\n\n{remedy}\n"
        )
        (root / f"docs/{name}.md").write_text(text)
        filed += [Filed(ticket, f"docs/{name}.md") for ticket in read_tickets(f"docs/{name}.md", text.encode())]
    first, second = fix(root, filed, always(verdict())).values()
    assert first.outcome == "fixed"
    assert second.outcome == "left"
    assert second.reason.startswith("batch_host_reads does not fire there any more")


def test_a_row_of_a_table_is_fixed_and_its_file_left_if_it_has_no_status(root: Path) -> None:
    handled = fix(root, put(root, "findings_table"))
    assert handled["WS-1"].outcome == "fixed"
    assert handled["WS-1"].notes == (
        "the ticket's file is not edited: there is no place in it for the ticket's own status",
    )


# What is left


@pytest.mark.parametrize(
    ("name", "outcome", "reason"),
    [
        ("wait_stream_rejected", "skipped", "rejected by CUDA: REJECT"),
        ("closed_status", "skipped", "resolved: status: "),
        ("memory_leak", "left", "fires near it, but the ticket is about something else"),
        ("outside_project", "left", "(tried: path: no file of the project ends like"),
    ],
)
def test_what_is_not_worked_on_says_why(root: Path, name: str, outcome: str, reason: str) -> None:
    filed = put(root, name)
    before = snapshot(root)
    (handled,) = fix(root, filed).values()
    assert handled.outcome == outcome
    assert reason in handled.reason
    assert snapshot(root) == before


def test_settled_tickets_are_worked_on_if_asked(root: Path) -> None:
    handled = fix(root, put(root, "wait_stream_rejected"), always(verdict()), wish=Wish(even_settled=True))
    assert handled["STR-04"].outcome == "fixed"


def test_the_tickets_own_fix_is_written_literally(root: Path) -> None:
    filed = put(root, "device_table")
    before = snapshot(root)
    (handled,) = fix(root, filed, wish=Wish(literal=True)).values()
    assert handled.outcome == "fixed"
    assert [finding.codemod for finding in handled.applied] == ["literal"]
    text = (root / WHITENING).read_text()
    assert text.count('warnings.warn(f"OrbitFilter moves to {obs.device}", stacklevel=2)') == 2
    undo(Journal(root), ["1"])
    assert snapshot(root) == before


def test_a_ticket_without_code_has_nothing_literal(root: Path) -> None:
    (handled,) = fix(root, put(root, "host_reads_plan_style"), wish=Wish(literal=True)).values()
    assert handled.reason == "--literal: the ticket proposes no code"


def test_excluded_files_are_not_changed(root: Path) -> None:
    (handled,) = fix(root, put(root, "device_table"), wish=Wish(exclude=("whitening.py",))).values()
    assert handled.reason == f"left alone: would have to change {WHITENING}, which is excluded"


def test_tests_are_written_with_it_and_tick_their_box(root: Path) -> None:
    (handled,) = fix(root, put(root, "graph_outputs_kept"), always(verdict()), wish=Wish(tests="tests")).values()
    assert handled.outcome == "fixed"
    assert handled.run
    assert any(path.startswith("tests/test_") for path in handled.run.created)
    text = (root / "docs/tickets/graph_outputs_kept.md").read_text()
    assert "- [x] Add a test that the boundary is used" in text


def test_without_the_test_its_box_stays_empty(root: Path) -> None:
    fix(root, put(root, "graph_outputs_kept"), always(verdict()))
    text = (root / "docs/tickets/graph_outputs_kept.md").read_text()
    assert "- [x] No functional change\n- [ ] Add a test that the boundary is used" in text


# Files that are not ours to edit


def test_a_ticket_outside_the_project_is_fixed_and_not_edited(root: Path) -> None:
    (filed,) = put(root, "device_table")
    before = (root / filed.path).read_bytes()
    (handled,) = fix(root, [Filed(filed.ticket, "", "it is outside the project")], always(verdict())).values()
    assert (handled.outcome, handled.status) == ("fixed", "")
    assert handled.notes == ("the ticket's file is not edited: it is outside the project",)
    assert (root / filed.path).read_bytes() == before


def test_json_is_not_edited(root: Path) -> None:
    handled = fix(root, put(root, "host_reads_json"), always(verdict()))["NR-101"]
    assert handled.notes == ("the ticket's file is not edited: JSON and SARIF are not edited",)


def test_a_ticket_that_has_become_a_link_is_not_followed(root: Path, tmp_path: Path) -> None:
    filed = put(root, "device_table")
    secret = tmp_path / "secret.md"
    shutil.move(root / filed[0].path, secret)
    os.symlink(secret, root / filed[0].path)
    before = secret.read_bytes()
    handled = fix(root, filed, always(verdict()))["R2-DEV-01"]
    assert handled.outcome == "fixed"
    assert handled.notes == ("the ticket's file is not edited: it is a link",)
    assert secret.read_bytes() == before


def test_a_ticket_that_cannot_be_closed_is_not_called_closed(root: Path) -> None:
    (filed,) = put(root, "device_table")
    outside = Filed(filed.ticket, "", "it is outside the project")
    (handled,) = fix(root, [outside], always(verdict(Ruling.NEUTRAL)), wish=Wish(close_neutral=True)).values()
    assert (handled.outcome, handled.run) == ("left", None)
    assert not Journal(root).runs()


def test_a_ticket_that_somebody_settles_meanwhile_is_not_closed_twice(root: Path) -> None:
    filed = put(root, "device_table")
    file = root / filed[0].path

    def prove(change: Change, project: Project) -> list[Verdict]:
        file.write_bytes(file.read_bytes().replace(b"`open`", b"`wontfix`"))
        return [verdict()]

    handled = fix(root, filed, prove)["R2-DEV-01"]
    assert handled.notes == ("the ticket's file is not edited: somebody has settled it meanwhile (status: wontfix)",)
    assert b"Evidence" not in file.read_bytes()


# What is left of a ticket


def test_functions_that_are_named_and_not_quoted_are_fixed_too(root: Path) -> None:
    filed = put_moves(root, "`OrbitFilter.absorb()`, `OrbitFilter.whiten()`", QUOTE)
    (handled,) = fix(root, filed, always(verdict())).values()
    assert {finding.symbol for finding in handled.applied} == {"OrbitFilter.absorb", "OrbitFilter.whiten"}
    assert (handled.outcome, handled.left) == ("fixed", ())


def test_a_function_that_is_not_named_is_left_alone(root: Path) -> None:
    (handled,) = fix(root, put_moves(root, "`OrbitFilter.whiten()`", QUOTE), always(verdict())).values()
    assert [finding.symbol for finding in handled.applied] == ["OrbitFilter.whiten"]


def test_a_ticket_that_names_a_function_in_which_nothing_changes_is_not_done(root: Path) -> None:
    names = "`OrbitFilter.absorb()`, `OrbitFilter.whiten()`, `OrbitFilter.__init__()`"
    (handled,) = fix(root, put_moves(root, names), always(verdict())).values()
    assert (handled.outcome, handled.status, len(handled.applied)) == ("partly", "partially fixed", 2)
    assert handled.left == (f"{WHITENING}:11-14 OrbitFilter.__init__: nothing is changed there",)
    (again,) = fix(root, put_moves(root, names)).values()
    assert again.outcome == "left"


def test_a_function_that_the_changed_code_calls_is_nothing_left_to_do(root: Path) -> None:
    (handled,) = fix(root, put_moves(root, "`OrbitFilter.absorb()`, `OrbitFilter.to()`"), always(verdict())).values()
    assert (handled.outcome, handled.left) == ("fixed", ())


def test_a_class_that_is_named_is_only_where_to_look(root: Path) -> None:
    filed = put(root, "device_strict_bold")
    working = fixer(root)
    ticket = replace(
        filed[0].ticket, places=tuple(replace(p, symbols=("OrbitFilter",)) for p in filed[0].ticket.places)
    )
    seen = understand(ticket, working.catalogue)
    assert whole(seen, working.catalogue) == seen


def test_every_finding_that_is_left_is_named_with_its_reason(root: Path) -> None:
    def first_only(understood: Understood, task: Task, project: Project) -> tuple[list[Finding], Left]:
        return task.fixable[:1], [(finding, "declined") for finding in task.fixable[1:]]

    working = fixer(root, always(verdict()))
    working.choose = first_only
    (handled,) = working.fix(put(root, "device_table"))
    assert (handled.outcome, handled.reason) == ("partly", "1 of 2 findings")
    assert handled.left == (f"{WHITENING}:31: declined",)


def test_another_codemod_that_the_ticket_speaks_of_is_left_to_do(root: Path) -> None:
    filed = put(root, "device_table")
    working = fixer(root, always(verdict()))
    seen = understand(filed[0].ticket, working.catalogue)
    also = replace(seen, routed=replace(seen.routed, notes=(f"{ALSO}hoist_autocast",)))
    assert left_of(also, seen.routed.findings, working.catalogue.project) == ("also fires there: hoist_autocast",)
    assert left_of(seen, seen.routed.findings, working.catalogue.project) == ()


def test_no_open_ticket_of_the_corpus_leaves_a_place_that_its_codemod_does_not_change() -> None:
    catalogue = sample_catalogue()
    for sample in samples():
        for ticket in sample.read():
            seen = understand(ticket, catalogue)
            if seen.routed.codemod:
                assert not left_of(seen, seen.routed.findings, catalogue.project), ticket.id


def test_why_a_neutral_ticket_is_not_closed_is_said(root: Path) -> None:
    neutral = verdict(Ruling.NEUTRAL, ANNOUNCED)
    (handled,) = fix(root, put(root, "device_table"), always(neutral), wish=Wish(close_neutral=True)).values()
    assert handled.reason.endswith("; not closed: what the ticket is about was seen to happen")


# What goes wrong


def test_a_file_that_changes_meanwhile_is_left_and_the_others_are_written(root: Path) -> None:
    def prove(change: Change, project: Project) -> list[Verdict]:
        if WHITENING in change.after:
            with (root / WHITENING).open("a") as file:
                file.write("# mine\n")
        return [verdict()]

    filed = put(root, "device_table", "tuple_keys_table")
    handled = fix(root, filed, prove)
    assert handled["R2-DEV-01"].outcome == "left"
    assert "changed on disk meanwhile" in handled["R2-DEV-01"].error
    assert b"`open`" in (root / "docs/tickets/device_table.md").read_bytes()
    assert handled["R3-KEY-02"].outcome == "fixed"


def test_stopping_leaves_whole_tickets(root: Path) -> None:
    def prove(change: Change, project: Project) -> list[Verdict]:
        if WHITENING in change.after:
            raise KeyboardInterrupt
        return [verdict()]

    filed = put(root, "device_table", "host_reads_plan_style")
    before = snapshot(root)
    with pytest.raises(KeyboardInterrupt):
        fix(root, filed, prove)
    after = snapshot(root)
    assert {path for path in after if after[path] != before[path]} == {ACTING, "docs/tickets/host_reads_plan_style.md"}
    undo(Journal(root), ["1"])
    assert snapshot(root) == before


def test_a_crash_between_code_and_ticket_is_finished_by_the_next_command(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fullgraph.codemods.rewrite import journal
    from fullgraph.codemods.rewrite.file_step import FileStep

    make = FileStep.make

    def die(step: FileStep) -> None:
        if step.path.endswith(".md"):
            raise SystemExit
        make(step)

    filed = put(root, "device_table")
    with monkeypatch.context() as patched:
        patched.setattr(FileStep, "make", die)
        patched.setattr(journal.Journal, "_roll_back", lambda self, run, steps: [])
        with pytest.raises(SystemExit):
            fix(root, filed, always(verdict()))
    assert b"`open`" in (root / "docs/tickets/device_table.md").read_bytes()
    recovery = Journal(root).recover()
    assert recovery
    assert recovery.outcome == "finished"
    assert b"`resolved`" in (root / "docs/tickets/device_table.md").read_bytes()


def test_an_error_of_one_ticket_is_not_the_end(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(understood: Understood, task: Task, project: Project) -> tuple[list[Finding], Left]:
        if understood.ticket.id == "host_reads_plan_style":
            raise FullgraphError("no")
        return accept(understood, task, project)

    working = fixer(root, always(verdict()))
    working.choose = fail
    outcomes = [each.outcome for each in working.fix(put(root, "device_table", "host_reads_plan_style"))]
    assert outcomes == ["left", "fixed"]
