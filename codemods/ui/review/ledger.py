"""What a person has answered, and what follows from it. It knows neither a terminal nor a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from fullgraph.codemods.model import Finding, Safety
from fullgraph.codemods.ui.report.model import DECLINED, NOT_ASKED
from fullgraph.codemods.ui.review.rivals import Rivals

ACCEPTS = ("y", "a")
ACCEPTED, IGNORED, LEFT = "accepted", "ignored", "left"
STATES = (LEFT, ACCEPTED, DECLINED, IGNORED)
"""What has become of a finding."""

Decisions = Mapping[str, Finding | None]
"""By key, what is applied of each finding that is decided; None: it is declined."""


@dataclass(frozen=True)
class Answer:
    """A key that a person pressed for a finding; `finding` is what is applied then, as the person has changed it."""

    position: int
    key: str
    finding: Finding

    def reaches(self, later: Finding) -> bool:
        """Whether this answer decides a later finding too."""
        if self.key == "d":
            return later.path == self.finding.path
        is_trusted = later.safety is Safety.SAFE or self.finding.safety is Safety.UNSAFE
        return self.key == "a" and later.codemod == self.finding.codemod and is_trusted


@dataclass
class Ledger:
    """The findings in the order in which they are asked about, and the answers in the order in which they were given.

    Alternatives: whichever of two is accepted last declines the other. An answer that reaches later findings decides
    only those that were not answered one by one, and accepts none whose alternative is accepted.
    """

    queue: list[Finding] = field(default_factory=list)
    rivals: Rivals = field(default_factory=dict)
    given: list[Answer] = field(default_factory=list)
    impossible: dict[str, str] = field(default_factory=dict)
    """By key, why a finding cannot be written at all; nobody is asked about it."""

    def answer(self, key: str, finding: Finding, everywhere: bool = False) -> None:
        """`everywhere`: what it reaches are not only later findings."""
        self.given.append(Answer(-1 if everywhere else self.position_of(finding), key, finding))

    def position_of(self, finding: Finding) -> int:
        return next(number for number, one in enumerate(self.queue) if one.key == finding.key)

    def take_back(self) -> Answer | None:
        """Forget the last answer, and all that followed from it."""
        return self.given.pop() if self.given else None

    def decisions(self) -> dict[str, Finding | None]:
        made: dict[str, Finding | None] = {}
        asked: set[str] = set()
        for answer in self.given:
            asked.add(answer.finding.key)
            self._decide(made, answer)
            later = [one for one in self.queue[answer.position + 1 :] if one.key not in asked and answer.reaches(one)]
            for finding in later:
                is_taken = any(is_accepted(made.get(rival)) for rival in self.rivals.get(finding.key, ()))
                self._decide(made, Answer(0, "n" if is_taken else answer.key, finding))
        return made

    def _decide(self, made: dict[str, Finding | None], answer: Answer) -> None:
        key = answer.finding.key
        made[key] = answer.finding if answer.key in (*ACCEPTS, "i") else None
        if answer.key in ACCEPTS:
            made.update(dict.fromkeys(self.rivals.get(key, ())))

    def accepted(self) -> list[Finding]:
        """What is to be applied, in the order of the queue: findings, and comments that ignore one."""
        made = self.decisions()
        return [chosen for finding in self.queue if (chosen := made.get(finding.key))]

    def alternatives(self, finding: Finding) -> list[Finding]:
        """A finding and those that may be taken in its place, as they stand in the queue."""
        made, keys = self.decisions(), self.rivals.get(finding.key, frozenset())
        return [
            one
            for one in self.queue
            if one.key == finding.key
            or (one.key in keys and one.key not in self.impossible and (one.key not in made or made[one.key]))
        ]

    def state(self, finding: Finding, made: Decisions) -> str:
        if finding.key not in made:
            return LEFT
        chosen = made[finding.key]
        return DECLINED if chosen is None else IGNORED if chosen.is_ignored else ACCEPTED

    def counts(self) -> Counter[tuple[str, str]]:
        """How many findings of each codemod are in which state. One that cannot be written is in none."""
        made = self.decisions()
        asked = (one for one in self.queue if one.key not in self.impossible or one.key in made)
        return Counter((finding.codemod, self.state(finding, made)) for finding in asked)

    def totals(self) -> dict[str, int]:
        counts = self.counts()
        return {state: sum(number for (_, own), number in counts.items() if own == state) for state in STATES}

    def why_left(self, finding: Finding) -> str:
        """Why a finding that could be fixed was not chosen."""
        if finding.key in (made := self.decisions()):
            return DECLINED if made[finding.key] is None else ""
        return self.impossible.get(finding.key, NOT_ASKED)


def is_accepted(chosen: Finding | None) -> bool:
    return chosen is not None and not chosen.is_ignored
