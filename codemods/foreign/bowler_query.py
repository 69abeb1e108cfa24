"""Bowler's queries, run on a text in this process: Bowler itself would write, ask, print and hide its errors."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher, unified_diff
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from fullgraph.codemods.foreign.adapter import ForeignCodemod, Rewrite, first_line
from fullgraph.codemods.foreign.blame import in_one_line
from fullgraph.codemods.foreign.queries import NamedQuery, held_back
from fullgraph.codemods.model import FullgraphError, SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project


def make_engine(query: Any) -> Any:
    """fissix's engine with a query's fixers. Unlike Bowler's own it raises, starts nothing and prints nothing."""
    from fissix.refactor import RefactoringTool

    class Engine(RefactoringTool):  # type: ignore[misc]
        before: str | None = None

        def get_fixers(self) -> tuple[list[Any], list[Any]]:
            fixers = [fixer(self.options, self.fixer_log) for fixer in self.fixers]
            return [f for f in fixers if f.order == "pre"], [f for f in fixers if f.order == "post"]

        def refactor_tree(self, tree: Any, name: str) -> bool:
            self.before = str(tree)
            return bool(super().refactor_tree(tree, name))

        def run(self, text: str, filename: str) -> Rewrite:
            """The text before and after. `before` is None still when it was the parser that failed."""
            self.before = None
            ending = "" if not text or text.endswith("\n") else "\n"
            after = str(self.refactor_string(text + ending, filename))
            return Rewrite(str(self.before).removesuffix(ending), after.removesuffix(ending))

    return Engine(query.compile(), {"print_function": query.python_version == 3})


class BowlerCodemod(ForeignCodemod):
    """A Bowler query. Its own paths do not count, only those that fullgraph is given; its file name matcher does."""

    tool = "Bowler"
    query: ClassVar[Any]

    def __init__(self, options: Mapping[str, str] | None = None, symbols: tuple[str, ...] = ()) -> None:
        super().__init__(options, symbols)
        try:
            self.engine = make_engine(self.query)
        except Exception as error:
            raise FullgraphError(f"{self.name}: not a query: {in_one_line(error, self.origin)}") from error

    def rewrite(self, module: Module, project: Project) -> Rewrite | None:
        filename = str(project.root.absolute() / module.path)
        if self.query.filename_matcher and not self.query.filename_matcher(filename):
            return None
        try:
            with held_back():
                rewrite: Rewrite = self.engine.run(module.source.parsed, filename)
        except Exception as error:
            if self.engine.before is None:
                raise SourceError(module.path, f"Bowler cannot parse {why(error)}") from error
            raise
        if self.query.processors:
            return Rewrite(rewrite.before, self.processed(filename, rewrite))
        return rewrite

    def processed(self, filename: str, rewrite: Rewrite) -> str:
        """The text with only those hunks that every processor of the query lets pass, cut as Bowler cuts them."""
        old, new = rewrite.before.splitlines(), rewrite.after.splitlines()
        groups = list(SequenceMatcher(None, old, new).get_grouped_opcodes(3))
        kept_old, kept_new = rewrite.before.splitlines(keepends=True), rewrite.after.splitlines(keepends=True)
        pieces: list[str] = []
        position = 0
        for hunk, group in zip(hunks(filename, old, new), groups, strict=True):
            answers = [processor(filename, hunk) for processor in self.query.processors]
            if False not in answers:
                (_, start, _, first, _), (_, _, end, _, last) = group[0], group[-1]
                pieces += [*kept_old[position:start], *kept_new[first:last]]
                position = end
        return "".join([*pieces, *kept_old[position:]])


def hunks(filename: str, old: list[str], new: list[str]) -> list[list[str]]:
    """The unified diff in portions, each under the two lines that name the file."""
    found: list[list[str]] = []
    lines = list(unified_diff(old, new, filename, filename, lineterm=""))
    for line in lines[2:]:
        if line.startswith("@@"):
            found.append(lines[:2])
        found[-1].append(line)
    return found


def why(error: Exception) -> str:
    """`line 3: bad input 'x'` from whatever fissix raised."""
    line: object = getattr(error, "lineno", None)
    if context := getattr(error, "context", None):
        line = context[1][0]
    elif len(error.args) > 1 and isinstance(error.args[1], tuple):
        line = error.args[1][0]
    value = getattr(error, "value", None)
    said = getattr(error, "msg", None) or first_line(str(error.args[0] if error.args else error))
    return f"line {line}: {said}{f' {value!r}' if value else ''}"


def adapt(found: NamedQuery, module: ModuleType, origin: Path) -> type[BowlerCodemod]:
    held = {
        "name": found.name,
        "query": found.query,
        "origin": origin,
        "description": first_line(found.doc, module.__doc__, f"rewritten by the Bowler query {found.name}"),
        "__doc__": found.doc or module.__doc__ or "",
        "__module__": module.__name__,
    }
    return type(found.name, (BowlerCodemod,), held)
