"""What the keys of both reviews do, in words."""

from __future__ import annotations

from collections.abc import Mapping

HELP = {
    "y": "apply this finding",
    "n": "do not",
    "a": "apply this and all later ones of the same codemod (unsafe ones are still asked about, unless this one is "
    "unsafe)",
    "d": "do not, nor anything else in this file",
    "u": "take the last answer back",
    "e": "open the diff in the editor; what you save is applied instead",
    "p": "prove it now: run the scenarios of --prove, or those of this function, before and after",
    "i": "ignore it from now on: a comment on its line is written with the rest",
    "o": "open its place in the editor",
    "x": "explain the codemod",
    "s": "statistics: what is left, accepted and declined, by codemod",
    "1": "to 9: show an alternative; accepting one declines the others",
    "q": "stop asking and write what was accepted (Ctrl-C: stop and write nothing)",
    "?": "this help; space and b turn the pages of what is long",
}

ON_THE_FULL_SCREEN = {
    "a": "apply this and all undecided ones of the same codemod (not unsafe ones, unless this one is)",
    "d": "do not, nor anything undecided in this file",
    "p": "prove it in the background: the scenarios of --prove, or those of this function",
    "1": "to 9: go to an alternative; accepting one declines the others",
    "q": "leave and write what was accepted (Ctrl-C: leave and write nothing)",
    "?": "this help; Tab goes to the diff and back",
    "/": "show only what holds a text: file, codemod, symbol or message; Escape shows all",
}


def help_lines(others: Mapping[str, str] | None = None) -> list[str]:
    """`y  apply this finding`, one line for each key."""
    return [f"{key}  {text}" for key, text in {**HELP, **(others or {})}.items()]
