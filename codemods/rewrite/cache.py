"""Results of earlier scans, in the user's cache folder: by time stamp first, by content second."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.rewrite.as_json import dump_finding, load_finding
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.suppress import Suppression
from fullgraph.codemods.rewrite.walk import Entry
from fullgraph.codemods.source_roots import BUILD_FILES

SCHEMA = """
create table if not exists files (path blob primary key, stamp text, digest text);
create table if not exists results (
    path blob, question text, digest text, neighbours text, answer text, primary key (path, question)
);
create table if not exists questions (question text primary key, asked integer);
"""
FORMAT = 3
"""Part of the file's name, so that another version's tables are never met."""

KEPT_QUESTIONS = 8
"""How many sets of codemods and options are remembered for one project."""

KEPT_DAYS = 60
SETTLED_NS = 2_000_000_000
"""A file this young may change again without a new time stamp: file systems count in steps of up to two seconds."""

Seen = tuple[Entry, str, FileResult]


class Cache:
    """What was found in the files of one project. A cache that cannot be read or written is no cache, not an error."""

    def __init__(self, root: Path, codemods: Sequence[Codemod], entries: Iterable[Entry]) -> None:
        self.opened = time.time_ns()
        self.root = root
        self.entries = {entry.path: entry for entry in entries}
        packages = sorted(path for path in self.entries if path.endswith("__init__.py"))
        named = sorted(f"{entry.path} {entry.stamp}" for entry in self.entries.values())
        codes = (describe(codemod) for codemod in codemods)
        self.question = digest_of(sys.version, fingerprint_of_code(codemods), *codes, *packages, *requirements(root))
        self.neighbours = digest_of(*named)
        self.file = cache_folder() / f"{digest_of(str(root))}.{FORMAT}.sqlite"
        self.touched: list[tuple[Entry, str]] = []
        """Files with a new stamp and the old content."""

        self.connection: sqlite3.Connection | None = None
        with self._forgiving():
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.connection = sqlite3.connect(self.file, timeout=2)
            self.connection.executescript(SCHEMA)

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        """Whatever goes wrong inside ends the cache for this run; a file that is no database is thrown away."""
        try:
            yield
        except (OSError, ValueError, TypeError, sqlite3.Error) as error:
            self.close()
            if not isinstance(error, (OSError, sqlite3.OperationalError)):
                with suppress(OSError):
                    self.file.unlink(missing_ok=True)

    def close(self) -> None:
        if self.connection:
            self.connection.close()
        self.connection = None

    def _select(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        with self._forgiving():
            return self.connection.execute(query, values).fetchall() if self.connection else []
        return []

    def fresh_digests(self, entries: Sequence[Entry]) -> dict[str, str]:
        """The content digest of every file that is known by its stamp or, if only its size is the same, by reading."""
        rows: dict[str, tuple[str, str]] = {}
        with self._forgiving():
            rows = {as_path(path): (str(stamp), digest) for path, stamp, digest in self._select("select * from files")}
        fresh = {}
        for entry in entries:
            stamp, digest = rows.get(entry.path, ("", ""))
            if stamp and stamp != stamp_text(entry) and self._has_content(entry, stamp, digest):
                stamp = stamp_text(entry)
                self.touched.append((entry, digest))
            if stamp == stamp_text(entry):
                fresh[entry.path] = digest
        return fresh

    def _has_content(self, entry: Entry, stamp: str, digest: str) -> bool:
        try:
            return stamp.split()[2] == str(entry.size) and digest_bytes((self.root / entry.path).read_bytes()) == digest
        except (OSError, IndexError):
            return False

    def answers(self, digests: dict[str, str]) -> dict[str, FileResult]:
        """The results that still hold for files with these digests."""
        rows = self._select(
            "select path, digest, neighbours, answer from results where question = ? and neighbours in ('', ?)",
            self.question,
            self.neighbours,
        )
        found: dict[str, FileResult] = {}
        for name, digest, neighbours, answer in rows:
            with suppress(ValueError, LookupError, TypeError):  # a damaged row is no row
                path = as_path(name)
                if digests.get(path) == digest:
                    found[path] = load_result(path, answer, not neighbours)
        return found

    def store(self, seen: Sequence[Seen]) -> None:
        """Remember the results of a scan; not those of files that could not be read, which have no digest."""
        seen = [item for item in seen if item[1]]
        known = [*self.touched, *((entry, digest) for entry, digest, _ in seen)]
        settled = [(entry, digest) for entry, digest in known if entry.stamp[0] + SETTLED_NS < self.opened]
        files = [(as_row(entry.path), stamp_text(entry), digest) for entry, digest in settled]
        results = [
            (as_row(entry.path), self.question, digest, "" if result.is_local else self.neighbours, dump_result(result))
            for entry, digest, result in seen
        ]
        with self._forgiving():
            if self.connection and known:
                with self.connection as transaction:
                    transaction.executemany("insert or replace into files values (?, ?, ?)", files)
                    transaction.executemany("insert or replace into results values (?, ?, ?, ?, ?)", results)
                    self._forget(transaction)
        self.close()

    def _forget(self, transaction: sqlite3.Connection) -> None:
        """Drop what nobody will ask for again: files that are gone, old questions, projects not looked at for long."""
        held = {row[0] for row in transaction.execute("select path from files")}
        gone = [(row,) for row in held if as_path(row) not in self.entries]
        transaction.executemany("delete from files where path = ?", gone)
        transaction.executemany("delete from results where path = ?", gone)
        transaction.execute("insert or replace into questions values (?, ?)", (self.question, self.opened))
        kept = "(select question from questions order by asked desc limit ?)"
        for table in ("results", "questions"):
            transaction.execute(f"delete from {table} where question not in {kept}", (KEPT_QUESTIONS,))
        forget_old_files(self.file.parent, self.opened / 1e9 - KEPT_DAYS * 86_400)


def forget_old_files(folder: Path, oldest: float) -> None:
    for file in folder.glob("*.sqlite"):
        with suppress(OSError):
            if file.stat().st_mtime < oldest:
                file.unlink()


def cache_folder() -> Path:
    """The user's cache folder; `FULLGRAPH_CACHE` names another."""
    if named := os.environ.get("FULLGRAPH_CACHE"):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("fullgraph", appauthor=False))


