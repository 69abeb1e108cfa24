"""The sentences of a ticket that propose something: where nothing is called a fix, they are all that is said of it."""

from __future__ import annotations

import re

from fullgraph.codemods.tickets.limits import TEXT
from fullgraph.codemods.tickets.model import Ticket

VERBS = (
    "accept|accumulate|add|adopt|align|allocate|allow|anchor|annotate|append|apply|assert|assign|avoid|batch|bind|break|"
    "broadcast|build|bump|cache|call|cast|catch|change|check|choose|clamp|clear|clip|clone|collect|combine|compare|compile|"
    "compute|concatenate|consider|construct|convert|copy|correct|count|create|decide|declare|decorate|defer|define|delete|"
    "derive|detach|disable|divide|document|drop|emit|enable|encode|ensure|evaluate|exclude|expose|extend|extract|factor|"
    "fetch|fill|filter|fix|flatten|fold|force|format|gate|gather|generate|get|give|guard|handle|hide|hoist|hold|ignore|"
    "implement|include|increase|index|initiali[sz]e|inject|inline|insert|instantiate|introduce|isolate|iterate|join|"
    "keep|launch|let|lift|limit|load|lock|log|look|loop over|lower|make|mark|mask|measure|memoi[sz]e|merge|migrate|"
    "mirror|mock|move|multiply|mutate|normali[sz]e|offer|omit|opt|order|overlap|override|pack|pad|parametri[sz]e|parse|pass|"
    "permute|pin|place|port|precompute|prefer|prefetch|preserve|print|promote|propagate|protect|provide|prune|pull|push|put|"
    "raise|randomi[sz]e|rank|read|rebuild|record|reduce|refactor|refuse|register|reject|release|remember|remove|rename|reorder|"
    "replace|report|require|reset|reshape|resolve|restore|restrict|rethink|return|reuse|reverse|revert|rewrite|round|run|"
    "sample|save|scale|schedule|seed|select|send|separate|serve|set|share|shift|shrink|skip|slice|sort|specify|split|squeeze|"
    "stack|start|stop|store|subtract|sum|support|suppress|silence|swap|switch|synchroni[sz]e|take|tell|test|throw|tie|track|train|transfer|"
    "transpose|treat|trim|truncate|try|tune|turn|unify|unroll|unwrap|update|upgrade|use|validate|vectori[sz]e|verify|wait|"
    "warn|weight|widen|work out|wrap|write|yield|zero"
)
SENTENCE = re.compile(
    r"(?<=[.!?;:])\s+|,?\s+(?:so(?! that)|hence|therefore)\s+|\n\s*(?:[-*]|\d+[.)])?\s*|\s+[\u2013\u2014]\s+"
)
OPENING = re.compile(
    r"^\W*(?:(?:please|just|simply|instead|then|either|or|better|rather|ideally|maybe|perhaps|also|and|only|"
    r"always|we can|we could|we should|i would|i'd|you can|(?:is|would be) to|to fix(?: this)?|option \w+|"
    r"alternatively)\b[,:\s]*)*",
    re.IGNORECASE,
)
NO_VERB = (
    r"if|when|while|since|because|with|without|for|from|to|in|on|at|by|of|as|and|but|or|so|both|all|only|not|even|"
    r"then|this|"
    r"that|these|those|it|they|we|you|there|here|once|after|before|under|over|inside|outside|unlike|like|per|via|"
    r"given|yet|one|two|three|each|every|any|the|its|our|no|import|from|def|class|see|note|"
    r"above|below|across|along|among|around|behind|beneath|beside|besides|between|beyond|despite|during|except|near|off|"
    r"past|through|throughout|toward|towards|until|upon|within|against|about|whether|where|which|whose|what|how|why|"
    r"although|though|however|than|because|unless|either|neither|such|same|most|many|some|few|other|another"
)
OBJECT = r"it|them|this|these|those|the|an?|its|their|our|your|each|every|both|all|one|two|\w+_\w+|[\w.]+\(|\w+\.\w+"
PROPOSING = re.compile(
    rf"^(?:{VERBS}|import(?= \w+ (?:with|from|at|once|lazily|instead)\b))\b(?! (?:of|is|are|was|were|has|have|may|"
    rf"can|will|does|do|should|must)\b)(?!\.\w)(?![\w.]*\()"
    rf"|^(?!(?:{NO_VERB})\b)[a-z]{{3,}}(?<!s)(?<!ing)(?<!ed) (?:{OBJECT})(?:\W|$)|^`?@\w",
    re.IGNORECASE,
)
ASKING = re.compile(
    r"\b(?:should|must|ought to|(?<!dynamo )(?<!host )(?<!cpu )(?<!gpu )(?<!python )(?<!compiler )(?<!torch )"
    r"(?:needs? to|has to|have to)|let's|replaces|(?:i|we)(?:'d| would) (?:like|want|"
    r"prefer)|we want|please (?!do not|don't|no\b|never)|needs? (?:an?|the)(?= )|"
    r"would be (?:simpler|better|cleaner|nicer|safer|enough))\b",
    re.IGNORECASE,
)
OFFERING = re.compile(
    r"\b(?:could|can be|might|would \w+|is enough|suggest\w*|recommend\w*|propos\w+|prefer\w*|instead)\b",
    re.IGNORECASE,
)
REFUSING = re.compile(
    r"^(?:do not|don't|never)\b|\bplease (?:do not|don't|never|no)\b|"
    r"\b(?:must|should|shall|may)(?: (?:not|never)\b|n't\b)",
    re.IGNORECASE,
)
CLAUSE = re.compile(r"[,;:.!?()](?:\s|$)|\b(?:but|instead|rather|unless|until|because|since)\b", re.IGNORECASE)
DEFENDING = re.compile(
    r"(?<!not )\b(?:on purpose|by design|deliberate(?:ly)?|intentional(?:ly)?)\b(?!\?)|"
    r"\b(?:leave|keep)\b (?:it|this|that|them|these|everything|the \w+) (?:alone\b|as\b|where\b|in place\b)|"
    r"\b(?:stays?|remains?) (?:as|where) (?:it|they)\b|\b(?:that|this) is (?:exactly )?(?:what|how) we (?:want|need)|"
    r"\b(?:was|were|been|and|got) (?:reverted|rolled back|backed out)\b|"
    r"\b(?:is|are) (?:\w+ )?(?:fine|ok|okay|acceptable) (?:here|as|to me)\b|\bfalse positive\b",
    re.IGNORECASE,
)
OTHERWISE = re.compile(
    r"^(?:assert|validate|verify|test|cover|rename|suppress|silence|parametri[sz]e|explain|comment)\b", re.IGNORECASE
)
"""What no codemod does, whatever it is done to."""

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


