"""Whether a ticket is settled: by its status, or by the folder that it was put into."""

from __future__ import annotations

import re

SETTLED = {
    *("resolved", "closed", "done", "fixed", "merged", "completed", "complete", "wontfix", "duplicate", "invalid"),
    *("rejected", "obsolete", "superseded", "implemented", "shipped", "landed", "archived", "withdrawn", "verified"),
    *("cancelled", "canceled", "dismissed", "declined", "released", "mitigated", "suppressed", "absent", "abandoned"),
}
PHRASES = (
    *("won't fix", "wont fix", "will not fix", "not a bug", "works as intended", "working as intended", "by design"),
    *("false positive", "no longer reproduces", "not reproducible", "cannot reproduce", "won't do", "wont do"),
    *("as designed", "not planned", "no fix needed", "no action needed", "no longer relevant"),
)
FOLDERS = SETTLED | {"archive", "wont-fix", "won't-fix", "wont_fix"}
HOMES = {"tickets", "ticket", "issues", "findings", "bugs", "plans", "reviews", "backlog"}
MARKED = re.compile(
    r"\u2705|^\s*(?:\u2611|\u2714\ufe0f?|\[x\])"
    r"|[\[(]\s*(?:done|fixed|resolved|closed|wontfix|won't fix)\s*[\])]",
    re.IGNORECASE,
)
STRUCK = re.compile(r"~~.*?~~")
WORD = re.compile(r"[a-z']+(?:-[a-z']+)*")
GROUP = re.compile(r"\s*(?:issues?|tickets?|items?|findings?|tasks?|in\s.*|[(:\u2013\u2014].*)?$")
DONE = re.compile(
    r"\W*(?:(?:was |has been |is )?(?:fixed|resolved|closed|done|merged|implemented|addressed|landed|shipped|completed)"
    r"(?:\s+(?:in|by|with|on|via|as|since|under)\b|\W*(?:\n|$)|[.,;:]))|\W*clos(?:ed|ing) as\b",
    re.IGNORECASE,
)
DENIED = {"no", "false", "not yet", "pending", "open", "never", "unresolved", "todo", "to do"}


def is_settled(status: str) -> bool:
    """By its first word or a whole phrase: `partially fixed`, `not done` and `reopened` are not settled."""
    text = STRUCK.sub(" ", status).casefold().replace("\u2019", "'").replace("_", " ").replace("-", " ")
    words = WORD.findall(text)
    return bool(words) and (words[0] in SETTLED or any(" ".join(words).startswith(phrase) for phrase in PHRASES))


def is_settled_group(title: str) -> bool:
    """Whether a heading is nothing but a status of all that stands below it: `Done`, `Won't fix`, `Closed issues`."""
    text = title.casefold().replace("\u2019", "'").strip(" *_:\u2705\u2611\u2714\ufe0f\u274c")
    begun = [phrase for phrase in (*SETTLED, *PHRASES) if text.startswith(phrase)]
    return any(GROUP.match(text, len(phrase)) for phrase in begun)


def is_told_done(text: str) -> bool:
    """Whether a text under `Resolution` says that it has happened: `Fixed in 12ab`, not `Fixed sizes would do`."""
    return DONE.match(text[:200]) is not None


def is_done_on(value: str) -> bool:
    """Whether a field such as `Resolved on` or `Fixed in` holds a day, a commit, or a yes."""
    return bool(value) and value.casefold().strip(" .") not in DENIED


def settled_by_folder(path: str) -> str:
    """The folder that says so: one below the folder of the tickets or just above it, else one of the two nearest."""
    folders = [folder for folder in path.replace("\\", "/").split("/")[:-1] if folder]
    homes = [number for number, folder in enumerate(folders) if folder.casefold() in HOMES]
    nearest = folders[max(homes[-1] - 1, 0) :] if homes else folders[-2:]
    return next((folder for folder in nearest if folder.casefold() in FOLDERS), "")


def is_marked_done(title: str) -> bool:
    """Whether a heading says of itself that it is done: a tick, `[x]`, `(FIXED)`."""
    return MARKED.search(title) is not None
