"""Which findings a change consists of, whoever made it: those on the side before that lead to the side after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.difference import LINE, WORD, windows
from fullgraph.codemods.model import Finding, SourceError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.rewrite.plan import splice_all, without_clashes
from fullgraph.codemods.rewrite.walk import plant_trees
from fullgraph.codemods.source import decode

ROUNDS = 5
"""How often findings in the text that others have left are looked for."""

Files = Mapping[str, bytes | None]


def explained(project: Project, after: Files, codemods: Sequence[Codemod]) -> list[Finding]:
    """The findings in the project before without which it is further away from the files after."""
    every: list[Finding] = []
    for _ in range(ROUNDS):
        changed = [path for path in sorted(after) if path in project.files]
        found = [finding for path in changed for finding in find(project, path, codemods).findings if finding.edits]
        needed = narrow_down([finding for finding in found if set(finding.paths()) <= set(after)], project, after)
        if not needed:
            break
        every += needed
        project = project.laid_over(splice_all(needed, project))
    return every


def narrow_down(found: list[Finding], project: Project, after: Files) -> list[Finding]:
    """Leave out what stands in the way most, as long as the rest comes closer; nothing if that is not close."""
    nearest = distance(found, project, after)
    while found and nearest:
        rests = [[other for other in found if other is not finding] for finding in found]
        apart, number = min((distance(rest, project, after), number) for number, rest in enumerate(rests))
        if apart >= nearest:
            break
        found, nearest = rests[number], apart
    return without_clashes(found, []) if nearest < distance([], project, after) else []


def distance(findings: Sequence[Finding], project: Project, after: Files) -> int:
    """How many characters of words the result of some findings has too much or too little."""
    made = splice_all(without_clashes(findings, []), project)
    texts = {path: made.get(path, project.read(path) if path in project.files else None) for path in after}
    return sum(unlike(text_of(path, raw), text_of(path, after[path])) for path, raw in texts.items())


def unlike(old: str, new: str) -> int:
    """The characters that two texts do not share, blank ones aside."""
    count = 0
    for _, gone, come in windows(LINE.findall(old), LINE.findall(new)):
        for _, less, more in windows(WORD.findall("".join(gone)), WORD.findall("".join(come))):
            count += len("".join("".join([*less, *more]).split()))
    return count


def text_of(path: str, raw: bytes | None) -> str:
    with suppress(SourceError):
        return decode(path, raw).text if raw is not None else ""
    return ""


def project_before(root: Path, before: Files) -> Project:
    """The project with the files that it had, and none of those that are new."""
    (tree,), _ = plant_trees([root])
    there = {path: raw for path, raw in before.items() if raw is not None}
    kept = {path for path in tree.entries if path not in before}
    return Project(root, sorted(kept | there.keys()), there)
