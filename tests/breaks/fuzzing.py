"""A search for programs that the codemods get wrong: made up by Hypothesis, rewritten, run, compared, minimised.

`python -m tests.breaks.fuzzing SEED COUNT FOLDER` is one part of a long search, in a process of its own: it tells of
itself in FOLDER as it goes, so that a death or a hang has a program and a number of those before it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from fullgraph import Codemod
from tests.breaks.exam import Result, glance
from tests.breaks.generating import programs
from tests.breaks.programs import MAIN, Program
from tests.breaks.rewriting import Failed, Rewritten, break_codemods, rewrite

SMALLER = 150
"""How many programs are run to make a counterexample smaller: a number, so that a busy machine finds the same."""


class Wrong(Exception):  # noqa: N818 - it is what the search is for
    """A program that does something else after the rewrite."""


@dataclass
class Search:
    """One search with one seed. What it has seen is kept, so that a program is run once."""

    codemods: Sequence[Codemod]
    folder: Path
    heartbeat: Path | None = None
    counts: Counter[str] = field(default_factory=Counter)
    results: dict[str, Result] = field(default_factory=dict)
    wrong: tuple[Program, Result] | None = None
    smaller: int = SMALLER
    tried: int = 0

    def run(self, number: int, count: int) -> None:
        """Try so many programs; end with the first that is wrong, made small."""

        @seed(number)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            derandomize=False,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        )
        @given(programs())
        def look(program: Program) -> None:
            result = self.examine(program)
            if result.differences:
                self.wrong = program, result
                raise Wrong(result.differences[0])

        try:
            look()
        except Wrong:
            return

    def examine(self, program: Program) -> Result:
        key = f"{program.digest()} {program.calls}"
        if self.is_late() and self.heartbeat is not None:
            self.heartbeat.touch()
        if key not in self.results:
            self.results[key] = Result(program, Rewritten(program.files)) if self.is_late() else self.tell(program)
        return self.results[key]

    def is_late(self) -> bool:
        """Whether enough was tried: from here on, what has not been run counts as right."""
        return self.tried >= self.smaller

    def tell(self, program: Program) -> Result:
        self.beat(program)
        with tempfile.TemporaryDirectory(dir=self.folder) as home:
            try:
                result = glance(program, self.codemods, Path(home))
            except Failed as error:
                result = Result(program, Rewritten(program.files), (f"codemod: {error}",))
            except Exception as error:  # a text that cannot even be opened any more is wrong, too
                told = f"not run: {type(error).__name__}: {error}"
                result = Result(program, rewrite(program.files, self.codemods), (told,))
        if self.wrong is None:
            self.count(result)
        else:
            self.tried += 1
        return result

    def count(self, result: Result) -> None:
        self.counts["programs"] += 1
        self.counts["changed"] += result.is_changed
        self.counts["in one graph"] += bool(result.after_graphs and result.after_graphs.is_whole)
        self.counts["different without a rewrite"] += bool(result.own)
        self.counts.update(f"by {name}" for name in result.rewritten.by)

    def beat(self, program: Program) -> None:
        """What is about to be run, and what has been so far."""
        if self.heartbeat is not None:
            told = {"text": program.text, "calls": program.calls, "entry": program.entry, "counts": self.counts}
            fresh = self.heartbeat.with_suffix(".new")
            fresh.write_text(json.dumps(told))
            fresh.replace(self.heartbeat)  # whoever ends this process reads a whole file


def keep(program: Program, result: Result, folder: Path) -> Path:
    """A counterexample as a pattern to be: what is right for it is for people to say."""
    home = folder / f"found_{program.digest()}"
    home.mkdir(parents=True, exist_ok=True)
    (home / MAIN).write_bytes(program.files[MAIN])
    (home / "after.py").write_bytes(result.after.files[MAIN])
    told = [*result.differences, "", *(f"by {name}" for name in result.rewritten.by)]
    (home / "differences.txt").write_text("\n".join(told) + "\n")
    calls = "".join(f"    {json.dumps(call)},\n" for call in program.calls)
    text = f'end = "declined"\nwhy = "found by the fuzzer"\nentry = "{program.entry}"\ncalls = [\n{calls}]\n'
    (home / "expect.toml").write_text(text)
    return home


def main(number: int, count: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    search = Search(break_codemods(), folder, folder / f"running_{number}.json")
    search.run(number, count)
    found = str(keep(*search.wrong, folder / "found")) if search.wrong else ""
    told = {"seed": number, "found": found, "counts": search.counts}
    (folder / f"done_{number}.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