def describe(codemod: Codemod) -> str:
    told = f"{codemod.options} {codemod.symbols} {codemod.tests} {codemod.sites} {codemod.is_asked}"
    return f"{codemod.name} {type(codemod).__module__} {told}"


def fingerprint_of_code(codemods: Sequence[Codemod]) -> str:
    """Changes with every change of the codemods themselves, so that a newer fullgraph asks again."""
    files = {str(file): file.stat() for codemod in codemods for file in code_of(type(codemod))}
    files |= code_below(Path(__file__).parent.parent)
    return digest_of(*(f"{file} {status.st_mtime_ns} {status.st_size}" for file, status in sorted(files.items())))


def code_below(folder: Path | str) -> dict[str, os.stat_result]:
    """The Python files below a folder. An editor waits for this: it is a third of the time that `rglob` takes."""
    found: dict[str, os.stat_result] = {}
    with os.scandir(folder) as children:
        for child in children:
            if child.is_dir(follow_symlinks=False):
                found |= code_below(child.path)
            elif child.name.endswith(".py"):
                found[child.path] = child.stat()
    return found


def code_of(kind: type[Codemod]) -> Iterable[Path]:
    """The file that a codemod stands in and, if that is part of a package, the files around it."""
    file = getattr(sys.modules[kind.__module__], "__file__", None)
    if not file:
        return []
    return Path(file).parent.rglob("*.py") if "." in kind.__module__ else [Path(file)]


def requirements(root: Path) -> list[str]:
    """The files that say what a project depends on and what its modules are called."""
    from fullgraph.codemods.syntax.torch_version import ENVIRONMENTS, read_files

    files = dict.fromkeys([*(root / name for name in (*BUILD_FILES, *ENVIRONMENTS)), *read_files(root)])
    return [f"{file} {file.stat().st_mtime_ns}" for file in files if file.exists()]


def stamp_text(entry: Entry) -> str:
    return " ".join(map(str, entry.stamp))


def as_row(path: str) -> bytes:
    """A path as the database can hold it: names need not be UTF-8."""
    return os.fsencode(path)


def as_path(row: bytes) -> str:
    return os.fsdecode(row)


def digest_bytes(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:32]


def digest_of(*texts: str) -> str:
    return digest_bytes("\0".join(texts).encode(errors="surrogateescape"))


def dump_result(result: FileResult) -> str:
    if result == FileResult(result.path, is_local=result.is_local):
        return ""
    return json.dumps(
        {
            "findings": [dump_finding(finding) for finding in result.findings],
            "suppressed": result.suppressed,
            "unused": [(item.line, item.name) for item in result.unused],
            "error": result.error,
            "unfollowed": result.unfollowed,
            "compiles": result.compiles,
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
        tuple(held["unfollowed"]),
        held["compiles"],
    )
