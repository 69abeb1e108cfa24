"""What reviewers say: in one word, in a phrase, or as another severity."""

from __future__ import annotations

import re

REFUSED = (
    r"(?:not|cannot|can't|don't|doesn't|do not|does not) (?:be )?(?:endorse|approve|accept|agree|support)[ds]?|"
    r"not (?:an? )?valid"
)
REJECTING = REFUSED + (
    r"|reject(?:ed|s|ion)?|disagree[ds]?|(?-i:DISPUTED?)|invalid|"
    r"not (?:really |actually )?a (?:real )?bug|not an issue|"
    r"false[ -]positive|won'?t[ -]?fix|will not fix|work(?:s|ing)? as (?:intended|designed)|nack|dismiss(?:ed)?|"
    r"den(?:y|ied)|decline[ds]?|not reproducible|cannot reproduce|no action(?: needed| required)?|refuted?|"
    r"do not (?:fix|merge|implement)|by design|\U0001f44e|^[-\u2212]1|"
    r"clos(?:ed|ing) as (?:not planned|won'?t[ -]?fix|invalid|duplicate|by design|not a bug)|"
    r"decided not to (?:do|fix|change|implement)|(?-i:OBJECT)|objected|objection|opposed?|false[ -]alarm|"
    r"no (?:change|fix)(?: is)? (?:needed|required|necessary)|none needed|not (?:a|an) (?:real )?(?:issue|problem)|"
    r"clos(?:e|ing) (?:this|it) as \w+"
)
SUPPORTING = (
    r"endorse[ds]?(?:ment)?|approve[ds]?|agree[ds]?|confirm(?:ed|s)?|accept(?:ed|s)?|valid|lgtm|concur[s]?|support(?:ed|s)?|"
    r"ack|\+1|\U0001f44d|ship it|true positive|reproduced|verified|uphold|upheld"
)
UNDECIDED = (
    r"modify|modified|amend(?:ed)?|downgrade[ds]?|upgrade[ds]?|escalate[ds]?|partial(?:ly)?|needs? (?:work|changes|"
    r"info|discussion|more \w+)|abstain(?:ed|s)?|defer(?:red)?|uncertain|mixed|neutral|conditional|revise[ds]?|"
    r"adjust(?:ed)?"
)
ANY = re.compile(
    rf"(?<![\w-])(?:(?P<no>{REJECTING})|(?P<yes>{SUPPORTING})|(?P<open>{UNDECIDED}))(?![\w-])", re.IGNORECASE
)
LOUD = re.compile(
    r"(?<![\w-])(?:ENDORSED?|REJECT(?:ED)?|DISPUTED?|APPROVED?|DISAGREE|CONFIRMED|INVALID|WONTFIX|WON'T FIX|NOT A BUG|"
    r"NACK|FALSE POSITIVE|WORKS AS INTENDED|MODIFY|DOWNGRADED?|ABSTAIN)(?![\w-])"
)
PHRASE = re.compile(
    r"\b(?:clos(?:ed|ing) as (?:not planned|won'?t[ -]?fix|invalid|duplicate|by design|not a bug)|"
    r"decided not to (?:do|fix|change|implement)|false alarm|none needed|"
    r"no (?:change|fix)(?: is)? (?:needed|required|necessary)|"
    r"not (?:really |actually )?a (?:real )?bug|false positive|won't fix|wontfix|works? as (?:intended|designed)|"
    r"working as (?:intended|designed))\b",
    re.IGNORECASE,
)
REFUSES = re.compile(
    r"(?<![\w-])(?:reject(?:ed|s|ing|ion)?|nack|clos(?:e|ing) (?:this|it) as (?:not|won't|wontfix|invalid|by)\b|"
    r"(?:don't|do not) think (?:that )?(?:this|it) is an? (?:real |actual )?(?:issue|bug|problem)|"
    r"disagree[ds]?(?! (?:with|on|about) the (?:severity|priority|word))|"
    rf"{REFUSED})(?![\w-])",
    re.IGNORECASE,
)
ICONS = "\u2705\u2714\u274c\u2716\u274e\u26a0\ufe0f\u2757\U0001f6ab\U0001f534\U0001f7e0\U0001f7e1\U0001f7e2\U0001f6d1"
NO_ICON = re.compile("[\u274c\u2716\U0001f6ab\U0001f6d1]")
TOLD = re.compile(
    r"\b(?:verdict|decision|disposition|outcome|reviewed[- ]by|review(?:er)?)\b[^:\n]{0,60}?\s*[:=\u2013\u2014]\W{0,6}"
    rf"(?:[^.\n]{{0,60}}\bverdict\W{{1,6}})?(?P<word>{REJECTING})(?![\w-])",
    re.IGNORECASE,
)
STRUCK = re.compile(r"~~.*?~~")
DOUBT = re.compile(
    r"\b(?:not|isn't|never|hardly|no|if|whether|unless|could be|might be|may be|would be|longer|cannot|can't|don't|"
    r"doesn't|wouldn't|wasn't)\b[^.;:!?\n]{0,30}$",
    re.IGNORECASE,
)
LEAD = re.compile(
    rf"\s*[>*_`\-\u2022\s{ICONS}]*"
    rf"(?:@?[\w.\- ]{{1,40}}(?:\([^()]{{1,40}}\))?[*_`\s]*[:\u2013\u2014-]+\s*)?[*_`\s{ICONS}]*"
)


