"""How much a ticket's words are about the subject of each codemod."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codemods.codemod import Codemod
from codemods.tickets.limits import TEXT
from codemods.tickets.model import Ticket
from codemods.tickets.routes.topics import COMPILING, FAILING, OTHER, OTHER_REMEDIES, TOPICS

GENERAL = re.compile(r"compil|torch|graph|device|tensor|loop|call|model|code|stream|function|with|from|into", re.I)
MUCH, CLEAR = 3, 2
"""Words that are much to say about a subject; by how many a ticket is more about one than about another."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a ticket speaks of: its headline, its prose, its remedy, and its code."""

    headline: str
    prose: str
    remedy: str
    code: str
    has_remedy: bool
    """Whether the remedy is put into words."""

    @property
    def is_of_another_kind(self) -> bool:
        is_other = OTHER.search(self.headline) is not None and not COMPILING.search(self.headline)
        return is_other or FAILING.search(f"{self.prose} {self.code}") is not None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often a ticket speaks of a codemod's subject, in its prose, its code and its remedy."""

    prose: int
    code: int
    remedy: int
    has_remedy: bool
    has_other_remedy: bool

    @property
    def total(self) -> int:
        return 4 * self.prose + 2 * self.remedy + self.code

    @property
    def contradicts(self) -> bool:
        """Whether the ticket proposes something that is not what the codemod does."""
        return self.has_other_remedy or (self.has_remedy and not self.remedy)


def subject_of(ticket: Ticket) -> Subject:
    headline = " ".join([ticket.title, ticket.summary, *ticket.category])
    evidence = [block.text for block in ticket.code if block.kind in ("evidence", "other")]
    fixes = [block.text for block in ticket.code_of("fix")]
    labels = [block.label for block in ticket.code_of("fix")]
    prose = without_names(" ".join([headline, ticket.problem, ticket.fix]), ticket)
    remedy = " ".join([ticket.fix, *labels, *fixes])
    code = " ".join([*evidence, *fixes])
    return Subject(headline, prose[:TEXT], remedy[:TEXT], code[:TEXT], any(map(str.strip, [ticket.fix, *labels])))


def without_names(prose: str, ticket: Ticket) -> str:
    """The prose without the names of the functions that it is about: these say nothing about what is wrong."""
    symbols = {symbol for place in ticket.places for symbol in place.symbols}
    names = sorted(symbols | {symbol.rpartition(".")[2] for symbol in symbols}, key=len, reverse=True)
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})\b(?:\(\))?", " ", prose) if names else prose


def agreement(kind: type[Codemod], subject: Subject) -> Agreement:
    problem, remedy = patterns_of(kind)
    return Agreement(
        count(problem, subject.prose) + count(problem, subject.headline),
        count(problem, subject.code),
        count(remedy, subject.remedy) if remedy else 1,
        subject.has_remedy,
        re.search(OTHER_REMEDIES.get(kind.name, r"(?!)"), subject.remedy, re.IGNORECASE) is not None,
    )


@dataclass(frozen=True)
class Wording:
    """What a ticket speaks of, held against every codemod."""

    subject: Subject
    agreements: Mapping[str, Agreement]

    def of(self, codemod: str) -> Agreement:
        return self.agreements[codemod]

    def is_about(self, codemod: str) -> bool:
        """Whether the ticket speaks of no other codemod's subject more, of those whose remedy it may mean."""
        rivals = [each.total for each in self.agreements.values() if not each.contradicts]
        return self.of(codemod).total >= max(rivals, default=0)

    def clearest(self) -> str:
        """The codemod that the ticket speaks of much, and clearly more than of any other."""
        ranked = sorted(self.agreements, key=lambda name: -self.of(name).total)
        if self.subject.is_of_another_kind or not ranked or self.of(ranked[0]).prose < MUCH:
            return ""
        is_clear = len(ranked) == 1 or self.of(ranked[0]).total >= self.of(ranked[1]).total + CLEAR
        return ranked[0] if is_clear else ""


def wording_of(ticket: Ticket, kinds: Mapping[str, type[Codemod]]) -> Wording:
    subject = subject_of(ticket)
    return Wording(subject, {name: agreement(kind, subject) for name, kind in kinds.items()})


def count(pattern: re.Pattern[str], text: str) -> int:
    """Different words that match, up to a handful; two that have to come together match without a word, and are two."""
    words = {match.group().casefold() for match in pattern.finditer(text)}
    return 2 if "" in words else min(len(words), 5)


def patterns_of(kind: type[Codemod]) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    """The words of a codemod; of one that the table does not know, those of its name that say something."""
    if kind.name in TOPICS:
        problem, remedy = TOPICS[kind.name]
        return re.compile(problem, re.IGNORECASE), re.compile(remedy, re.IGNORECASE)
    return re.compile("|".join(own_words(kind)) or r"(?!)", re.IGNORECASE), None


def own_words(kind: type[Codemod]) -> Iterable[str]:
    """The words of a name without its verb, and without what half of all tickets speak of."""
    words = (word for word in kind.name.split("_")[1:] if len(word) > 3 and not GENERAL.match(word))
    return (rf"\b{re.escape(word)}" for word in words)
