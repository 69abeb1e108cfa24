"""How much a ticket's words are about the subject of each codemod."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.tickets.limits import TEXT
from fullgraph.codemods.tickets.model import Ticket
from fullgraph.codemods.tickets.routes.proposals import defends_the_code, is_for_a_codemod, proposed_in, refused_in
from fullgraph.codemods.tickets.routes.topics import COMPILING, ELSEWHERE, OTHER, OTHER_REMEDIES, SLOW, TOPICS, Topic

GENERAL = re.compile(r"compil|torch|graph|device|tensor|loop|call|model|code|stream|function|with|from|into", re.I)
WORD = re.compile(r"[A-Za-z]{3,}")
ENGLISH = r"\b(?:the|is|are|of|and|this|with|for|each|every|should|it|to)\b"
WITHIN = re.compile(r"[A-Za-z]+$")
PREFIXES = {"re", "pre", "un", "non", "de", "dis", "over", "auto", "in", "mis"}
FEW_WORDS = 8
FEW_CODEMODS = 2
MUCH, CLEAR = 2, 1.0
"""Words that are much to say about a subject; by how much a ticket is more about one than about another."""

WEIGHTS = (("complaint", 4, 2), ("remedy", 3, 2), ("things", 2, 1))
"""What a word counts, and how many are counted at most."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a ticket speaks of: its headline, its prose without the names in it, its remedy, its code, and all of it."""

    headline: str
    prose: str
    remedy: str
    code: str
    everything: str
    has_remedy: bool
    """Whether something is asked for in words."""

    refused: tuple[str, ...] = ()
    """What the ticket asks not to do."""

    defends: bool = False
    """Whether the ticket wants the code to stay as it is."""

    @property
    def is_of_another_kind(self) -> bool:
        is_other = is_in(OTHER, self.headline) and not is_in(COMPILING, self.headline)
        return is_other or is_in(ELSEWHERE, f"{self.prose} {self.code}")

    @property
    def is_about_time(self) -> bool:
        return is_in(SLOW, self.headline)

    @property
    def is_short(self) -> bool:
        return len(WORD.findall(self.prose)) < FEW_WORDS

    @property
    def says_little(self) -> bool:
        """Whether the ticket is its code: its prose is a few words, or in another language."""
        return self.is_short or not is_in(ENGLISH, self.prose)


@dataclass(frozen=True, slots=True)
class Agreement:
    """What of a codemod's words a ticket has: of its things, of what is wrong with them, and of what is to be done.

    `total` counts a word the less, the more codemods share it.
    """

    things: frozenset[str]
    complaint: frozenset[str]
    remedy: frozenset[str]
    has_code: bool
    has_remedy: bool
    has_other_remedy: bool
    is_refused: bool = False
    in_headline: frozenset[str] = frozenset()
    """What of the complaint stands in the headline."""

    has_things_in_headline: bool = False
    specific: frozenset[str] = frozenset()
    """What of the complaint few codemods share."""

    total: float = 0.0

    @property
    def is_proposed(self) -> bool:
        return self.has_remedy and bool(self.remedy)

    @property
    def is_headline(self) -> bool:
        """Whether the headline says what is wrong, and with what: in words that few codemods share, or by its name."""
        if self.has_things_in_headline:
            return bool(self.in_headline)
        return bool(self.things and self.in_headline & self.specific)

    @property
    def contradicts(self) -> bool:
        """Whether the ticket asks for something that is not what the codemod does."""
        return self.is_refused or self.has_other_remedy or (self.has_remedy and not self.remedy)


def subject_of(ticket: Ticket) -> Subject:
    headline = " ".join([ticket.title, ticket.summary, *ticket.category])
    evidence = [block.text for block in ticket.code if block.kind in ("evidence", "other")]
    fixes = [block.text for block in ticket.code_of("fix")]
    asked, offered = proposed_in(ticket)
    prose = " ".join([headline, ticket.problem, ticket.fix])
    code = " ".join([*evidence, *fixes])
    return Subject(
        without_names(headline, ticket),
        without_names(prose, ticket)[:TEXT],
        " ".join([*filter(is_for_a_codemod, asked or offered), *fixes])[:TEXT],
        code[:TEXT],
        f"{prose[:TEXT]} {code[:TEXT]} {ticket.context}",
        bool(asked),
        tuple(refused_in(ticket)),
        defends_the_code(ticket),
    )


def without_names(prose: str, ticket: Ticket) -> str:
    """The prose without the names of the functions that it is about: these say nothing about what is wrong."""
    symbols = {symbol for place in ticket.places for symbol in place.symbols}
    names = sorted(symbols | {symbol.rpartition(".")[2] for symbol in symbols}, key=len, reverse=True)
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})\b(?:\(\))?", " ", prose) if names else prose


