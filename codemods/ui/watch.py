"""`check --watch`: look again whenever a file changes. The cache answers for the files that have not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.walk import SUFFIXES
from fullgraph.codemods.ui.report.model import shown_path
from fullgraph.codemods.ui.screen import on_one_line
from fullgraph.codemods.ui.terminal import is_terminal

FEW = 3
TICK = 200
"""Milliseconds after which it is told that nothing has changed."""


def watch(paths: tuple[Path, ...], look: Callable[[], int]) -> int:
    """Look now and after every change, until Ctrl-C. What changes while it looks is seen, too."""
    changes = changes_in(paths)
    try:
        next(changes)
        look()
        click.echo("Watching for changes; Ctrl-C ends.", err=True)
        for changed in filter(None, changes):
            look_again(changed, look)
    except KeyboardInterrupt:
        pass
    return 0


def look_again(changed: list[str], look: Callable[[], int]) -> None:
    if is_terminal(sys.stdout):
        click.clear()
    more = f" and {len(changed) - FEW} more" if len(changed) > FEW else ""
    click.echo(on_one_line(f"Changed: {', '.join(changed[:FEW])}{more}"), err=True)
    look()


def changes_in(paths: tuple[Path, ...]) -> Iterator[list[str]]:
    """The files of each change, as people write them; nothing, now and then, and as soon as it watches."""
    try:
        from watchfiles import DefaultFilter
        from watchfiles import watch as changes
    except ImportError:
        raise FullgraphError("--watch needs watchfiles: pip install 'fullgraph[watch]'") from None

    class Sources(DefaultFilter):
        def __call__(self, change: Any, path: str) -> bool:
            return Path(path).suffix in SUFFIXES and super().__call__(change, path)

    told = changes(
        *(paths or (Path(),)), watch_filter=Sources(), raise_interrupt=True, rust_timeout=TICK, yield_on_timeout=True
    )
    return (sorted(shown_path(Path(), path) for _, path in change) for change in told)
