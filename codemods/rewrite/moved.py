"""Where things of a text stand after edits: spans, and the lines on which graphs were seen to break."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TypeVar

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Edit, Site, Span
from fullgraph.codemods.module import NEWLINE

CODEMOD = TypeVar("CODEMOD", bound=Codemod)
Texts = Mapping[str, tuple[str, Sequence[Edit]]]
"""By path, what was edited and how."""


def moved(span: Span, edits: Sequence[Edit]) -> Span:
    """Where the text of a span stands after the edits, together with all that was written over a part of it."""
    over = [edit for edit in edits if edit.span.overlaps(span)]
    start = min([span.start, *(edit.span.start for edit in over)])
    end = max([span.end, *(edit.span.end for edit in over)])
    earlier = [edit for edit in edits if edit.span.end <= start]
    return Span(start + growth(earlier), end + growth(earlier) + growth(over))


def growth(edits: Iterable[Edit]) -> int:
    return sum(len(edit.new_text) - (edit.span.end - edit.span.start) for edit in edits)


def with_moved_sites(codemods: Sequence[CODEMOD], before: Texts, after: Mapping[str, str]) -> list[CODEMOD]:
    """The codemods, with the lines that broke where they are after the edits: all that was written in their place."""
    return [with_sites(codemod, move_sites(codemod.sites, before, after)) for codemod in codemods]


def with_sites(codemod: CODEMOD, sites: Iterable[Site] | None) -> CODEMOD:
    if codemod.sites is None or sites is None:
        return codemod
    other = copy(codemod)
    other.sites = tuple(sorted(set(sites)))
    return other


def move_sites(sites: Iterable[Site] | None, before: Texts, after: Mapping[str, str]) -> list[Site] | None:
    if sites is None:
        return None
    starts = {path: (line_starts(text), line_starts(after[path])) for path, (text, _) in before.items()}
    found: list[Site] = []
    for site in sites:
        if site.path in starts:
            found += moved_site(site, before[site.path], *starts[site.path])
        else:
            found.append(site)
    return found


def moved_site(site: Site, was: tuple[str, Sequence[Edit]], old: list[int], new: list[int]) -> Iterator[Site]:
    text, edits = was
    if site.line > len(old):
        return
    end = old[site.line] if site.line < len(old) else len(text)
    span = moved(Span(old[site.line - 1], max(old[site.line - 1], end - 1)), edits)
    for line in range(bisect_right(new, span.start), bisect_right(new, max(span.start, span.end - 1)) + 1):
        yield replace(site, line=line)


def line_starts(text: str) -> list[int]:
    return [0, *(newline.end() for newline in re.finditer(NEWLINE, text))]
