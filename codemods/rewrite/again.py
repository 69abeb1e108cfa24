"""Findings that are met again after edits: which of the new ones is which of the old."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fullgraph.codemods.model import Edit, Finding
from fullgraph.codemods.rewrite.moved import moved
from fullgraph.codemods.rewrite.plan import identity


def met_again(waiting: Sequence[Finding], found: Sequence[Finding], edits: Iterable[Edit]) -> tuple[Finding, ...]:
    """The findings that were chosen before, as they are now; none where others that were declined look the same."""
    again: list[Finding] = []
    left = list(waiting)
    for finding in filter(lambda finding: finding.is_fixable, found):
        mine = [other for other in left if is_same(other, finding, edits)]
        rivals = [other for other in found if mine and other.is_fixable and is_same(mine[0], other, edits)]
        if mine and len(rivals) <= sum(is_same(other, finding, edits) for other in waiting):
            left.remove(mine[0])
            again.append(replace(finding, key=mine[0].key))
    return tuple(again)


def is_same(earlier: Finding, now: Finding, edits: Iterable[Edit]) -> bool:
    """Whether a finding is an earlier one after some edits: the same in words, and where that one has gone."""
    here = [edit for edit in edits if edit.path == earlier.path]
    return identity(earlier) == identity(now) and moved(earlier.span, here).overlaps(now.span)
