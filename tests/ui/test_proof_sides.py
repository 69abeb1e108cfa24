"""What `prove` and `fix --prove` hand to the scenarios: both sides, what is changed on purpose, and where to import."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.executors.model import Proof
from fullgraph.codemods.model import Change, Finding, FullgraphError, Purpose, Span
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.earlier import Earlier, earlier
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.ui import proof
from fullgraph.codemods.ui.failure import FailedError
from fullgraph.codemods.ui.proof import (
    ProofRequest,
    Proofs,
    declared_by,
    declared_since,
    prove_all,
    sides_since,
    tell,
)
from fullgraph.validate.model import Declared, Measurement, Reason, Ruling, Settings, Sides, Verdict
from tests.cases import all_cases, apply
from tests.rewrite.running import change_of, write_files

MIGRATES = "warn_on_device_migration"
FLATTENS = "flatten_tuple_keys"


class Noting:
    """An executor that notes what it is asked to prove, and finds everything neutral."""

    def __init__(self) -> None:
        self.proofs: list[Proof] = []

    def prove(self, proofs: Sequence[Proof], progress: object) -> list[Verdict]:
        self.proofs += proofs
        return [verdict_of(one) for one in proofs]


def verdict_of(one: Proof) -> Verdict:
    before, after = (Measurement(side, ran=dict.fromkeys(one.sides.before, (1,))) for side in ("before", "after"))
    return Verdict(Ruling.NEUTRAL, (Reason("breaks", "why", "same"),), before, after, one.scenario, one.settings)


@pytest.fixture
def noting(monkeypatch: pytest.MonkeyPatch) -> Noting:
    executor = Noting()
    monkeypatch.setattr(proof, "executor_named", lambda name: executor)
    return executor


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path, {"pyproject.toml": "", "scenario.py": "", "a.py": "x = 1\n"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def request(*, keep_neutral: bool = False) -> ProofRequest:
    return ProofRequest(("scenario.py",), Settings(), keep_neutral, None, "text", True, "never")


def finding(codemod: str, message: str = "m") -> Finding:
    return Finding(codemod, "a.py", Span(0, 1), "<module>", message)


def test_files_that_are_gone_or_as_they_were_are_told_apart(root: Path) -> None:
    sides, notices = sides_since(root, Earlier("then", {"gone.py": b"y\n", "a.py": b"x = 1\n"}, ("notes.txt",)))
    assert sides.after == {"gone.py": None, "a.py": b"x = 1\n"}
    assert sides.paths() == ["gone.py"]
    assert notices == [
        "before: the files then; after: the files on disk (gone.py)",
        "the same on both sides although changed: notes.txt (only Python is laid over)",
    ]


def test_files_that_are_all_as_they_were_leave_nothing_to_prove(root: Path) -> None:
    with pytest.raises(FullgraphError, match="there is nothing to prove"):
        sides_since(root, Earlier("then", {"a.py": b"x = 1\n"}))


def test_every_run_of_a_command_says_what_it_changes_on_purpose(root: Path) -> None:
    journal = Journal(root)
    for number, found in enumerate((finding(MIGRATES), finding(FLATTENS, "`pairs` has tuples"))):
        change = change_of(root, {"a.py": f"x = {number + 2}\n".encode()})
        journal.write(Change(change.before, change.after, (found,)), command=min(number, 1))
    was = earlier(root, "", 0)
    assert was.runs == (1, 2)
    assert [one.kind for one in declared_since(root, was)] == ["keys", "warning"]


def test_a_change_has_the_same_purposes_by_revision_and_by_run(root: Path) -> None:
    """What was written and journaled, and what git alone tells of it."""
    case = next(case for case in all_cases(FLATTENS) if case.is_changing)
    write_files(root, {path: raw.decode() for path, raw in case.before.items()})
    journal, after = Journal(root), apply(case.before, case.fixable)
    changed = {path: raw for path, raw in after.items() if raw != case.before.get(path)}
    change = change_of(root, changed)
    journal.write(Change(change.before, change.after, tuple(case.fixable)))
    by_run = declared_since(root, earlier(root, "", 1))
    assert by_run
    assert declared_since(root, Earlier("at HEAD", {path: case.before.get(path) for path in changed})) == by_run


class Announce(Codemod):
    """Warns on purpose, as often as it found something."""

    name = "announce"

    def purposes(self, findings: Sequence[Finding]) -> tuple[Purpose, ...]:
        return (Purpose("warning", f"{len(findings)} times", "it is announced"),)


def test_a_codemod_speaks_for_its_own_findings_and_is_silent_without_any() -> None:
    findings = [finding("announce"), finding("other"), finding("announce")]
    assert declared_by([Announce()], findings) == [Declared("warning", "2 times", "announce: it is announced")]
    assert declared_by([Announce()], findings[1:2]) == []


def test_what_earlier_rounds_wrote_is_there_on_both_sides(root: Path, noting: Noting) -> None:
    project = Project(root, ["a.py", "b.py"], {"b.py": b"earlier\n"})
    change = Change({"a.py": b"x = 1\n"}, {"a.py": b"x = 2\n"}, (finding("announce"),))
    Proofs(request(), [Announce()])(change, project)
    [one] = noting.proofs
    assert one.sides == Sides(
        root, {"a.py": b"x = 1\n", "b.py": b"earlier\n"}, {"a.py": b"x = 2\n", "b.py": b"earlier\n"}
    )
    assert [declared.kind for declared in one.declared] == ["warning"]


def test_copies_of_packages_take_the_place_of_what_is_installed(root: Path, tmp_path: Path, noting: Noting) -> None:
    """The scenario belongs to the project that we stand in; the change, and the lines that ran, to the copies."""
    copies = tmp_path / "copies"
    project = Project(copies, ["pkg/a.py"])
    change = Change({"pkg/a.py": b"1\n"}, {"pkg/a.py": b"2\n"}, (finding("announce"),))
    [verdict] = Proofs(request(), [], copies)(change, project)
    [one] = noting.proofs
    assert one.sides == Sides(root, {str(copies / "pkg/a.py"): b"1\n"}, {str(copies / "pkg/a.py"): b"2\n"})
    assert one.scenario.imports == (str(copies), str(root))
    assert verdict.before.ran == verdict.after.ran == {"pkg/a.py": (1,)}


def test_a_verdict_shows_the_patch_from_before_to_after(root: Path, noting: Noting) -> None:
    sides = Sides(root, {"a.py": b"x = 1\n", "b.py": b"same\n"}, {"a.py": b"x = 2\n", "b.py": b"same\n"})
    [verdict] = prove_all(request(), sides, [], ["a notice"])
    assert verdict.diff == "--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,1 @@\n-x = 1\n+x = 2\n"
    assert verdict.notices == ("a notice",)


def test_neutral_ends_well_on_request_only(root: Path, noting: Noting) -> None:
    verdicts = prove_all(request(), Sides(root, {"a.py": b"1\n"}, {"a.py": b"2\n"}), [], [])
    assert tell(request(), verdicts) == 3
    assert tell(request(keep_neutral=True), verdicts) == 0


def test_what_cannot_be_proven_is_undecided() -> None:
    with pytest.raises(FailedError, match=r"^undecided: no such run$") as ended, proof.undecided():
        raise FullgraphError("no such run")
    assert ended.value.exit_code == 4
