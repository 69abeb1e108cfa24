"""Ask codemods about modules. Needles first, then the parse, then the codemods: most files end at the first step."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.foreign.blame import blamed_on
from fullgraph.codemods.model import Finding, Safety, SourceError, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.parse import parse_text
from fullgraph.codemods.project import Project, is_test
from fullgraph.codemods.rewrite.glance import BIG, glance
from fullgraph.codemods.rewrite.near import reaching
from fullgraph.codemods.rewrite.suppress import Suppression, may_suppress, silence
from fullgraph.codemods.source import decode
from fullgraph.codemods.syntax.compiled import compiled_code, may_compile

if TYPE_CHECKING:
    from fullgraph.codemods.syntax.torch_version import Torch


@dataclass(frozen=True, slots=True)
class FileResult:
    """What was found in one file. `error` says why it could not be looked at."""

    path: str
    findings: tuple[Finding, ...] = ()
    suppressed: int = 0
    unused: tuple[Suppression, ...] = ()
    error: str = ""
    is_local: bool = True
    """Whether the answer depends on this file alone."""

    unfollowed: tuple[str, ...] = ()
    """What the file compiles that codemods looked for and could not follow, each as `place: what`."""

    compiles: int = 0
    """How many places of the file ask torch to compile something."""


def find(
    project: Project,
    path: str,
    codemods: Sequence[Codemod],
    raw: bytes | None = None,
    near: Span | None = None,
    expected: Collection[str] = (),
) -> FileResult:
    """Every finding that begins in one file, in the order of the text.

    Where only those at one place matter, `near` says so: then others may be missing. Codemods that are `expected` to
    find something are asked about the whole file at once.
    """
    try:
        raw = project.read(path) if raw is None else raw
        errors: list[str] = []
        interested = interested_in(path, raw, codemods, errors)
        project.was_asked = bool(interested) and project.is_named_by_imports(path)
        if not may_suppress(raw):
            interested = worth_asking(project, path, interested, raw, expected)
            if not interested and not is_followed(path, raw, codemods):
                check_text(path, raw)
                return FileResult(path, error="; ".join(errors), is_local=not project.was_asked)
        asked_at_a_glance = project.was_asked
        module = project.module(path, raw)
        interested = reaching(interested, module, near) if near is not None else interested
    except SourceError as error:
        return FileResult(path, error=error.reason)
    project.was_asked = asked_at_a_glance
    findings: list[Finding] = []
    for codemod in interested:
        try:
            findings.extend(ask(codemod, module, project))
        except SourceError as error:
            errors.append(error.reason if error.path == path else str(error))
    follow = is_followed(path, raw, codemods)
    unfollowed = by_place(not_followed(module, project, codemods)) if follow else ()
    compiles = count_regions(module, project) if follow else 0
    kept, suppressed, unused = silence(module, findings, codemods)
    keyed, said = tuple(with_keys(module, kept)), "; ".join(errors)
    return FileResult(path, keyed, suppressed, unused, said, not project.was_asked, unfollowed, compiles)


def is_followed(path: str, raw: bytes, codemods: Sequence[Codemod]) -> bool:
    """Whether codemods would follow what a file compiles. Where a run was observed, that says it all."""
    return any(map(follows, codemods)) and not is_test(path) and may_compile(path, raw)


def follows(codemod: Codemod) -> bool:
    reads = codemod.repairs_breaks and codemod.sites is None
    return reads or type(codemod).unfollowed is not Codemod.unfollowed


def not_followed(module: Module, project: Project, codemods: Sequence[Codemod]) -> Iterator[str]:
    """What the module compiles that could not be followed; what fails is told by the codemods' own findings."""
    with suppress(Exception):
        for codemod in codemods:
            yield from codemod.unfollowed(module, project)
        if any(codemod.repairs_breaks and codemod.sites is None for codemod in codemods):
            unseen = [region for region in compiled_code(project).unseen if region.path == module.path]
            yield from (f"{region}: what it is cannot be told by names" for region in unseen)


