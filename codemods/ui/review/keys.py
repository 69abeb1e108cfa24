"""Single keys from the terminal, without waiting for Enter."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

KEY = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\x1b])?|.", re.DOTALL)
"""One key as a terminal sends it: a character, or the escape sequence of an arrow or function key."""

CTRL_D = "\x04"
REDRAW = "\x0c"
"""Ctrl-L; also what comes when the terminal has another size, or the review goes on after Ctrl-Z."""

DOWN = (" ", "\x1b[B", "\x1bOB", "\x1b[6~")
UP = ("b", "\x1b[A", "\x1bOA", "\x1b[5~")


class Keys:
    """The keyboard during a review. `has_left`: the person does not want to be asked any more."""

    def __init__(self) -> None:
        self.has_left = False
        self.waiting: list[str] = []
        self._leave: Callable[[], None] = lambda: None
        self._woken = self._wake = -1

    def ask(self, prompt: str) -> str:
        """The next key. Of keys that came at once, as in a paste, each is the answer to one question."""
        click.echo(prompt, nl=False)
        if not self.waiting:
            self.waiting = KEY.findall(self._read())
        key = self.waiting.pop(0)
        click.echo(key if key.isprintable() else "")
        return "q" if key == CTRL_D else key if len(key) > 1 else key.lower()

    def forget(self) -> None:
        """Drop the keys that have come and that nobody has asked for yet."""
        self.waiting = []
        if sys.platform != "win32":
            import termios

            termios.tcflush(sys.stdin, termios.TCIFLUSH)

    def _read(self) -> str:
        """At least one key; a signal that asks for a new picture is one."""
        if self._woken < 0:
            return read_some()
        ready, _, _ = select.select([sys.stdin, self._woken], [], [])
        if self._woken in ready:
            os.read(self._woken, 1024)
            return REDRAW
        return read_some()

    @contextmanager
    def listening(self, leave: Callable[[], None]) -> Iterator[None]:
        """Inside, keys come one by one; after, the terminal is as it was. Ctrl-Z and `fg` in between are fine.

        `leave` gives the screen back before Ctrl-Z stops the program.
        """
        if sys.platform == "win32":
            yield
            return
        import termios

        usual = termios.tcgetattr(sys.stdin)
        self._leave = lambda: termios.tcsetattr(sys.stdin, termios.TCSADRAIN, usual)
        self._woken, self._wake = os.pipe()
        answers = {signal.SIGCONT: self._go_on, signal.SIGWINCH: self._look_again, signal.SIGTSTP: self._stop(leave)}
        before = {number: signal.signal(number, answer) for number, answer in answers.items()}
        try:
            listen()
            yield
        finally:
            self._leave()
            for number, answer in before.items():
                signal.signal(number, answer)
            os.close(self._woken)
            os.close(self._wake)
            self._woken = self._wake = -1

    def _stop(self, leave: Callable[[], None]) -> Callable[..., None]:
        def stop(*_: object) -> None:
            leave()
            self._leave()
            os.kill(os.getpid(), signal.SIGSTOP)

        return stop

    def _go_on(self, *_: object) -> None:
        listen()
        self._look_again()

    def _look_again(self, *_: object) -> None:
        os.write(self._wake, b"!")

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
