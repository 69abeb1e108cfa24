"""Why findings were left alone, in classes that can be counted: the reasons themselves name code and places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

CLASSES = {
    "devices may differ": re.compile(r"\bdevices?\b"),
    "may change meanwhile": re.compile(r"may change|\bmay set\b|\bsets\b|changes|bound again|writes into|is set while"),
    "may not run each time": re.compile(r"condition|every round|not always|may end|only once|stands in a|iterator"),
    "the number itself is used": re.compile(r"\bnumber\b|part of a text"),
    "the code does not say enough": re.compile(
        r"cannot be (?:told|seen|followed)|nothing (?:says|in this file)|not seen|by a string"
        r"|from elsewhere|same name|may be\b|may not be\b|not imported|may hold"
    ),
    "the file is not to be changed": re.compile(r"would have to (?:change|be created)|excluded|not writable"),
}
"""The first that matches counts."""

OTHER = "other reasons"


def class_of(reason: str) -> str:
    return next((name for name, pattern in CLASSES.items() if pattern.search(reason)), OTHER)


def counted(reasons: Iterable[str]) -> str:
    """`the number itself is used (4), devices may differ (1)`"""
    counts = Counter(map(class_of, reasons))
    return ", ".join(f"{name} ({number})" for name, number in sorted(counts.items(), key=lambda one: (-one[1], one[0])))
