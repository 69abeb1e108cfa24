"""Ask codemods about modules. Needles first, then the parse, then the codemods: most files end at the first step."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from codemods.codemod import Codemod
from codemods.foreign.blame import blamed_on
from codemods.model import Finding, SourceError, Span
from codemods.module import Module
from codemods.parse import parse_text
from codemods.project import Project
from codemods.rewrite.glance import BIG, glance
from codemods.rewrite.near import reaching
from codemods.rewrite.suppress import Suppression, may_suppress, silence
from codemods.source import decode


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
        interested = [codemod for codemod in codemods if codemod.may_hold(raw)]
        project.was_asked = False
        if not may_suppress(raw):
            interested = worth_asking(project, path, interested, raw, expected)
            if not interested:
                check_text(path, raw)
                return FileResult(path, is_local=not project.was_asked)
        asked_at_a_glance = project.was_asked
        module = project.module(path, raw)
        interested = reaching(interested, module, near) if near is not None else interested
    except SourceError as error:
        return FileResult(path, error=error.reason)
    project.was_asked = asked_at_a_glance
    findings: list[Finding] = []
    errors: list[str] = []
    for codemod in interested:
        try:
            findings += ask(codemod, module, project)
        except SourceError as error:
            errors.append(error.reason if error.path == path else str(error))
    kept, suppressed, unused = silence(module, findings, codemods)
    said = "; ".join(errors)
    return FileResult(path, tuple(with_keys(module, kept)), suppressed, unused, said, not project.was_asked)


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
    except (SyntaxError, SourceError, RecursionError, MemoryError):  # asking about the whole file tells why
        return interested
    return [
        codemod
        for codemod in interested
        if module is None or codemod not in glancing or finds_any(codemod, module, project)
    ]


def finds_any(codemod: Codemod, module: Module, project: Project) -> bool:
    """Whether there is a first finding: the others are asked for with the whole file."""
    with blamed_on(codemod.name, module.path, getattr(codemod, "origin", None)):
        return any(True for _ in codemod.find(module, project))


def ask(codemod: Codemod, module: Module, project: Project) -> list[Finding]:
    """One codemod's findings in one module; a bug in a codemod is an error of that file, never the end of the run."""
    with blamed_on(codemod.name, module.path, getattr(codemod, "origin", None)):
        return list(codemod.find(module, project))


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
