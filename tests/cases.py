"""The fixtures: what stands before, what must stand after, and what must be said."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fullgraph import Codemod, Finding, Project
from fullgraph.codemods.registry import codemod_named
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.ui.explain import side

FIXTURES = Path(__file__).parent.parent / "fixtures"


@dataclass(frozen=True)
class Case:
    """A folder `fixtures/<codemod>/<case>`: before.py or before/, after.py or after/ (none: must not change).

    `after/` may hold files that `before/` has not: the codemod creates them. `case.toml` may hold `options`, `symbols`
    and `tests` for the codemod, `findings` (how many) and `says`: pieces of text of which each must occur in what the
    findings say. `written` names created files that are the same as one in another case, and stand there only.
    What is read from the disk or found is kept: a case is looked at by many laws.
    """

    folder: Path

    @property
    def codemod_name(self) -> str:
        return self.folder.parent.name

    @property
    def name(self) -> str:
        return f"{self.codemod_name}/{self.folder.name}"

    @cached_property
    def config(self) -> dict[str, Any]:
        file = self.folder / "case.toml"
        return tomllib.loads(file.read_text()) if file.exists() else {}

    @cached_property
    def before(self) -> dict[str, bytes]:
        return side(self.folder, "before")

    @cached_property
    def after(self) -> dict[str, bytes]:
        """The expected files; the same as before when the case must not change."""
        return {**self.before, **side(self.folder, "after")}

    @cached_property
    def created(self) -> dict[str, bytes]:
        """The expected files that were not there."""
        return {path: raw for path, raw in self.after.items() if path not in self.before}

    def codemod(self) -> Codemod:
        kind = codemod_named(self.codemod_name)
        given = self.config
        tests = [given["tests"]] if "tests" in given else []
        return kind(given.get("options"), tuple(given.get("symbols", ())), *tests)

    def project(self, files: dict[str, bytes] | None = None) -> Project:
        """The case as a project that lives in memory."""
        texts = self.before if files is None else files
        return Project(self.folder / "before", texts, texts)

    @property
    def is_changing(self) -> bool:
        return any(self.folder.glob("after*"))

    @cached_property
    def found(self) -> list[Finding]:
        """The findings in the files as they stand there."""
        return self.findings()

    @property
    def fixable(self) -> list[Finding]:
        return [finding for finding in self.found if finding.is_fixable]

    def findings(self, files: dict[str, bytes] | None = None) -> list[Finding]:
        """The findings in these files, looked for anew."""
        project = self.project(files)
        found: list[Finding] = []
        for path in project.files:
            result = find(project, path, [self.codemod()])
            assert not result.error, f"{path}: {result.error}"
            found += result.findings
        return found


def all_cases(codemod: str = "*") -> list[Case]:
    from fullgraph.codemods.registry import bundled

    names = [name for name in bundled() if codemod in ("*", name)]
    return [Case(folder) for name in names for folder in sorted((FIXTURES / name).glob("*/"))]


def apply(files: dict[str, bytes], findings: list[Finding]) -> dict[str, bytes]:
    """The files with all edits of these findings made, straight through the sources."""
    from fullgraph.codemods.source import decode

    edits = [edit for finding in findings for edit in finding.edits]
    new = {edit.path: b"" for edit in edits if edit.creates}
    assert not new.keys() & files.keys(), "a file is created that is there"
    bases = {**files, **new}
    return {path: decode(path, raw).splice(edit for edit in edits if edit.path == path) for path, raw in bases.items()}


def words(findings: list[Finding]) -> str:
    """Everything that findings say."""
    return "\n".join("\n".join((f.message, f.caveat, f.left_alone, *f.notes)) for f in findings)
