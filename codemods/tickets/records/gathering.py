"""Where the findings are in a JSON document: in a list, under a usual key, file by file, or the document itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fullgraph.codemods.tickets.limits import FINDINGS
from fullgraph.codemods.tickets.model import TicketError
from fullgraph.codemods.tickets.parts.references import is_path
from fullgraph.codemods.tickets.records.findings import is_finding
from fullgraph.codemods.tickets.records.lookup import Record
from fullgraph.codemods.tickets.records.trackers import as_issue

LISTS = (
    *("findings", "issues", "results", "tickets", "items", "violations", "diagnostics", "generalDiagnostics"),
    *("messages", "problems", "alerts", "nodes", "files", "data"),
)
SHARED = ("file", "path", "filename", "filePath", "status", "severity")
DEEPEST = 6


@dataclass
class Gathering:
    """A walk through one document. It ends with an error when it has met more objects than are read."""

    path: str
    met: int = 0

    def gather(self, data: Any, outer: Record | None = None, depth: int = 0) -> list[Record]:
        """The innermost findings and issues, each with what is said around it for all of them."""
        if isinstance(data, list) and depth <= DEEPEST:
            return [record for item in data for record in self.gather(item, outer, depth + 1)]
        if not isinstance(data, dict) or depth > DEEPEST:
            return []
        self.count()
        shared = {key: data[key] for key in SHARED if isinstance(data.get(key), str)}
        for inner in containers(data):
            if found := self.gather(inner, {**(outer or {}), **shared}, depth + 1):
                return found
        record = {**(outer or {}), **data}
        return [record] if as_issue(data) or is_finding(record) else []

    def count(self) -> None:
        self.met += 1
        if self.met > 2 * FINDINGS:
            raise TicketError(self.path, f"more than {FINDINGS:,} findings are not read from one file")


def containers(data: Record) -> Iterator[Any]:
    """What may hold the findings of an object: a usual key, or lists under the names of files."""
    yield from (data[key] for key in LISTS if isinstance(data.get(key), list | dict))
    by_file = [(name, items) for name, items in data.items() if isinstance(items, list) and is_path(name)]
    yield [{"file": name, **item} for name, items in by_file for item in items if isinstance(item, dict)]
