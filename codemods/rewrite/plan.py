"""From chosen findings to the bytes to write: nothing overlaps, everything parses, a second run is quiet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Change, Edit, Finding, SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.rewrite.moved import with_moved_sites
from fullgraph.codemods.source import Source, decode

OVERLAPS = "overlaps"


def plan(chosen: Sequence[Finding], project: Project, codemods: Sequence[Codemod]) -> Change:
    """The change that these findings make together; those that cannot be part of it are left out with the reason."""
    project = project.laid_over(readable(touched(chosen), project))  # every look at a file sees the same bytes
    left_out: list[tuple[Finding, str]] = []
    applied = without_clashes(chosen, left_out)
    while True:
        applied = without_failures(applied, project, left_out)
        calm = without_repeats(applied, project, codemods, left_out)
        if calm == applied:
            break
        applied = calm
    return Change(before_of(applied, project), splice_all(applied, project), tuple(applied), tuple(left_out))


def readable(paths: Iterable[str], project: Project) -> dict[str, bytes]:
    """The bytes of the files that can be read; a finding that needs another one fails, with the reason."""
    found: dict[str, bytes] = {}
    for path in paths:
        with suppress(SourceError):
            found[path] = project.read(path)
    return found


def touched(findings: Iterable[Finding]) -> list[str]:
    return sorted({edit.path for finding in findings for edit in finding.edits})


def before_of(findings: Sequence[Finding], project: Project) -> dict[str, bytes | None]:
    """The files that findings touch, as they are; None where one is to be created."""
    return {path: None if is_new(edits) else project.read(path) for path, edits in edits_by_path(findings).items()}


def splice_all(findings: Sequence[Finding], project: Project) -> dict[str, bytes]:
    by_path = edits_by_path(findings)
    return {path: base_of(path, edits, project).splice(edits) for path, edits in by_path.items()}


def base_of(path: str, edits: Iterable[Edit], project: Project) -> Source:
    """What the edits of a file count in: its text, or nothing yet."""
    return decode(path, b"") if is_new(edits) else project.source(path)


def is_new(edits: Iterable[Edit]) -> bool:
    """Whether the edits of one file create it."""
    return any(edit.creates for edit in edits)


def edits_by_path(findings: Iterable[Finding]) -> dict[str, list[Edit]]:
    """The edits of all findings, for each file once, by path."""
    found: dict[str, set[Edit]] = {}
    for finding in findings:
        for edit in finding.edits:
            found.setdefault(edit.path, set()).add(edit)
    return {path: sorted(found[path]) for path in sorted(found)}


def without_clashes(chosen: Sequence[Finding], left_out: list[tuple[Finding, str]]) -> list[Finding]:
    """Of findings that overlap, the first. The others can be met again once it is written."""
    applied: list[Finding] = []
    by_path: dict[str, list[int]] = {}
    for finding in chosen:
        near = sorted({number for path in finding.paths() for number in by_path.get(path, ())})
        rival = next((applied[number] for number in near if applied[number].clashes(finding)), None)
        if rival:
            left_out.append((finding, says_overlap(rival)))
            continue
        for path in finding.paths():
            by_path.setdefault(path, []).append(len(applied))
        applied.append(finding)
    return applied


def without_failures(chosen: Sequence[Finding], project: Project, left_out: list[tuple[Finding, str]]) -> list[Finding]:
    """The findings whose result can be written and parses; one by one only if all together do not."""
    if not why_not(chosen, project):
        return list(chosen)
    applied: list[Finding] = []
    for finding in chosen:
        reason = why_not([*applied, finding], project, touched([finding]))
        if reason:
            rival = rival_of(finding, applied, project)
            left_out.append((finding, says_overlap(rival) if rival else reason))
        else:
            applied.append(finding)
    return applied


def rival_of(finding: Finding, applied: Sequence[Finding], project: Project) -> Finding | None:
    """The finding with which this one makes no valid text together, although it does alone.

    Two that put something around the same expression share the closing bracket, which is one edit.
    """
    paths = touched([finding])
    if why_not([finding], project, paths):
        return None
    near = (other for other in applied if not set(paths).isdisjoint(other.paths()))
    return next((other for other in near if why_not([other, finding], project, paths)), None)


def says_overlap(rival: Finding) -> str:
    return f"{OVERLAPS} {rival.codemod} at {rival.path}:{rival.line}"


def why_not(findings: Sequence[Finding], project: Project, paths: Sequence[str] | None = None) -> str:
    """Why these findings cannot be written together, or nothing. `paths` are the files to look at, else all."""
    by_path = edits_by_path(findings)
    try:
        for path in by_path if paths is None else paths:
            here = by_path.get(path, [])
            if is_new(here):
                if project.has_file(path):
                    return f"{path} would have to be created, and is there by now"
            elif any(project.module(path).is_blanked(edit.span) for edit in here):
                return f"{path}: the edit touches syntax that this Python cannot read"
            Module(decode(path, base_of(path, here, project).splice(here)))
    except SourceError as error:
        return f"the result would not be valid: {error}"
    except ValueError as error:
        return f"its own edits do not fit together: {error}"
    return ""


def without_repeats(
    chosen: Sequence[Finding], project: Project, codemods: Sequence[Codemod], left_out: list[tuple[Finding, str]]
) -> list[Finding]:
    """The findings that a second run would not meet again in another shape."""
    by_name = {codemod.name: codemod for codemod in codemods}
    used = [by_name[name] for name in sorted({finding.codemod for finding in chosen}) if name in by_name]
    paths = sorted({path for finding in chosen for path in places(finding)})
    expected = count_fixable(project, paths, used) - Counter(identity(finding) for finding in chosen)
    texts = splice_all(chosen, project)
    surprising = count_fixable(project.laid_over(texts), paths, moved_along(used, chosen, project, texts)) - expected
    if not surprising:
        return list(chosen)
    restless = {(codemod, path) for codemod, path, *_ in surprising}
    applied: list[Finding] = []
    for finding in chosen:
        if any((finding.codemod, path) in restless for path in places(finding)):
            left_out.append((finding, "refused: a second run would change the result again"))
        else:
            applied.append(finding)
    return applied


def moved_along(
    codemods: Sequence[Codemod], findings: Sequence[Finding], project: Project, texts: Mapping[str, bytes]
) -> list[Codemod]:
    """The codemods, with the lines that were seen to break where the findings' edits have moved them."""
    if not any(codemod.sites for codemod in codemods):
        return list(codemods)
    edited = {path: edits for path, edits in edits_by_path(findings).items() if not is_new(edits)}
    before = {path: (project.source(path).text, edits) for path, edits in edited.items()}
    return with_moved_sites(codemods, before, {path: decode(path, texts[path]).text for path in edited})


def places(finding: Finding) -> set[str]:
    """Every file that has to do with a finding: where it stands, and where it edits."""
    return {finding.path, *finding.paths()}


def count_fixable(project: Project, paths: Sequence[str], codemods: Sequence[Codemod]) -> Counter[tuple[str, ...]]:
    findings = [finding for path in paths for finding in find(project, path, codemods).findings]
    return Counter(identity(finding) for finding in findings if finding.is_fixable)


def identity(finding: Finding) -> tuple[str, ...]:
    """What stays the same about a finding when lines move."""
    return finding.codemod, finding.path, finding.symbol, re.sub(r"\d+", "#", finding.message)
