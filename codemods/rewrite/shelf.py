"""Where answers about a project outlive the process (see `codemods/lasting.py`): beside the results of scans."""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullgraph.codemods.rewrite.cache import FORMAT, cache_folder, digest_of, fingerprint_of_code

SCHEMA = "create table if not exists kept (kind text, what text, code text, put integer, held text)"
GET = "select held from kept where what = ? and code = ? order by put desc"
FORGET = "delete from kept where kind = ? and rowid not in (select rowid from kept where kind = ? {newest})"
KEPT = 4
"""How many answers of one kind: a buffer that is not saved yet takes nothing from what is on the disk."""

KEPT_PLACES = 64
"""How many about places in files."""


@dataclass(frozen=True)
class DiskShelf:
    """The shelf of one project in the user's cache folder. What goes wrong there is as if nothing were kept.

    Answers of another fullgraph or another Python are not met. A name is `kind` or `kind:more`.
    """

    root: Path

    @property
    def file(self) -> Path:
        return cache_folder() / f"{digest_of(str(self.root))}.kept.{FORMAT}.sqlite"

    @property
    def code(self) -> str:
        return digest_of(sys.version, fingerprint_of_code([]))

    def get(self, what: str) -> list[Any]:
        """What is kept under a name, the newest first."""
        rows: list[tuple[str]] = []
        if self.file.is_file():
            self._try(lambda database: rows.extend(database.execute(GET, (what, self.code))))
        return [held for row in rows if (held := read(*row)) is not None]

    def put(self, what: str, held: Any) -> None:
        kind = what.partition(":")[0]
        kept = KEPT_PLACES if what != kind else KEPT
        forget = FORGET.format(newest=f"order by put desc limit {kept}")

        def write(database: sqlite3.Connection) -> None:
            row = (kind, what, self.code, time.time_ns(), json.dumps(held))
            database.execute("insert into kept values (?, ?, ?, ?, ?)", row)
            database.execute(forget, (kind, kind))

        self._try(write)

    def _try(self, do: Callable[[sqlite3.Connection], object]) -> None:
        """Do something with the database, in one transaction; a file that is no database is thrown away."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.file, timeout=2)) as database, database:
                database.execute(SCHEMA)
                do(database)
        except (OSError, ValueError, TypeError, sqlite3.Error) as error:
            if not isinstance(error, (OSError, sqlite3.OperationalError)):
                with suppress(OSError):
                    self.file.unlink(missing_ok=True)


@dataclass(frozen=True)
class LiveShelf:
    """A shelf for a process that asks again and again: the last answers, and the disk's only for the first question."""

    disk: DiskShelf
    held: dict[str, list[Any]] = field(default_factory=dict)

    def get(self, what: str) -> list[Any]:
        if what not in self.held:
            self.held[what] = self.disk.get(what)
        return list(self.held[what])

    def put(self, what: str, held: Any) -> None:
        if not self.held.get(what):
            self.disk.put(what, held)
        self.held[what] = [held, *self.held.get(what, [])][:KEPT]


def read(text: Any) -> Any:
    """What a row holds; a damaged one nothing."""
    with suppress(ValueError, TypeError, RecursionError):
        return json.loads(text)
    return None
