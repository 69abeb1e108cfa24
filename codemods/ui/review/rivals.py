"""Alternatives: findings of different codemods that are two ways to treat the same lines. One at most is applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Finding, SourceError
from fullgraph.codemods.project import Project

ONE_GRAPH, FEWER_BREAKS, ISOLATION = range(3)

Rivals = Mapping[str, frozenset[str]]
"""By the key of a finding, the keys of its alternatives."""


def ranks_of(codemods: Iterable[Codemod]) -> dict[str, int]:
    """By name, how far a codemod gets: isolated code is a break itself, repaired code is not."""
    return {codemod.name: rank_of(codemod) for codemod in codemods}


def rank_of(codemod: Codemod) -> int:
    if codemod.isolates:
        return ISOLATION
    return ONE_GRAPH if codemod.repairs_breaks else FEWER_BREAKS


def rivals_among(findings: Sequence[Finding], codemods: Iterable[Codemod], project: Project) -> Rivals:
    """Two codemods are rivals on lines that one isolates and the other repairs, and where both stand and clash.

    Findings that meet and can be applied one after the other are none: both are wanted.
    """
    ranks = ranks_of(codemods)
    found: dict[str, set[str]] = {finding.key: set() for finding in findings}
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    for one, other in (pair for here in by_path.values() for pair in combinations(here, 2)):
        if one.codemod != other.codemod and are_rivals(one, other, ranks, project):
            found[one.key].add(other.key)
            found[other.key].add(one.key)
    return {key: frozenset(keys) for key, keys in found.items()}


def are_rivals(one: Finding, other: Finding, ranks: Mapping[str, int], project: Project) -> bool:
    isolating = [finding for finding in (one, other) if ranks.get(finding.codemod) == ISOLATION]
    if len(isolating) == 1:
        return covers(isolating[0], other if isolating[0] is one else one, project)
    return (one.line, one.last_line) == (other.line, other.last_line) and one.clashes(other)


def covers(isolating: Finding, other: Finding, project: Project) -> bool:
    """Whether what a finding takes out of the graph holds the lines of another: what it replaces, else its function."""
    lines = list(replaced_lines(isolating, project))
    if lines:
        return any(first <= other.last_line and other.line <= last for first, last in lines)
    return f"{other.symbol}.".startswith(f"{isolating.symbol}.")


def replaced_lines(finding: Finding, project: Project) -> Iterable[tuple[int, int]]:
    """The first and the last line of each piece of its own file that a finding replaces; insertions are none."""
    spans = [edit.span for edit in finding.edits if edit.path == finding.path and edit.span.end > edit.span.start]
    try:
        module = project.module(finding.path)
    except SourceError:
        return
    for span in spans:
        yield module.line(span.start), module.line(span.end - 1)


def arranged(findings: Sequence[Finding], rivals: Rivals, codemods: Iterable[Codemod]) -> list[Finding]:
    """The findings in their order, but each behind the alternatives that get further."""
    ranks, by_key = ranks_of(codemods), {finding.key: finding for finding in findings}
    placed: dict[str, Finding] = {}

    def rank(key: str) -> int:
        return ranks.get(by_key[key].codemod, FEWER_BREAKS)

    for finding in findings:
        better = [key for key in rivals[finding.key] if rank(key) < rank(finding.key)]
        for key in sorted(better, key=lambda key: (rank(key), by_key[key].span)):
            placed.setdefault(key, by_key[key])
        placed.setdefault(finding.key, finding)
    return list(placed.values())
