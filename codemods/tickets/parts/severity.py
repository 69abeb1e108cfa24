"""How bad: many scales, read as one from P0 (worst) to P5."""

from __future__ import annotations

import re

WORDS = {
    "P0": "critical,blocker,urgent,showstopper,fatal,emergency,highest",
    "P1": "high,major,error,severe,important",
    "P2": "medium,moderate,normal,warning,warn,med,average",
    "P3": "low,minor,note,info,information,informational,convention,refactor,recommendation,style,hint",
    "P4": "trivial,nit,cosmetic,lowest,nitpick",
}
LEVELS = {word: level for level, words in WORDS.items() for word in words.split(",")}
NAMED = "|".join(sorted(LEVELS, key=len, reverse=True))
CODE = re.compile(r"(?<![\w.-])(?:P|S|SEV|PRIO|PRIORITY|SEVERITY)[\s:_-]?([0-5])(?![\w.]\w)(?!\w)", re.IGNORECASE)
WORD = re.compile(rf"(?<![\w-])({NAMED})(?![\w-])", re.IGNORECASE)
OLD = re.compile(
    r"~~.*?~~|[(\[]\s*(?:was|were|previously|formerly|originally|from|before)\b[^)\]]*[)\]]", re.IGNORECASE
)
ARROW = re.compile(r"\u2192|->|=>|\u21d2|\bto\b|\bnow\b", re.IGNORECASE)
CHANGE = (
    r"(?:downgrad|upgrad|lower|rais|elevat|escalat|reduc|bump|chang|adjust|re-?classif|demot|promot|drop|revis|"
    r"re-?rat|re-?prioriti|de-?prioriti)\w*\b"
)
MOVED = re.compile(
    rf"\b{CHANGE}[^.\n]{{0,60}}?(?:\bto\b|\bas\b|\u2192|->)\s*[*`\"']*(?P<level>P[0-5]\b|(?:{NAMED})\b)"
    rf"|\b(?:should|must|ought to)\s+(?:really\s+)?be\s+(?:an?\s+)?[*`]*(?P<due>P[0-5])\b"
    rf"|\b(?:severity|priority)\s*(?::|is|=|\u2192|->)\s*[*`]*(?:P[0-5]\s*(?:\u2192|->|to)\s*)?(?P<stated>P[0-5])\b",
    re.IGNORECASE,
)
DOUBT = re.compile(
    r"\b(?:if|unless|when|whether|consider|could|might|may|would|until|once|in case|not|don't|never|no need)\b",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"(?<=[.!?;\n])\s+")


def level_of(text: str) -> str:
    """P0 to P5 for a severity in any of the usual words, or nothing. Of `P1 -> P3` the new one counts."""
    text = OLD.sub(" ", text[:200])
    for piece in reversed(ARROW.split(text)):
        if found := CODE.search(piece):
            return f"P{found.group(1)}"
        if named := WORD.search(piece):
            return LEVELS[named.group(1).casefold()]
    return f"P{text.strip()}" if re.fullmatch(r"\s*[0-5]\s*", text) else ""


def changed_level(text: str) -> str:
    """The level that a review asks for, if it does so without a condition."""
    level = ""
    for sentence in SENTENCE.split(text):
        found = MOVED.search(sentence)
        if found and not DOUBT.search(sentence):
            level = level_of(found.group("level") or found.group("due") or found.group("stated") or "")
    return level
