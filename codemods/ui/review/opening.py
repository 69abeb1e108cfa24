"""The key `o` of the review: the place of a finding in the user's editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from fullgraph.codemods.model import FullgraphError

USUAL = ("sensible-editor", "vim", "nano", "vi")
PLUS = {"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "mg", "ne", "jed"}
GOTO = {"code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "positron"}
COLON = {"hx", "helix", "subl", "zed"}


def open_at(file: Path, line: int, column: int) -> None:
    """Wait until the editor is closed. Ctrl-C there is the editor's."""
    command = command_for(editor(), file, line, column)
    try:
        subprocess.run(command, check=False)
    except OSError as error:
        raise FullgraphError(
            f"{command[0]} cannot be run: {error.strerror}; $VISUAL or $EDITOR names an editor"
        ) from error


def editor() -> list[str]:
    """As the user calls it: $VISUAL, $EDITOR, or what there usually is."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    try:
        if words := shlex.split(named or "", posix=sys.platform != "win32"):
            return words
    except ValueError as error:
        raise FullgraphError(f"{named!r} is no command: {error}; $VISUAL or $EDITOR names an editor") from error
    usual = ("notepad",) if sys.platform == "win32" else USUAL
    return [next((name for name in usual if shutil.which(name)), usual[-1])]


def command_for(words: list[str], file: Path, line: int, column: int) -> list[str]:
    """How editors take a line; one that nobody here knows gets the file alone."""
    name = Path(words[0]).stem
    if name in PLUS:
        return [*words, f"+{line}", str(file)]
    if name in GOTO:
        return [*words, "--wait", "--goto", f"{file}:{line}:{column}"]
    return [*words, f"{file}:{line}:{column}" if name in COLON else str(file)]