def count_regions(module: Module, project: Project) -> int:
    """How many places of a module ask torch to compile something."""
    with suppress(Exception):
        code = compiled_code(project)
        return len(
            {region for region in (*code.unseen, *(one for _, one in code.begins)) if region.path == module.path}
        )
    return 0


def by_place(lines: Iterable[str]) -> tuple[str, ...]:
    """The first that is said of each place."""
    return tuple({line.partition(": ")[0]: line for line in reversed([*lines])}.values())[::-1]


def interested_in(path: str, raw: bytes, codemods: Sequence[Codemod], errors: list[str]) -> list[Codemod]:
    """The codemods that could find something in these bytes. One that fails is named among the errors."""
    kept = []
    for codemod in codemods:
        try:
            with blamed_on(codemod.name, path, getattr(codemod, "origin", None)):
                kept += [codemod] if codemod.may_hold(raw) else []
        except SourceError as error:
            errors.append(error.reason)
    return kept


def check_text(path: str, raw: bytes) -> None:
    """Raise if a file that nobody parses is no text at all. What is ASCII without a NUL byte needs no closer look."""
    if path.endswith(".py") and (b"\0" in raw or not raw.isascii()):
        decode(path, raw)


def worth_asking(
    project: Project, path: str, interested: list[Codemod], raw: bytes, expected: Collection[str] = ()
) -> list[Codemod]:
    """The codemods that find something at a first glance, or have to read the file as a whole to know.

    Each is looked at for itself: what one codemod finds never depends on which others are asked. One that was told
    lines looks at the whole file: at a glance lines are others.
    """
    if len(raw) < BIG or not path.endswith(".py"):
        return interested
    whole = [codemod for codemod in interested if codemod.name in expected or codemod.sites is not None]
    hits = {codemod: codemod.hits(raw) for codemod in interested if codemod not in whole}
    glancing = [codemod for codemod, found in hits.items() if found is not None]
    try:
        part = decode(path, glance(raw, (hit for found in hits.values() for hit in found or ())))
        module = Module(part, project.module_name(path), parse_text(part.parsed)) if glancing else None
    except Exception:  # asking about the whole file tells why
        return interested
    return [
        codemod
        for codemod in interested
        if module is None or codemod not in glancing or finds_any(codemod, module, project)
    ]


def finds_any(codemod: Codemod, module: Module, project: Project) -> bool:
    """Whether there is a first finding: the others are asked for with the whole file, which also tells of a failure."""
    try:
        return any(True for _ in codemod.find(module, project))
    except (Exception, SystemExit):
        return True


def ask(codemod: Codemod, module: Module, project: Project) -> Iterator[Finding]:
    """One codemod's findings in one module; a bug in a codemod is an error of that file, never the end of the run."""
    with blamed_on(codemod.name, module.path, getattr(codemod, "origin", None)):
        for finding in codemod.find(module, project):
            yield settle_torch(finding, project.torch, codemod.options.torch)


def settle_torch(finding: Finding, torch: Callable[[str], Torch | None], given: str) -> Finding:
    """Unsafe where the project's torch may lack what the new text uses, left alone where the user says that it does."""
    since, known = finding.since, torch(given) if finding.since and finding.edits else None
    finding = replace(finding, since=None)
    if since is None or known is None or known.is_at_least(since.version):
        return finding
    said = known.lacks(since.name, since.version)
    if known.is_given:
        return replace(finding, edits=(), caveat="", left_alone=said)
    return replace(finding, safety=Safety.UNSAFE, caveat="; ".join(filter(None, (said, finding.caveat))))


def with_keys(module: Module, findings: Iterable[Finding]) -> list[Finding]:
    """The findings in order, each with a key that survives edits elsewhere: what and where in words, not in lines."""
    seen: Counter[str] = Counter()
    keyed = []
    for finding in sorted(findings, key=lambda finding: (finding.span, finding.codemod, finding.message)):
        code = " ".join(module.text[finding.span.start : finding.span.end].split())
        what = "\0".join((finding.codemod, finding.path, finding.symbol, code))
        seen[what] += 1
        digest = hashlib.sha256(f"{what}\0{seen[what]}".encode(errors="surrogatepass")).hexdigest()
        keyed.append(replace(finding, key=digest[:12]))
    return keyed