def verdict_in(text: str, *, is_review: bool) -> tuple[str, bool] | None:
    """The verdict of a text, and whether it rejects. Outside reviews only loud words in front and phrases count."""
    text = STRUCK.sub(" ", text.replace("\u2019", "'"))
    if found := leading(text, ANY if is_review else LOUD):
        return found.group(), rejects(found.group())
    return spoken_verdict(text, is_review=is_review)


def spoken_verdict(text: str, *, is_review: bool) -> tuple[str, bool] | None:
    """A verdict in the middle of a text. In a review a refusal counts wherever it stands, before any consent."""
    for pattern in (REFUSES, PHRASE, LOUD) if is_review else (PHRASE,):
        for match in pattern.finditer(text):
            if not DOUBT.search(text, max(0, match.start() - 60), match.start()):
                return match.group(), rejects(match.group())
    return None


def leading(text: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """A verdict that a text begins with, perhaps after who says it."""
    lead = LEAD.match(text[:100])
    ends = {0, len(text) - len(text.lstrip("> *_`-\t\n" + ICONS)), lead.end() if lead else 0}
    return next((found for end in sorted(ends) if (found := pattern.match(text, end))), None)


def told_rejection(text: str) -> str:
    """The word of a text that names a review and rejects in one breath: `Reviewed-by: Ada, verdict: rejected`."""
    found = TOLD.search(STRUCK.sub(" ", text.replace("\u2019", "'")))
    return found.group("word") if found else ""


def stated_verdict(text: str) -> tuple[str, bool]:
    """The value of a field for verdicts, and whether it rejects. `not rejected` does not."""
    text = STRUCK.sub(" ", text.replace("\u2019", "'")).strip()
    for match in ANY.finditer(text):
        if not DOUBT.search(text, 0, match.start()):
            return text, match.group("no") is not None
    return text, NO_ICON.search(text) is not None and not re.search("[\u2705\u2714]", text)


def supports(verdict: str) -> bool:
    """Whether a verdict endorses: the first word of consent or refusal in it decides."""
    found = next((match for match in ANY.finditer(verdict) if not match.group("open")), None)
    return found is not None and found.group("yes") is not None


def rejects(word: str) -> bool:
    found = ANY.fullmatch(word)
    return REFUSES.fullmatch(word) is not None or (found is not None and found.group("no") is not None)