def is_for_a_codemod(request: str) -> bool:
    return not OTHERWISE.match(OPENING.sub("", request))


def refused_in(ticket: Ticket) -> list[str]:
    """What a ticket asks not to do: in each such sentence the words after the `not`, as far as it reaches."""
    text = ".\n".join([ticket.title, ticket.summary, ticket.problem, ticket.fix])[:TEXT]
    return [refused for sentence in sentences_of(text) if (refused := refusal_in(sentence))]


def refusal_in(sentence: str) -> str:
    for text in (sentence, OPENING.sub("", sentence)):
        if refusal := REFUSING.search(text):
            return CLAUSE.split(text[refusal.end() :], maxsplit=1)[0].strip(" .")
    return ""


def defends_the_code(ticket: Ticket) -> bool:
    """Whether a ticket says that the code is meant to be as it is."""
    return DEFENDING.search(" ".join([ticket.title, ticket.summary, ticket.problem, ticket.fix])[:TEXT]) is not None


def proposals_in(text: str) -> tuple[list[str], list[str]]:
    """The sentences that ask for something, and those that only say what could be done."""
    asking: list[str] = []
    offering: list[str] = []
    is_labelled = False
    for sentence in sentences_of(text):
        if refusal_in(sentence):
            continue
        need = ASKING.search(sentence)
        if is_labelled or PROPOSING.match(OPENING.sub("", sentence)):
            asking.append(sentence)
        elif need:
            asking.append(sentence[need.start() :])
        elif OFFERING.search(sentence):
            offering.append(sentence)
        is_labelled = sentence.endswith(":") and LABEL.match(sentence[:-1]) is not None
    return asking, offering
