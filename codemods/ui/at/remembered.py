"""What was said of a file before: editors ask about one place after the other, and each process starts from nothing.

An answer is given again while everything is as it was: the text asked about, the time stamps of all files around it
unless it depends on that text alone, the configuration, and fullgraph itself. No codemod is loaded for it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fullgraph.codemods.model import Span
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.cache import SETTLED_NS, digest_bytes, digest_of, dump_result, load_result, requirements
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.near import statement_spans
from fullgraph.codemods.rewrite.shelf import DiskShelf
from fullgraph.codemods.rewrite.walk import Tree
from fullgraph.codemods.ui.config import Config

EVERYWHERE = Span(0, sys.maxsize)
LOCAL = "local"
"""Stands in the place of the neighbours where they do not matter."""


@dataclass
class Remembered:
    """The answers about one text. `tree` lists the files around it, walked at most once, before they are read."""

    shelf: DiskShelf
    path: str
    raw: bytes
    config: Config
    tree: Callable[[], Tree]
    began: int = field(default_factory=time.time_ns)

    @cached_property
    def what(self) -> str:
        places = [f"{folder} {stamp(folder)}" for folder in sys.path]  # where codemods may be installed
        settings = (repr(self.config), *requirements(self.shelf.root), *places)
        return "at:" + digest_of(self.path, digest_bytes(self.raw), *settings)

    @cached_property
    def neighbours(self) -> str:
        others = (entry for entry in self.tree().entries.values() if entry.path != self.path)
        return digest_of(*sorted(f"{entry.path} {entry.stamp}" for entry in others))

    def recall(self, near: Span | None) -> FileResult | None:
        """An answer that holds for these characters, if there is one."""
        asked = near or EVERYWHERE
        for held in self.shelf.get(self.what):
            try:
                if covers(held, asked) and held["neighbours"] in (LOCAL, self.neighbours):
                    return load_result(self.path, held["result"], held["neighbours"] == LOCAL)
            except (LookupError, TypeError, ValueError, AttributeError):
                continue
        return None

    def prepare(self) -> None:
        """To be called before anything is looked at: what changes after the files were listed must be seen."""
        _ = self.neighbours

    def keep(self, near: Span | None, result: FileResult, project: Project) -> None:
        """Keep an answer, if there are no doubts: a file that is very young may change under the same stamp."""
        if result.error or not (result.is_local or self.is_settled()):
            return
        extent = extent_of(near, project, self.path)
        neighbours = LOCAL if result.is_local else self.neighbours
        held = {"asked": pair(near or EVERYWHERE), "extent": pair(extent), "neighbours": neighbours}
        self.shelf.put(self.what, {**held, "result": dump_result(result)})

    def is_settled(self) -> bool:
        others = (entry for path, entry in self.tree().entries.items() if path != self.path)
        return all(max(entry.stamp[:2]) + SETTLED_NS < self.began for entry in others)


def covers(held: Any, asked: Span) -> bool:
    """Whether an answer tells of these characters: it was about them, or about statements that they lie inside."""
    extent = Span(*held["extent"])
    return held["asked"] == pair(asked) or extent == EVERYWHERE or extent.start < asked.start <= asked.end < extent.end


def pair(span: Span) -> list[int]:
    return [span.start, span.end]


def extent_of(near: Span | None, project: Project, path: str) -> Span:
    """How far an answer about a place goes: over every statement of the module that it touches."""
    if near is None:
        return EVERYWHERE
    spans = statement_spans(project.module(path))
    touched = [span for span in spans if span.start <= near.end and near.start <= span.end]
    return Span(touched[0].start, touched[-1].end) if touched else near


def stamp(folder: str) -> str:
    try:
        status = os.stat(folder or os.curdir)
    except OSError:
        return ""
    return f"{status.st_mtime_ns} {status.st_ino}"
