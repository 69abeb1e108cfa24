"""Results of earlier scans, in the user's cache folder: by time stamp first, by content second."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from codemods.codemod import Codemod
from codemods.rewrite.as_json import dump_finding, load_finding
from codemods.rewrite.find import FileResult
from codemods.rewrite.suppress import Suppression
from codemods.rewrite.walk import Entry

SCHEMA = """
create table if not exists files (path text primary key, mtime integer, size integer, inode integer, digest text);
create table if not exists results (
    path text, question text, digest text, neighbours text, answer text, primary key (path, question)
);
"""


class Cache:
    """What was found in the files of one project. A cache that cannot be read or written is no cache, not an error."""

    def __init__(self, root: Path, codemods: Sequence[Codemod], entries: Iterable[Entry]) -> None:
        self.question = digest_of(fingerprint_of_code(), *(describe(codemod) for codemod in codemods))
        self.neighbours = digest_of(*(f"{entry.path} {entry.stamp}" for entry in entries))
        self.file = cache_folder() / f"{digest_of(str(root))}.sqlite"
        self.connection: sqlite3.Connection | None = None
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.connection = sqlite3.connect(self.file, timeout=2)
            self.connection.executescript(SCHEMA)
        except (OSError, sqlite3.Error):
            self.connection = None

    def _select(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        try:
            return self.connection.execute(query, values).fetchall() if self.connection else []
        except sqlite3.Error:
            return []

    def fresh_digests(self, entries: Sequence[Entry]) -> dict[str, str]:
        """The content digest of every file whose time stamp, size and inode have not changed."""
        rows = self._select("select path, digest, mtime, size, inode from files")
        known = {path: (digest, (mtime, size, inode)) for path, digest, mtime, size, inode in rows}
        fresh = {}
        for entry in entries:
            digest, stamp = known.get(entry.path, ("", None))
            if stamp == entry.stamp:
                fresh[entry.path] = digest
        return fresh

    def answers(self, digests: dict[str, str]) -> dict[str, FileResult]:
        """The results that still hold for files with these digests."""
        rows = self._select(
            "select path, digest, neighbours, answer from results where question = ? and neighbours in ('', ?)",
            self.question,
            self.neighbours,
        )
        held = (row for row in rows if digests.get(row[0]) == row[1])
        return {path: load_result(path, answer, not neighbours) for path, _, neighbours, answer in held}

    def store(self, seen: Sequence[tuple[Entry, str, FileResult]]) -> None:
        """Remember the results of a scan."""
        if not self.connection or not seen:
            return
        files = [(entry.path, *entry.stamp, digest) for entry, digest, _ in seen]
        results = [
            (entry.path, self.question, digest, "" if result.is_local else self.neighbours, dump_result(result))
            for entry, digest, result in seen
        ]
        try:
            with self.connection:
                self.connection.executemany("insert or replace into files values (?, ?, ?, ?, ?)", files)
                self.connection.executemany("insert or replace into results values (?, ?, ?, ?, ?)", results)
        except sqlite3.Error:
            self.connection = None


def cache_folder() -> Path:
    """The user's cache folder; `FULLGRAPH_CACHE` names another."""
    if named := os.environ.get("FULLGRAPH_CACHE"):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("fullgraph", appauthor=False))


def describe(codemod: Codemod) -> str:
    return f"{codemod.name} {type(codemod).__module__} {codemod.options} {codemod.symbols}"


def fingerprint_of_code() -> str:
    """Changes with every change of the codemods themselves, so that a newer fullgraph asks again."""
    folder = Path(__file__).parent.parent
    files = sorted(folder.rglob("*.py"))
    return digest_of(*(f"{file} {file.stat().st_mtime_ns} {file.stat().st_size}" for file in files))


def digest_of(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode(errors="surrogateescape")).hexdigest()[:32]


def dump_result(result: FileResult) -> str:
    if not (result.findings or result.suppressed or result.unused or result.error):
        return ""
    return json.dumps(
        {
            "findings": [dump_finding(finding) for finding in result.findings],
            "suppressed": result.suppressed,
            "unused": [(item.line, item.name) for item in result.unused],
            "error": result.error,
        }
    )


def load_result(path: str, text: str, is_local: bool) -> FileResult:
    if not text:
        return FileResult(path, is_local=is_local)
    held = json.loads(text)
    return FileResult(
        path,
        tuple(load_finding(finding) for finding in held["findings"]),
        held["suppressed"],
        tuple(Suppression(line, name) for line, name in held["unused"]),
        held["error"],
        is_local,
    )
