"""What a proof is doing right now, and for how long."""

from __future__ import annotations

import shutil
import sys
import threading
import time

import click

from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.terminal import is_terminal

TICK = 0.5


class StageLine:
    """`compiled: before  12 s` on standard error, ticking, and only on a terminal. The seconds are those of the stage.

    An object of it is a callback `(stage, detail)`. It may be called from any thread; `finish` takes the line away.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.is_shown = not quiet and is_terminal(sys.stderr)
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._ticking: threading.Thread | None = None
        self._name = self._detail = self._shown = ""
        self._began = 0.0

    def stage(self, name: str, detail: str = "") -> None:
        if not self.is_shown or self._done.is_set():
            return
        with self._lock:
            if name != self._name:
                self._began = time.monotonic()
            self._name, self._detail = name, detail
            self._draw()
        if not self._ticking:
            self._ticking = threading.Thread(target=self._tick, daemon=True)
            self._ticking.start()

    __call__ = stage

    def finish(self) -> None:
        """Take the line away for good."""
        self._done.set()
        if self._ticking:
            self._ticking.join()
        with self._lock:
            if self._shown:
                click.echo(f"\r{' ' * len(self._shown)}\r", nl=False, err=True)
                self._shown = ""

    def _tick(self) -> None:
        while not self._done.wait(TICK):
            with self._lock:
                self._draw()

    def _draw(self) -> None:
        what = f"{self._name}: {self._detail}" if self._detail else self._name
        seconds = f"  {time.monotonic() - self._began:.0f} s"
        room = shutil.get_terminal_size().columns - 1 - len(seconds)
        text = plain(what)[: max(room, 0)] + seconds
        click.echo(f"\r{text.ljust(len(self._shown))}", nl=False, err=True)
        self._shown = text
