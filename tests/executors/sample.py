"""Codemods for a cluster: workers import them from here."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fullgraph import Codemod, Finding, Module, Options, Project, option
from tests.rewrite.sample import calls_of


@dataclass(frozen=True)
class WaitOptions(Options):
    """Where to look."""

    notes: str = option("", "The folder in which a file `go` ends the waiting.")


class WaitForGo(Codemod):
    """Notes that it has begun with a file, and waits until it may go on."""

    needles: ClassVar[tuple[bytes, ...]] = (b"old",)
    options: WaitOptions

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        notes = Path(self.options.notes)
        (notes / module.name).touch()
        while not (notes / "go").exists():
            time.sleep(0.05)
        yield from ()


@dataclass(frozen=True)
class TellOptions(Options):
    """What to tell."""

    what: str = option("root", "`root` or `module`.")


class TellPlace(Codemod):
    """Says where the project is, or what the module is called."""

    needles: ClassVar[tuple[bytes, ...]] = (b"bare", b"tell")
    options: TellOptions

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in (*calls_of(module, "bare"), *calls_of(module, "tell")):
            told = project.module_name(module.path) if self.options.what == "module" else str(project.root)
            yield module.finding(self.name, call, told)
