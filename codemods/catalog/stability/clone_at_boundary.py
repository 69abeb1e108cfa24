"""Run each compiled callable behind one boundary that marks the step and copies what outlives it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
from fullgraph.codemods.model import Finding, SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.places import Place, where
from fullgraph.codemods.topics.boundaries.requests import Compiled, switches
from fullgraph.codemods.topics.boundaries.rewriting import Rewrite, write_boundaries
from fullgraph.codemods.topics.boundaries.screen import SWITCHED_ON, may_use_graphs
from fullgraph.codemods.topics.boundaries.stores import Keeping
from fullgraph.codemods.topics.boundaries.survey import Survey, survey
from fullgraph.codemods.topics.boundaries.uses import marks_in, uses_of


@dataclass(frozen=True)
class CloneOptions(Options):
    """Which callables get a boundary, and when it copies."""

    modes: Literal["graphs", "all"] = option(
        "graphs",
        "graphs: callables compiled with CUDA graphs (reduce-overhead, max-autotune, triton.cudagraphs, or a mode that "
        "the text does not say); all: every callable that is compiled.",
    )
    always: bool = option(
        False, "copy at every call, and give a boundary also to callables of whose outputs none is kept"
    )


class CloneAtBoundary(Codemod):
    """Send every call of a compiled callable through one helper that begins a step and copies what is kept.

    Under CUDA graphs the outputs of a compiled call live in buffers that a later call reuses. Found is each place that
    keeps an output beyond its step: on an attribute, in a container, a global, a closure or a cache; yielded; returned
    to a caller that keeps it; read after a later call of a compiled callable, or handed to it. Views, elements and
    fields of an output count as the output: by constant or counting indices and slices, `detach`, `view`, `transpose`,
    `unbind`, `contiguous` and the like, and what was changed in place. Results of arithmetic and of other torch
    functions do not, nor do `clone` and `item`. `cpu`, `float`, `to` and dropout may give back the very tensor: to keep
    that is no finding, but where there is a boundary it copies. Outputs are followed through the project's own
    functions, four calls down and three up. As long as a backward pass is awaited, later calls harm nothing.

    Each callable gets a method or function `_run_<name>` behind the place that compiles it. It marks the step, calls,
    and copies once, by the form of the output where that is known. Calls that keep nothing pass `keep=False`; a
    `.clone()` at a call goes away. A function that marks, calls and copies is a boundary; one that only marks is none.
    In a project that trains, a mark between a forward and its backward would free what the forward has saved: there a
    new file, `compiled_steps.py`, notes every forward and marks only while no backward is awaited, and all callables
    get their boundaries together. Functions of the project that are given a callable, and neither keep nor run it, are
    seen through, so that counters and gates may come before boundaries or after.

    The test of `--write-tests` reads the source for direct calls, and runs the boundary on a stand-in that overwrites
    its last output. It also compiles the callable with `fullgraph=True`, on inputs that are made up: every size is the
    same, and plain Python decides which of a few shapes fits; where none does, that test is skipped until it is given
    an input. It is left out where no instance can be made up: a class that asks for more than numbers and dataclasses.

    Measured on torch 2.13 on the CPU: outputs and weights after three training steps are equal bit for bit; the time
    of the copy is within the noise. `fullgraph audit` of the bundled example: 1 hazard becomes 0 in the allocator, 3
    become 0 in the training step. Not run on CUDA: that a mark keeps no output alive, that a step ends the outputs of
    all callables and ends an argument before it is read, is what torch's `cudagraph_trees.py` says.

    Left alone:
    - a callable that is passed on as a value or registered, asked for by a string, imported by a star or by way of
      another module: its calls cannot all be seen
    - a callable that is called by an owner nobody knows, or by a base class of its owner; one that an heir of the
      owner overrides or sets to something else
    - a callable that gives objects which are neither tuples, lists, dicts nor dataclasses
    - a callable without a name of its own: an item of a list, something that is returned
    - in a project that trains: as long as one callable cannot have a boundary, none has
    - outputs that are all consumed within the step, copied, or written into a tensor, also one in a list or a dict
    - two forwards that are followed by one backward
    - a callable without CUDA graphs, if not asked for by `modes=all`
    - calls inside an f-string, before the boundary could stand, or with a comment behind the last argument
    - calls in other compiled code: they are traced as part of it
    - a project that uses the names `_run_<name>`, or has another file `compiled_steps.py`
    """

    options: CloneOptions
    writes_tests: ClassVar[bool] = True
    needles: ClassVar[tuple[bytes, ...]] = (b"compile", b"cudagraphs")
    claim: ClassVar[str] = "cudagraph_mark_step_begin() before each call keeps the outputs of earlier calls valid."
    why: ClassVar[str] = (
        "Under CUDA graphs the next compiled call overwrites this output. A mark keeps nothing alive; a copy, made "
        "once, at the boundary, does."
    )

    def may_hold(self, raw: bytes) -> bool:
        if b"torch" not in raw or not super().may_hold(raw):
            return False
        return self.options.modes == "all" or may_use_graphs(raw) or SWITCHED_ON.search(raw) is not None

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        seen = survey(project, self.options.modes == "all", self.options.always)
        for compiled in seen.callables:
            if self.teller(project, compiled).module.path == module.path:
                yield from self.judge(module, project, seen, compiled)

    def teller(self, project: Project, compiled: Compiled) -> Place[ast.AST]:
        """Where a finding begins that has no place in the file that is asked: at the request.

        A file that knows nothing of graphs is never asked: for its callables the line tells that switches graphs on.
        """
        request = Place(compiled.module, compiled.requests[0].node)
        is_asked = self.may_hold(project.read(compiled.module.path))
        return request if is_asked else next(iter(switches(project)), request)

    def unfollowed(self, module: Module, project: Project) -> Iterator[str]:
        """Callables of which nothing is said although not all of their calls are seen, and those without a name."""
        if not self.may_hold(project.read(module.path)):
            return
        seen = survey(project, self.options.modes == "all", self.options.always)
        yield from (f"{line}: it has no name" for line in seen.unnamed if is_in(line, module.path))
        for compiled in seen.callables:
            doubts = uses_of(project, compiled).doubts
            if doubts and compiled not in seen.by_callable and compiled.module.path == module.path:
                yield f"{compiled.where}: `{compiled}` ({doubts[0]})"

    def judge(self, module: Module, project: Project, seen: Survey, compiled: Compiled) -> Iterator[Finding]:
        keepings = seen.by_callable.get(compiled, [])
        if not keepings and not (self.options.always and uses_of(project, compiled).calls):
            return
        rewrite, reason = Rewrite((), ()), ""
        try:
            rewrite = write_boundaries(project, seen, compiled, self.options.always, self.tests)
        except (Unsure, SourceError) as unsure:
            reason = str(unsure)
        notes = tuple(dict.fromkeys(self.notes(project, compiled))) if rewrite.edits else ()
        teller = self.teller(project, compiled).node
        for node, message in self.places(module, compiled, keepings, rewrite, teller):
            yield module.finding(self.name, node, message, edits=rewrite.edits, left_alone=reason, notes=notes)

    def places(
        self, module: Module, compiled: Compiled, keepings: list[Keeping], rewrite: Rewrite, teller: ast.AST
    ) -> Iterator[tuple[ast.AST, str]]:
        """Each place that keeps, and each clone that goes away; of what stands in another file the teller tells."""
        for keeping in keepings:
            is_here = keeping.module.path == module.path
            message = f"the output of `{compiled}` ({keeping.site}) outlives its step: "
            message += f"{keeping.module.path}:{keeping.line} {keeping.how}"
            yield keeping.node if is_here else teller, message
        for clone in rewrite.clones:
            is_here = clone.module.path == module.path
            message = f"the output of `{compiled}` is cloned by hand at {clone}; the boundary does it for all calls"
            yield clone.node if is_here else teller, message
        if not keepings:
            yield teller, f"`{compiled}` is called without a boundary"

    def notes(self, project: Project, compiled: Compiled) -> Iterator[str]:
        for request in compiled.requests:
            if request.graphs not in ("on", "off"):
                yield f"{module_line(compiled, request.line)}: `{request.graphs}` decides whether CUDA graphs are on"
        for call in uses_of(project, compiled).calls:
            function = call.module.enclosing(call.node, *FUNCTIONS)
            for mark in marks_in(call.module, function) if function else ():
                yield f"{where(call.module, mark)}: marks the step too: with the boundary it is marked twice"
        for call in uses_of(project, compiled).inlined:
            yield f"{call}: stands in compiled code and stays a direct call, as it is traced there"


def is_in(line: str, path: str) -> bool:
    return line.rpartition(":")[0] == path


def module_line(compiled: Compiled, line: int) -> str:
    return f"{compiled.module.path}:{line}"
