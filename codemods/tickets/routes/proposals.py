"""The sentences of a ticket that propose something: where nothing is called a fix, they are all that is said of it."""

from __future__ import annotations

import re

from codemods.tickets.limits import TEXT
from codemods.tickets.model import Ticket

VERBS = (
    "accept|accumulate|add|adopt|align|allocate|allow|anchor|annotate|append|apply|assert|assign|avoid|batch|bind|break|"
    "broadcast|build|bump|cache|call|cast|catch|change|check|choose|clamp|clear|clip|clone|collect|combine|compare|compile|"
    "compute|concatenate|consider|construct|convert|copy|correct|count|create|decide|declare|decorate|defer|define|delete|"
    "derive|detach|disable|divide|document|drop|emit|enable|encode|ensure|evaluate|exclude|expose|extend|extract|factor|"
    "fetch|fill|filter|fix|flatten|fold|force|format|gate|gather|generate|get|give|guard|handle|hide|hoist|hold|ignore|"
    "implement|include|increase|index|initiali[sz]e|inject|inline|insert|instantiate|introduce|isolate|iterate|join|"
    "keep|launch|let|lift|limit|load|lock|log|look|lower|make|mark|mask|measure|memoi[sz]e|merge|migrate|mirror|mock|move|"
    "multiply|mutate|normali[sz]e|offer|omit|opt|order|overlap|override|pack|pad|parametri[sz]e|parse|pass|permute|pin|"
    "place|port|precompute|prefer|prefetch|preserve|print|promote|propagate|protect|provide|prune|pull|push|put|raise|"
    "randomi[sz]e|rank|read|rebuild|record|reduce|refactor|refuse|register|reject|release|remember|remove|rename|reorder|"
    "replace|report|require|reset|reshape|resolve|restore|restrict|rethink|return|reuse|reverse|revert|rewrite|round|run|"
    "sample|save|scale|schedule|seed|select|send|separate|serve|set|share|shift|shrink|skip|slice|sort|specify|split|squeeze|"
    "stack|start|stop|store|subtract|sum|support|swap|switch|synchroni[sz]e|take|tell|test|throw|tie|track|train|transfer|"
    "transpose|treat|trim|truncate|try|tune|turn|unify|unroll|unwrap|update|upgrade|use|validate|vectori[sz]e|verify|wait|"
    "warn|weight|widen|work out|wrap|write|yield|zero"
)
SENTENCE = re.compile(
    r"(?<=[.!?;:])\s+|,?\s+(?:so(?! that)|hence|therefore)\s+|\n\s*(?:[-*]|\d+[.)])?\s*|\s+[\u2013\u2014]\s+"
)
OPENING = re.compile(
    r"^\W*(?:(?:please|just|simply|instead|then|either|or|better|rather|ideally|maybe|perhaps|also|and|we can|we could|"
    r"we should|i would|i'd|you can|to fix(?: this)?|option \w+|alternatively)\b[,:\s]*)*",
    re.IGNORECASE,
)
NO_VERB = (
    r"if|when|while|since|because|with|without|for|from|to|in|on|at|by|of|as|and|but|or|so|both|all|only|not|even|"
    r"then|this|"
    r"that|these|those|it|they|we|you|there|here|once|after|before|under|over|inside|outside|unlike|like|per|via|"
    r"given|yet|one|two|three|each|every|any|the|its|our|no|import|from|def|class|see|note"
)
OBJECT = r"it|them|this|these|those|the|an?|its|their|our|your|each|every|both|all|one|two|\w+_\w+|[\w.]+\(|\w+\.\w+"
PROPOSING = re.compile(
    rf"^(?:{VERBS}|import(?= \w+ (?:with|from|at|once|lazily|instead)\b))\b(?! (?:of|is|are|was|were|has|have|may|"
    rf"can|will|does|do|should|must)\b)(?![\w.]*\()"
    rf"|^(?!(?:{NO_VERB})\b)[a-z]{{3,}}(?<!s)(?<!ing)(?<!ed) (?:{OBJECT})(?:\W|$)|^`?@\w",
    re.IGNORECASE,
)
ASKING = re.compile(
    r"\b(?:should|must|ought to|needs? to|has to|have to|let's|replaces|(?:i|we)(?:'d| would) (?:like|want|"
    r"prefer)|we want|"
    r"would be (?:simpler|better|cleaner|nicer|safer|enough))\b",
    re.IGNORECASE,
)
OFFERING = re.compile(
    r"\b(?:could|can be|might|would \w+|is enough|suggest\w*|recommend\w*|propos\w+|prefer\w*|instead)\b",
    re.IGNORECASE,
)
LABEL = re.compile(
    r"^\W*(?:suggest\w*|recommend\w*|propos\w*|fix|remedy|solution|resolution|action)\b[^:.]{0,20}$", re.I
)


def sentences_of(text: str) -> list[str]:
    return [sentence for piece in SENTENCE.split(text) if (sentence := piece.strip())]


def proposed_in(ticket: Ticket) -> tuple[list[str], list[str]]:
    """What a ticket asks for, and what it only offers. What is called a fix is asked for, whatever its words.

    Titles often begin with a noun that could be a verb: `Copy in the loop` asks for nothing.
    """
    labels = [block.label for block in ticket.code_of("fix")]
    called = [text for text in (ticket.fix, *labels) if text.strip()]
    asked, offered = proposals_in(".\n".join([ticket.summary, ticket.problem])[:TEXT])
    in_title, beside = proposals_in(ticket.title)
    needed = [sentence for sentence in in_title if ASKING.search(sentence)]
    rest = [*offered, *beside, *in_title]
    return (called, [*asked, *needed, *rest]) if called else ([*asked, *needed], rest)


def proposals_in(text: str) -> tuple[list[str], list[str]]:
    """The sentences that ask for something, and those that only say what could be done."""
    asking: list[str] = []
    offering: list[str] = []
    is_labelled = False
    for sentence in sentences_of(text):
        need = ASKING.search(sentence)
        if is_labelled or PROPOSING.match(OPENING.sub("", sentence)):
            asking.append(sentence)
        elif need:
            asking.append(sentence[need.start() :])
        elif OFFERING.search(sentence):
            offering.append(sentence)
        is_labelled = sentence.endswith(":") and LABEL.match(sentence[:-1]) is not None
    return asking, offering
