"""From the lines of a report to views with their code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.source import decode
from fullgraph.codemods.ui.at.place import Lines
from fullgraph.codemods.ui.excerpts import fix_of, frame_of
from fullgraph.codemods.ui.report.model import FOUND, Line, Report, shown_path
from fullgraph.codemods.ui.view import FileDiff, View, view_of

KEPT = 16
"""Files that are kept in memory while a report is written."""


class Viewer:
    """Makes the views of one report. Files are read as they were looked at."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.lines = lru_cache(KEPT)(self._lines)
        self.shown: set[tuple[Path, str, object]] = set()
        """The hunks of earlier views: what several findings share is shown once."""

    def view(self, line: Line, *others: Line) -> View:
        """A finding without code; `others` say the same of other places."""
        return replace(
            view_of(line.finding, line.reason),
            path=shown_path(line.root, line.finding.path),
            place=line.place,
            outcome=line.outcome,
            cost=line.observed.text if line.observed else "",
            gain=self.report.gains.get(line.finding.codemod, ""),
            also=tuple(other.place for other in others),
        )

    def with_code(self, line: Line, *others: Line) -> View:
        view, finding, lines = self.view(line, *others), line.finding, self.lines(line.root, line.finding.path)
        if line.outcome != FOUND or lines is None:
            return view
        fix = fix_of(finding, lambda path: self.lines(line.root, path))
        return replace(
            view, frame=frame_of(lines, finding.span), fix=tuple(self._not_shown(line.root, part) for part in fix)
        )

    def _not_shown(self, root: Path, part: FileDiff) -> FileDiff:
        """The part without the hunks that an earlier view has."""
        fresh = tuple(hunk for hunk in part.hunks if (root, part.path, hunk) not in self.shown)
        self.shown |= {(root, part.path, hunk) for hunk in fresh}
        return replace(part, path=shown_path(root, part.path), hunks=fresh, is_new=part.is_new and bool(fresh))

    def _lines(self, root: Path, path: str) -> Lines | None:
        file = root / path
        try:
            return Lines(decode(path, self.report.before.get(file) or file.read_bytes()))
        except (OSError, FullgraphError):
            return None


def one_fact_once(lines: Iterable[Line]) -> list[list[Line]]:
    """The lines; findings that say the same of other code and are left alone for one reason stand behind the first."""
    groups: dict[tuple[object, ...], list[Line]] = {}
    for number, line in enumerate(lines):
        is_alone = line.observed is not None or not line.finding.left_alone or line.finding.notes
        key = (number,) if is_alone else (line.root, line.outcome, line.finding.codemod, *fact_of(line))
        groups.setdefault(key, []).append(line)
    return list(groups.values())


def fact_of(line: Line) -> tuple[str, str]:
    """What is said without code and places, and the reason without those of the finding itself."""
    finding = line.finding
    said = re.sub(r"`[^`]*`|\S+:\d+|\d+", "", finding.message)
    text = re.sub(rf"{re.escape(finding.path)}:(?: line )?{finding.line}(?!\d)", "", line.reason)
    return said, re.sub("`[^`]*`", lambda code: "" if code[0] in finding.message else code[0], text)
