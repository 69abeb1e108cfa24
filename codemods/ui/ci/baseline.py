"""Findings that are known: what a project already had is no reason to stop, what is new is.

An entry names a codemod, a file, a symbol and the code there, never a line, so it survives edits elsewhere. Entries
that look the same are one with a count. A file that was moved takes its entries along.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullgraph.codemods.model import Finding, FullgraphError
from fullgraph.codemods.plain_file import read_plain_text
from fullgraph.codemods.rewrite.atomic import replace_at
from fullgraph.codemods.rewrite.lock import told_in_one_line
from fullgraph.codemods.ui.named_output import check_output

VERSION = 1


@dataclass(frozen=True, order=True)
class Entry:
    """One known finding. The path counts from the baseline's folder."""

    path: str
    codemod: str
    symbol: str
    content: str

    @property
    def elsewhere(self) -> tuple[str, str, str]:
        """What stays the same when the file gets another name."""
        return self.codemod, self.symbol, self.content


@dataclass
class Baseline:
    """The known findings, each as often as it is known."""

    file: Path
    entries: Counter[Entry] = field(default_factory=Counter)
    left: Counter[Entry] = field(default_factory=Counter)
    """Those that have not been met yet."""

    seen: Counter[Entry] = field(default_factory=Counter)
    """All findings that were met, known or not."""

    def entry(self, file: Path, finding: Finding, content: str) -> Entry:
        path = Path(os.path.relpath(file, self.folder)).as_posix()
        return Entry(path, finding.codemod, finding.symbol, content)

    @property
    def folder(self) -> Path:
        return Path(os.path.realpath(self.file.parent))

    def meet(self, entries: Sequence[Entry]) -> list[bool]:
        """Of each finding whether it is known. What is known at its own path comes first, then what was moved."""
        self.seen.update(entries)
        known = [self._take(entry) for entry in entries]
        gone = [entry for entry in self.left if not (self.folder / entry.path).exists()]
        moved: dict[tuple[str, str, str], list[Entry]] = {}
        for entry in gone:
            moved.setdefault(entry.elsewhere, []).append(entry)
        for number, entry in enumerate(entries):
            if not known[number]:
                known[number] = any(self._take(other) for other in moved.get(entry.elsewhere, ()))
        return known

    def _take(self, entry: Entry) -> bool:
        is_known = self.left[entry] > 0
        if is_known:
            self.left[entry] -= 1
        if self.left[entry] <= 0:
            del self.left[entry]
        return is_known

    def over(self, is_settled: Callable[[Entry], bool]) -> int:
        """How many entries are for nothing: those that were looked for and not met."""
        return sum(number for entry, number in self.left.items() if is_settled(entry))

    def updated(self, is_settled: Callable[[Entry], bool]) -> Counter[Entry]:
        """The baseline as it should be: what was met, and what nobody looked for."""
        kept = Counter({entry: number for entry, number in self.left.items() if not is_settled(entry)})
        return self.seen + kept


def read_baseline(file: Path) -> Baseline:
    try:
        held = json.loads(read_plain_text(file, "utf-8-sig"))
    except FileNotFoundError as error:
        raise FullgraphError(f"{file}: there is no such baseline; --update-baseline writes it") from error
    except OSError as error:
        raise FullgraphError(f"{file}: not readable: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise FullgraphError(f"{file}: not a baseline: {error}") from error
    entries = load(file, held)
    return Baseline(file, entries, Counter(entries))


def load(file: Path, held: Any) -> Counter[Entry]:
    version = held.get("version") if isinstance(held, dict) else None
    if version != VERSION:
        said = f"version {version}, and this fullgraph reads {VERSION}" if version else "it has no version"
        raise FullgraphError(f"{file}: not a baseline that can be read: {said}")
    try:
        entries: Counter[Entry] = Counter()
        for entry in held["findings"]:  # a merge of two branches may leave an entry twice
            entries[load_entry(entry)] += count_of(entry)
        return entries
    except (LookupError, TypeError, ValueError) as error:
        raise FullgraphError(
            f"{file}: not a baseline: a finding without codemod, path, symbol, content, count"
        ) from error


def load_entry(held: Mapping[str, Any]) -> Entry:
    fields = [held[name] for name in ("path", "codemod", "symbol", "content")]
    if not all(isinstance(value, str) for value in fields):
        raise TypeError(held)
    return Entry(*fields)


def count_of(held: Mapping[str, Any]) -> int:
    number = held["count"]
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ValueError(number)
    return number


def write_baseline(file: Path, entries: Counter[Entry]) -> None:
    """A line for each entry, sorted, so that a review shows what is new and branches merge."""
    lines = [json.dumps(dump_entry(entry, entries[entry])) for entry in sorted(entries)]
    findings = f"[\n    {f',{chr(10)}    '.join(lines)}\n  ]" if lines else "[]"
    text = f'{{\n  "version": {VERSION},\n  "findings": {findings}\n}}\n'
    with told_in_one_line("the baseline is as it was"):
        check_output(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_at(Path(os.path.realpath(file)), text.encode())


def dump_entry(entry: Entry, number: int) -> dict[str, Any]:
    return {
        "path": entry.path,
        "codemod": entry.codemod,
        "symbol": entry.symbol,
        "content": entry.content,
        "count": number,
    }
