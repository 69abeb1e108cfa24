"""Keep debug and telemetry functions out of compiled code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod, Unsure
from fullgraph.codemods.model import Edit, Finding, Purpose
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.compiled import ReachedCall, compiled_code
from fullgraph.codemods.syntax.disabled import DISABLE_SINCE, REASON_SINCE, disable, is_disabled
from fullgraph.codemods.syntax.signatures.docstrings import add_paragraph, docstring_of
from fullgraph.codemods.topics.telemetry import Evidence, evidence

TITLE = "WARNING: Not for compiled code."
WARNING = (
    "torch.compiler.disable keeps this function out of graphs: a call from a compiled region splits the graph there, "
    "and fails under fullgraph=True."
)
WARNS = re.compile(r"torch[._](?:compile|dynamo)|\bcompiled (?:code|region|graph|function|path)", re.I)
FUNCTION = re.compile(rb"[\r\n](?: {1,4}|\t)?(?:async[ \t]+)?def\b")
LOOP = re.compile(rb"\.(?:named_)?(?:parameters|modules|buffers|children)\(")
END = re.compile(
    rb"\.(?:item|tolist)\(\)|\.numpy\(|"
    rb"\bfloat\([^#;]{0,100}?\.(?:norm|mean|std|var|sum|min|max|amin|amax|median|abs|sqrt)\("
)
READS, NAMED = "telemetry, reads values on the host", "not for compiled code"


class DisableCompile(Codemod):
    """Put `@torch.compiler.disable` and a warning on debug and telemetry functions.

    Finds functions and methods that loop over `named_parameters()`, `parameters()`, modules, buffers or children (in a
    `for` or a comprehension; also through `enumerate`, `zip`, `list`, `dict` or a local name), bring what they make of
    these to the host (`item`, `tolist`, `numpy`, `float` of a reduction), and hand the numbers on: return, store or log
    them. Something must say that this is telemetry: a word in the name of the function, its class, file or folder
    (debug, telemetry, stats, log, monitor, metrics, report, summary, diagnostics and the like), a logging call, or
    numbers returned by the parts' names. A function that changes what it looks at, runs `backward`, `step` or a
    collective, calls the model or a part, or feeds the numbers back into torch is compute, not telemetry.
    Functions named with `--symbol` need no such evidence.

    Writes the decorator innermost, with `reason=` if the oldest torch that the project declares has it (2.8), and a
    WARNING paragraph in the docstring, before its first section.

    Measured on torch 2.13, for a call from a compiled function: 2 graph breaks become 1 (`tolist`, `item` behind the
    loop, `item` or `float` in a comprehension), 1 stays 1 (`item` or `float` in a `for` loop), and 0 become 1 (`numpy`,
    or no end on the host): there the decorator adds a break. Under `fullgraph=True` such a call fails; without the
    decorator only the `tolist` of floats failed, as scalars are captured there. Values do not change.

    So the finding is unsafe where a call from compiled code is seen under `fullgraph`, or where there is no break to
    isolate, and safe otherwise. Its notes name each call that compiled code reaches, by names: through functions,
    methods and modules of the project, not through containers, callbacks and what functions return.

    Unless it is named (`--select`, a ticket) it reports only functions that compiled code is seen to call and that have
    a break to isolate: elsewhere the decorator adds one.

    Left alone:
    - generators and coroutines: the decorator hides them from `inspect` and `asyncio`
    - functions that are compiled or scripted themselves
    - functions inside functions: decorated anew at each call
    - constructors, overloads and abstract methods
    - functions in files that import torch only for type checking, in a `try` or inside functions
    - functions that already are disabled, by whatever spelling, or whose class is
    - loops that change parameters, train or clip: compute
    - tests
    """

    pattern = LOOP
    isolates: ClassVar[bool] = True
    claim: ClassVar[str] = "telemetry that reads values on the host breaks the graph; the decorator isolates it."
    why: ClassVar[str] = (
        "Reading values back to the host breaks a graph inside the function; the decorator keeps the function out, so "
        "that the graph splits once, at the call (torch 2.13: 2 breaks become 1, but 0 become 1)."
    )

    def may_hold(self, raw: bytes) -> bool:
        named = any(symbol.rpartition(".")[2].encode() in raw for symbol in self.symbols)
        looks = super().may_hold(raw) and any(map(may_be_telemetry, FUNCTION.split(raw)))
        return (named or looks) and b"torch" in raw

    def purposes(self, findings: Sequence[Finding]) -> tuple[Purpose, ...]:
        return (Purpose("uncompiled", "telemetry", "it is kept out of compiled code"),) if findings else ()

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        for function in module.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
            seen = evidence(module, function)
            is_wanted = self.is_asked or isolates(project, module, function, seen)
            if is_wanted and (seen or self.is_named(module, function)) and not is_disabled(module, function):
                yield self.judge(module, project, function, seen)

    def judge(self, module: Module, project: Project, function: Function, seen: Evidence | None) -> Finding:
        message = f"{function.name} is not kept out of compiled code"
        if seen:
            message = (
                f"{function.name} loops over a model and ends on the host in line {seen.end.lineno}; {seen.because}, "
                "but nothing keeps it out of compiled code"
            )
        try:
            edits, notes = self.write(module, project, function, seen)
        except Unsure as unsure:
            return module.finding(self.name, function, message, left_alone=str(unsure))
        calls = compiled_code(project).calls_of(module, function)
        caveat = doubt(calls, seen)
        return module.finding(
            self.name,
            function,
            message,
            edits=edits,
            caveat=caveat,
            notes=(*notes, *reach(project, calls)),
            since=DISABLE_SINCE,
        )

    def write(
        self, module: Module, project: Project, function: Function, seen: Evidence | None
    ) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
        """The edits, and what is to be said about them; Unsure where the decorator must not stand."""
        if region := compiled_code(project).entry_of(module, function):
            raise Unsure(f"{region}: {function.name} itself is compiled")
        has_reason = self.has_torch(project, REASON_SINCE, unless_known=False)
        decorator = disable(module, function, (READS if seen else NAMED) if has_reason else "")
        docstring = docstring_of(function)
        if docstring and WARNS.search(str(docstring.value)):
            return decorator, ()
        paragraph = add_paragraph(module, function, TITLE, WARNING)
        if paragraph is None:
            line = function.body[0].lineno
            return decorator, (f"{module.path}:{line}: the warning must be added to this text by hand",)
        return (*decorator, paragraph), ()


def may_be_telemetry(function: bytes) -> bool:
    """Whether the text of one function has the two things that all telemetry has. Tests have them too."""
    is_test = function.startswith(b" test")
    return not is_test and LOOP.search(function) is not None and END.search(function) is not None


def isolates(project: Project, module: Module, function: Function, seen: Evidence | None) -> bool:
    """Whether compiled code is seen to call a function that breaks its graph."""
    return bool(seen and seen.breaks and compiled_code(project).calls_of(module, function))


def doubt(calls: list[ReachedCall], seen: Evidence | None) -> str:
    """Why the decorator may hurt: a graph that must not break, or a break that was not there."""
    strict = [call for call in calls if call.region.fullgraph]
    if strict:
        call = strict[0]
        return f"{call} is compiled with fullgraph={call.region.fullgraph} ({call.region}) and fails with the decorator"
    if calls and not (seen and seen.breaks):
        return f"{calls[0]} is compiled ({calls[0].region}), and no break is seen that the decorator would isolate"
    return ""


def reach(project: Project, calls: list[ReachedCall]) -> tuple[str, ...]:
    """What the decorator does to each compiled region that calls the function."""
    if calls:
        return tuple(
            f"{call}: called from code that {call.region} compiles; "
            + (f"fails there under fullgraph={call.region.fullgraph}" if call.region.fullgraph else "splits the graph")
            for call in calls
        )
    return (
        "no compiled code of this project is seen to call it: the decorator isolates nothing yet, and where there is "
        "no break to isolate it adds one (torch 2.13: 0 breaks become 1)",
        *unseen(project),
    )


def unseen(project: Project) -> tuple[str, ...]:
    regions = compiled_code(project).unseen
    places = ", ".join(map(str, regions[:3])) + (f" and {len(regions) - 3} more" if regions[3:] else "")
    return (f"what is compiled cannot be seen by names at {places}",) if regions else ()
