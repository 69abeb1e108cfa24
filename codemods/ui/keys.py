"""Single keys from the terminal, without waiting for Enter."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

KEY = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\x1b])?|.", re.DOTALL)
"""One key as a terminal sends it: a character, or the escape sequence of an arrow or function key."""

CTRL_D = "\x04"


class Keys:
    """The keyboard during a review. `has_left`: the person does not want to be asked any more."""

    def __init__(self) -> None:
        self.has_left = False
        self.prompt = ""
        self.waiting: list[str] = []
        self._leave: Callable[[], None] = lambda: None

    def ask(self, prompt: str) -> str:
        """The next key. Of keys that came at once, as in a paste, each is the answer to one question."""
        self.prompt = prompt
        click.echo(prompt, nl=False)
        if not self.waiting:
            self.waiting = KEY.findall(read_some())
        key = self.waiting.pop(0)
        click.echo(key if key.isprintable() else "")
        return "q" if key == CTRL_D else key.lower()

    def forget(self) -> None:
        """Drop the keys that have come and that nobody has asked for yet."""
        self.waiting = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Inside, keys come one by one; after, the terminal is as it was. Ctrl-Z and `fg` in between are fine."""
        if sys.platform == "win32":
            yield
            return
        import termios

        usual = termios.tcgetattr(sys.stdin)
        self._leave = lambda: termios.tcsetattr(sys.stdin, termios.TCSADRAIN, usual)
        stopped = signal.signal(signal.SIGCONT, lambda *_: self._listen_again())
        try:
            listen()
            yield
        finally:
            self._leave()
            signal.signal(signal.SIGCONT, stopped)

    def _listen_again(self) -> None:
        listen()
        click.echo(self.prompt, nl=False)

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Inside, the terminal belongs to another program, and Ctrl-C is meant for that."""
        self.forget()
        self._leave()
        kept = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, kept)
            listen()


def listen() -> None:
    """Have the terminal hand over every key at once, unseen. Ctrl-C and Ctrl-Z keep their meaning."""
    if sys.platform == "win32":
        return
    import termios

    mode = termios.tcgetattr(sys.stdin)
    mode[3] &= ~(termios.ICANON | termios.ECHO)
    mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, mode)


def read_some() -> str:
    """At least one character. A terminal that has gone away stops the review, as Ctrl-C does."""
    if sys.platform == "win32":
        return click.getchar()
    try:
        data = os.read(sys.stdin.fileno(), 1024)
    except OSError:
        data = b""
    if not data:
        raise KeyboardInterrupt
    return data.decode(errors="replace")
