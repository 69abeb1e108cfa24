"""From chosen findings to the bytes to write: nothing overlaps, everything parses, a second run is quiet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from codemods.codemod import Codemod
from codemods.model import Change, Edit, Finding, SourceError
from codemods.module import Module
from codemods.project import Project
from codemods.rewrite.find import find

OVERLAPS = "overlaps"


def plan(chosen: Sequence[Finding], project: Project, codemods: Sequence[Codemod]) -> Change:
    """The change that these findings make together; those that cannot be part of it are left out with the reason."""
    left_out: list[tuple[Finding, str]] = []
    applied = without_clashes(chosen, left_out)
    applied = without_failures(applied, project, left_out)
    applied = without_repeats(applied, project, codemods, left_out)
    before = {path: project.read(path) for path in touched(applied)}
    return Change(before, splice_all(applied, project), tuple(applied), tuple(left_out))


def touched(findings: Iterable[Finding]) -> list[str]:
    return sorted({edit.path for finding in findings for edit in finding.edits})


def splice_all(findings: Sequence[Finding], project: Project) -> dict[str, bytes]:
    edits = [edit for finding in findings for edit in finding.edits]
    return {path: project.source(path).splice(on_path(path, edits)) for path in touched(findings)}


def on_path(path: str, edits: Iterable[Edit]) -> list[Edit]:
    return [edit for edit in edits if edit.path == path]


def without_clashes(chosen: Sequence[Finding], left_out: list[tuple[Finding, str]]) -> list[Finding]:
    """Of findings that overlap, the first. The others can be met again once it is written."""
    applied: list[Finding] = []
    for finding in chosen:
        rival = next((other for other in applied if other.clashes(finding)), None)
        if rival:
            left_out.append((finding, f"{OVERLAPS} {rival.codemod} at {rival.path}:{rival.line}"))
        else:
            applied.append(finding)
    return applied


def without_failures(chosen: Sequence[Finding], project: Project, left_out: list[tuple[Finding, str]]) -> list[Finding]:
    """The findings whose result can be written and parses; one by one only if all together do not."""
    if not why_not(chosen, project):
        return list(chosen)
    applied: list[Finding] = []
    for finding in chosen:
        reason = why_not([*applied, finding], project)
        if reason:
            left_out.append((finding, reason))
        else:
            applied.append(finding)
    return applied


def why_not(findings: Sequence[Finding], project: Project) -> str:
    """Why these findings cannot be written together, or nothing."""
    try:
        for finding in findings:
            for edit in finding.edits:
                if project.module(edit.path).is_blanked(edit.span):
                    return f"{edit.path}: the edit touches syntax that this Python cannot read"
        for path, raw in splice_all(findings, project).items():
            Module(project.laid_over({path: raw}).source(path))
    except SourceError as error:
        return f"the result would not be valid: {error}"
    return ""


def without_repeats(
    chosen: Sequence[Finding], project: Project, codemods: Sequence[Codemod], left_out: list[tuple[Finding, str]]
) -> list[Finding]:
    """The findings that a second run would not meet again in another shape."""
    by_name = {codemod.name: codemod for codemod in codemods}
    used = [by_name[name] for name in sorted({finding.codemod for finding in chosen}) if name in by_name]
    paths = touched(chosen)
    expected = count_fixable(project, paths, used) - Counter(identity(finding) for finding in chosen)
    surprising = count_fixable(project.laid_over(splice_all(chosen, project)), paths, used) - expected
    if not surprising:
        return list(chosen)
    restless = {(codemod, path) for codemod, path, *_ in surprising}
    applied: list[Finding] = []
    for finding in chosen:
        if any((finding.codemod, path) in restless for path in finding.paths()):
            left_out.append((finding, "refused: a second run would change the result again"))
        else:
            applied.append(finding)
    return applied


def count_fixable(project: Project, paths: Sequence[str], codemods: Sequence[Codemod]) -> Counter[tuple[str, ...]]:
    findings = [finding for path in paths for finding in find(project, path, codemods).findings]
    return Counter(identity(finding) for finding in findings if finding.is_fixable)


def identity(finding: Finding) -> tuple[str, ...]:
    """What stays the same about a finding when lines move."""
    return finding.codemod, finding.path, finding.symbol, re.sub(r"\d+", "#", finding.message)