def agreement(kind: type[Codemod], subject: Subject) -> Agreement:
    topic = topic_of(kind)
    remedy = words_in(topic.remedy, subject.remedy) if topic.remedy else frozenset({kind.name})
    return Agreement(
        words_in(topic.things, subject.everything),
        words_in(f"{topic.complaint}|{topic.hint}" if remedy else topic.complaint, subject.prose),
        remedy,
        is_in(f"{topic.things}|{topic.complaint}", subject.code),
        subject.has_remedy,
        is_in(OTHER_REMEDIES.get(kind.name, r"(?!)"), subject.remedy),
        any(is_refusal(clause, topic) for clause in subject.refused),
        words_in(topic.complaint, subject.headline),
        bool(words_in(topic.things, subject.headline)),
    )


def is_refusal(clause: str, topic: Topic) -> bool:
    """Whether a clause after `do not` speaks of a remedy, and of nothing that is wrong beside it."""
    remedies = [match.span() for match in matches(topic.remedy, clause)] if topic.remedy else []
    wrongs = [match.span() for match in matches(topic.complaint, clause)]
    return bool(remedies) and all(any(a < end and start < b for a, b in remedies) for start, end in wrongs)


def weighed(agreements: Mapping[str, Agreement]) -> dict[str, Agreement]:
    """The same with their totals: nothing where nothing is wrong, else what is wrong counts most."""
    found = dict(agreements)
    for part, weight, most in WEIGHTS:
        sharing = Counter(word for each in agreements.values() for word in getattr(each, part))
        for name, each in found.items():
            words = min(most, sum(1 / sharing[word] for word in getattr(each, part)))
            found[name] = replace(each, total=each.total + weight * words if each.complaint else 0.0)
    sharing = Counter(word for each in agreements.values() for word in each.complaint)
    return {
        name: replace(each, specific=frozenset(word for word in each.complaint if sharing[word] <= FEW_CODEMODS))
        for name, each in found.items()
    }


@dataclass(frozen=True)
class Wording:
    """What a ticket speaks of, held against every codemod."""

    subject: Subject
    agreements: Mapping[str, Agreement]

    def of(self, codemod: str) -> Agreement:
        return self.agreements[codemod]

    def wants_none_of(self, codemod: str) -> bool:
        """Whether the ticket asks not to do what a codemod does, or to leave the code as it is."""
        return self.subject.defends or self.of(codemod).is_refused

    def is_about(self, codemod: str) -> bool:
        """Whether the ticket speaks of no other codemod's subject clearly more.

        A rival is one whose remedy the ticket may mean, and whose things are named in words that are its alone.
        """
        sharing = Counter(word for each in self.agreements.values() for word in each.things)
        rivals = [
            each.total
            for each in self.agreements.values()
            if not each.contradicts and any(sharing[word] == 1 for word in each.things)
        ]
        return self.of(codemod).total + CLEAR >= max(rivals, default=0)

    def clearest(self) -> str:
        """The codemod that the ticket speaks of much, and clearly more than of any other."""
        ranked = sorted(self.agreements, key=lambda name: -self.of(name).total)
        if self.subject.is_of_another_kind or not ranked:
            return ""
        best = self.of(ranked[0])
        if self.subject.defends or best.contradicts or len(best.complaint) < MUCH or not best.things:
            return ""
        is_clear = len(ranked) == 1 or best.total >= self.of(ranked[1]).total + CLEAR
        return ranked[0] if is_clear else ""


def wording_of(ticket: Ticket, kinds: Mapping[str, type[Codemod]]) -> Wording:
    subject = subject_of(ticket)
    return Wording(subject, weighed({name: agreement(kind, subject) for name, kind in kinds.items()}))


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def words_in(pattern: str, text: str) -> frozenset[str]:
    """The different words that match."""
    return frozenset(match.group().casefold() for match in matches(pattern, text))


def matches(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """Where words match from their start: `together` is not in `altogether`, `compile` is in `recompile`."""
    for match in compiled(pattern).finditer(text):
        before = WITHIN.search(text[: match.start()]) if match.group()[:1].islower() else None
        if before is None or before.group().casefold() in PREFIXES:
            yield match


def is_in(pattern: str, text: str) -> bool:
    return compiled(pattern).search(text) is not None


def topic_of(kind: type[Codemod]) -> Topic:
    """The words of a codemod; of one that the table does not know, those of its name that say something."""
    words = "|".join(own_words(kind)) or r"(?!)"
    return TOPICS.get(kind.name, Topic(words, words, ""))


def own_words(kind: type[Codemod]) -> Iterable[str]:
    """The words of a name without its verb, and without what half of all tickets speak of."""
    words = (word for word in kind.name.split("_")[1:] if len(word) > 3 and not GENERAL.match(word))
    return (rf"\b{re.escape(word)}" for word in words)
