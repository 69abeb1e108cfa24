"""Between planning and writing: what a change may keep of itself once it has been proven."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from fullgraph.codemods.model import Change, Edit, Finding
from fullgraph.codemods.module import NEWLINE
from fullgraph.codemods.project import Project
from fullgraph.codemods.source import decode
from fullgraph.validate.exercised import did_run
from fullgraph.validate.judge import combined, is_idle
from fullgraph.validate.model import ChangedPlace, Ruling, Verdict

Prove = Callable[[Change, Project], Sequence[Verdict]]
"""Runs the scenarios on a change of a project: a verdict each."""

Plan = Callable[[Sequence[Finding]], Change]
HARM = (Ruling.DIFFERENT, Ruling.WORSE)
IDLE_REASON = "not written: undecided: no scenario runs the lines that it changes"
SEVERAL = 3


@dataclass
class Prover:
    """Keeps of a change what the scenarios prove; `verdicts` are those that decided something."""

    prove: Prove
    keep_neutral: bool
    verdicts: list[Verdict] = field(default_factory=list)

    def settle(self, change: Change, plan: Plan, project: Project) -> Change:
        """The part of the change that may be written; the rest is left out with the reason. Comments need no proof."""
        comments = tuple(finding for finding in change.applied if finding.is_ignored)
        rewrites = tuple(finding for finding in change.applied if not finding.is_ignored)
        if not rewrites:
            return change
        refused: list[tuple[Finding, str]] = []
        kept = self._keep(rewrites, plan, project, refused)
        settled = change if kept == rewrites else plan((*kept, *comments))
        return replace(settled, left_out=(*change.left_out, *refused))

    def _keep(
        self, findings: tuple[Finding, ...], plan: Plan, project: Project, refused: list[tuple[Finding, str]]
    ) -> tuple[Finding, ...]:
        """Of findings that do no harm together, those that are proven; of others, what is left of each half."""
        change = plan(findings)
        verdicts = self.prove(change, project)
        if len(findings) == 1 or combined(verdicts) not in HARM:
            unseen = [finding for finding in findings if why_unseen(finding, change, verdicts)]
            if unseen and len(unseen) < len(findings) and combined(verdicts) is Ruling.UNDECIDED:
                refused += [(finding, why_unseen(finding, change, verdicts)) for finding in unseen]
                return self._keep(tuple(one for one in findings if one not in unseen), plan, project, refused)
            self.verdicts += verdicts
            return tuple(finding for finding in findings if self._admits(finding, change, verdicts, refused))
        middle = len(findings) // 2
        first = self._keep(findings[:middle], plan, project, refused)
        second = self._keep(findings[middle:], plan, project, refused)
        if first and second and not self._allows(together := self.prove(plan((*first, *second)), project)):
            refused += [(finding, f"{why_not(together)} (together with others)") for finding in second]
            return first
        return (*first, *second)

    def _admits(
        self, finding: Finding, change: Change, verdicts: Sequence[Verdict], refused: list[tuple[Finding, str]]
    ) -> bool:
        """Whether the scenarios that run what a finding changes prove it, and one of them shows all that it does."""
        telling = [verdict for verdict in verdicts if is_exercised(finding, change, verdict)]
        reason = why_unseen(finding, change, verdicts) or ("" if self._allows(telling) else why_not(telling))
        if reason:
            refused.append((finding, reason))
        return not reason

    def _allows(self, verdicts: Sequence[Verdict]) -> bool:
        ruling = combined(verdicts)
        return ruling is Ruling.PROVEN or (ruling is Ruling.NEUTRAL and self.keep_neutral)


def why_not(verdicts: Sequence[Verdict]) -> str:
    """`not written: different: ...`, in the words of the verdict that decided."""
    ruling = combined(verdicts)
    sentence = next((verdict.sentence for verdict in verdicts if verdict.ruling is ruling), "")
    advice = " (--keep neutral writes it)" if ruling is Ruling.NEUTRAL else ""
    return f"not written: {ruling.value}: {sentence}{advice}"


def why_unseen(finding: Finding, change: Change, verdicts: Sequence[Verdict]) -> str:
    """Why nothing is known of a finding: its lines never ran, or did not show all of its effect."""
    telling = [verdict for verdict in verdicts if is_exercised(finding, change, verdict)]
    if not telling:
        return IDLE_REASON
    if any(verdict.ruling in HARM for verdict in telling):
        return ""  # that is more to say than what was not seen
    gaps = [dict.fromkeys(unseen_of(finding, change, verdict)) for verdict in telling]
    left = [gap for gap in gaps[0] if all(gap in others for others in gaps)]
    return f"not written: undecided: its effect was not seen: {'; '.join(left[:SEVERAL])}" if left else ""


def unseen_of(finding: Finding, change: Change, verdict: Verdict) -> Iterator[str]:
    """What a scenario did not show of the places that a finding changes."""
    spans = [(edit.path, *lines) for edit in finding.edits if (lines := lines_of(edit, change))]
    for place in verdict.changed:
        if any(path == place.path and is_near(place, first, last) for path, first, last in spans):
            yield from (f"{place.path}: {text}" for text in place.unseen)


def is_near(place: ChangedPlace, first: int, last: int) -> bool:
    """Whether lines of before are those of a place, or where it was put in between."""
    return place.before[0] - 1 <= last and first <= place.before[1] + 1


def is_exercised(finding: Finding, change: Change, verdict: Verdict) -> bool:
    """Whether the scenario ran a line that the finding changes. What serves others, as an import, does not count."""
    if not verdict.before.ran and not is_idle(verdict):
        return True  # it ended before the lines were looked at
    answers = [answer for edit in finding.edits if (answer := ran(edit, change, verdict)) is not None]
    return any(answers) if answers else not is_idle(verdict)


def ran(edit: Edit, change: Change, verdict: Verdict) -> bool | None:
    raw, lines = change.before[edit.path], lines_of(edit, change)
    if raw is None or lines is None:
        return None
    return did_run(edit.path, raw, range(lines[0], lines[1] + 1), verdict.before.ran.get(edit.path, ()))


def lines_of(edit: Edit, change: Change) -> tuple[int, int] | None:
    """The first and the last line of before that an edit touches; None in a file that it creates."""
    raw = change.before[edit.path]
    if raw is None:
        return None
    text = decode(edit.path, raw).text
    first = len(NEWLINE.findall(text, 0, edit.span.start)) + 1
    return first, first + len(NEWLINE.findall(text[edit.span.start : edit.span.end].rstrip("\r\n")))
