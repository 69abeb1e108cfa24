"""How git is asked: without a word to anybody, and so that no program runs which a repository's own settings name.

A `.git` folder that came in an archive is hostile: hooks, monitors, filters, pagers, differs and the remote of a
partial clone all name programs. None of them is needed to read what is stored.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_EDITOR": "true",
}
LOCAL = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE"),
    *("GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"),
    *("GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS"),
)
"""What git tells its hooks about their own repository, what changes how paths are read, and programs."""

PLAIN = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "core.sshCommand": "false",
    "core.askPass": "",
    "log.showSignature": "false",
    "diff.external": "",
    "protocol.allow": "never",
}

FETCHING = re.compile(rb"transport '.*' not allowed|lazy fetching disabled|promisor remote")
PARTIAL = "this clone is partial, and what is missing is never fetched from here"


def environment() -> dict[str, str]:
    """The user's, without what would lead git elsewhere."""
    return {**{name: value for name, value in os.environ.items() if name not in LOCAL}, **QUIET}


def reading(folder: Path) -> list[str]:
    """The words before a command that only reads."""
    settings = {**PLAIN, **without_filters(folder)}
    return [*plain_words(settings), "-C", str(folder)]


def plain_words(settings: dict[str, str]) -> list[str]:
    chosen = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
    return ["git", *chosen, "--no-pager", "--no-optional-locks"]


def without_filters(folder: Path) -> dict[str, str]:
    """Settings that switch off every filter of a repository: comparing a file with what is stored would run it."""
    asked = [*plain_words(PLAIN), "-C", str(folder), "config", "--null", "--name-only", "--get-regexp", r"^filter\."]
    done = subprocess.run(asked, capture_output=True, stdin=subprocess.DEVNULL, env=environment(), check=False)
    drivers = {os.fsdecode(key).rpartition(".")[0] for key in done.stdout.split(b"\0") if key}
    off = {"clean": "", "smudge": "", "process": "", "required": "false"}
    return {f"{driver}.{key}": value for driver in sorted(drivers) for key, value in off.items()}
