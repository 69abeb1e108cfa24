"""Move telemetry that stands inside compute out of compiled code."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
from fullgraph.codemods.model import Edit, Finding, FullgraphError, Purpose
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import names_within
from fullgraph.codemods.syntax.compiled import Region, compiled_code
from fullgraph.codemods.syntax.disabled import DISABLE_SINCE, REASON_SINCE, is_disabled, spell_disable
from fullgraph.codemods.syntax.extraction.chosen_lines import Lines, chosen_lines, statements_at
from fullgraph.codemods.syntax.extraction.extract import Extraction, extract
from fullgraph.codemods.topics.inline_telemetry.runs import InlineTelemetry, Run
from fullgraph.codemods.topics.inline_telemetry.text import telemetry_in
from fullgraph.codemods.topics.telemetry import SPEAKS, WORD, is_test

TELEMETRY, NAMED = "telemetry, reads values on the host", "not for compiled code"


@dataclass(frozen=True)
class IsolateTelemetryOptions(Options):
    lines: str = option("", "the lines to extract, such as 120-134 or src/train.py:120-134; best with --symbol")
    name: str = option("", "the name of the new function. By default made from the name of the function around")

    def __post_init__(self) -> None:
        self.lines_in("")
        if self.name and (not self.name.isidentifier() or iskeyword(self.name)):
            raise FullgraphError(f"option isolate_telemetry.name: {self.name!r} is not a name")

    def lines_in(self, path: str) -> Lines | None:
        return chosen_lines("isolate_telemetry.lines", self.lines, path) if self.lines else None


class IsolateTelemetry(Codemod):
    """Extract inline telemetry into a function under `@torch.compiler.disable`.

    In functions that compiled code runs, finds consecutive statements of which everything goes to telemetry: to a
    logging call (`print`, `logger.info`, `writer.add_scalar`, `wandb.log` and the like), or as host values into
    something that is named like telemetry (`stats["norm"] = x.item()`). They may compute, loop and branch on the way,
    as long as nothing else reads what they make; a result named like telemetry may be returned. There must be breaks
    to isolate: one that is met in any case, and another or a loop around it. A guard around all of it
    (`if step % 100 == 0:`) stays where it is, so that nothing breaks where it is false. Functions named with
    `--symbol`, and lines named with the option `lines`, need not be seen to run in compiled code.

    The lines move as they are, with their comments, to a function above. Its parameters are what they read, in the
    order of first use, its results what is read after them: by data flow over every path. Annotations are copied where
    they are known. Attributes of `self` that only `__init__` sets are passed; if `self` is needed for more, the
    function is a method. A `continue` of the loop that the lines end becomes `return`. Values and the order of side
    effects stay the same.

    Measured on torch 2.13 inside a compiled function: two `.item()`s and two logs are 4 graph breaks, with the call 1;
    numbers on the host are guarded, so that 2 recompiles became 0. A break in a `for` loop keeps the whole function out
    of graphs: 1 break stays 1, and the function gets its graphs back; with a small network it was 2 times slower then
    (aot_eager), with arithmetic on a million numbers 5 times faster (inductor). Such a finding is unsafe, as is one in
    a function that is compiled with `fullgraph`, where the call fails, and one without a break, where it adds one.

    Left alone:
    - telemetry in code that is not seen to be compiled, or that `is_compiling()` shuts out
    - a single statement, or a single break; breaks inside a loop of the function, where the call breaks as much
    - statements whose results are computed with, `log_probs` and the like among them
    - functions that are telemetry as a whole, or disabled; tests
    - statements that wait, yield, define a function, or leave an outer loop or the function
    - statements that set a global, a variable of an outer function, or one that an inner function keeps
    - names that are bound on some paths only, or read by a handler after an error in the lines
    - `locals()`, `stacklevel=` and whatever else looks at stack frames
    - lines that share a line with another statement, or are not whole statements of one block
    - scripted functions, files that may not have torch, a `--torch` older than 2.1
    """

    isolates: ClassVar[bool] = True
    claim: ClassVar[str] = "telemetry inside compute breaks the graph at each read and log; one call breaks it once."
    why: ClassVar[str] = (
        "Each host read and each log inside compiled code is a graph break; behind one call that is kept out of graphs "
        "there is a single one (torch 2.13: 4 breaks become 1)."
    )
    options: IsolateTelemetryOptions

    def may_hold(self, raw: bytes) -> bool:
        return b"torch" in raw and super().may_hold(raw)

    def hits(self, raw: bytes) -> Iterator[int] | None:
        if self.options.lines or any(symbol.rpartition(".")[2].encode() in raw for symbol in self.symbols):
            return None
        return telemetry_in(raw)

    def purposes(self, findings: Sequence[Finding]) -> tuple[Purpose, ...]:
        return (Purpose("uncompiled", "telemetry", "it is kept out of compiled code"),) if findings else ()

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        taken: set[str] = set()
        for function in module.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
            try:
                for run in self.runs(module, project, function):
                    taken = taken or names_within(module.tree)
                    yield self.judge(module, project, run, taken)
            except Unsure as unsure:
                message = f"the lines that are named in {function.name} cannot be extracted"
                yield module.finding(self.name, function, message, left_alone=str(unsure))

    def runs(self, module: Module, project: Project, function: Function) -> tuple[Run, ...]:
        """The statements of a function that are to be isolated: those on the lines, or its telemetry."""
        is_named = self.is_named(module, function)
        inline = InlineTelemetry(module, function)
        if self.options.lines:
            lines = self.options.lines_in(module.path) if is_named or not self.symbols else None
            chosen = statements_at(module, function, lines) if lines else ()
            found = tuple([inline.make(chosen)] if chosen else [])
        else:
            is_likely = is_compute(module, function) and any(
                telemetry_in(module.code(function).encode(errors="replace"))
            )
            found = tuple(inline.runs()) if is_likely else ()
        is_wanted = found and not is_disabled_around(module, function)
        return found if is_wanted and (is_named or self.options.lines or regions_of(module, project, function)) else ()

    def judge(self, module: Module, project: Project, run: Run, taken: set[str]) -> Finding:
        """What is to be said of a run; the name of the new function is taken from then on."""
        function, first = run.function, run.statements[0]
        message = describe(run, bool(self.options.lines))
        try:
            extraction = extract(module, run.statements)
            check_annotations(extraction)
            name = self.choose_name(project, extraction, taken)
            edits = self.write(project, extraction, name)
        except Unsure as unsure:
            return module.finding(self.name, first, message, left_alone=str(unsure))
        taken.add(name)
        regions = regions_of(module, project, function)
        caveat, notes = doubt(regions, run), reach(function, regions)
        return module.finding(self.name, first, message, edits=edits, caveat=caveat, notes=notes, since=DISABLE_SINCE)

    def write(self, project: Project, extraction: Extraction, name: str) -> tuple[Edit, ...]:
        module, function = extraction.module, extraction.function
        scripted = (item for item in function.decorator_list if is_scripted(module, item))
        if (item := next(scripted, None)) is not None:
            raise Unsure(f"{module.path}:{item.lineno}: handed to torch.jit, which does not know the decorator")
        has_reason = self.has_torch(project, REASON_SINCE, unless_known=False)
        reason = NAMED if self.options.lines else TELEMETRY
        decorator, imports = spell_disable(module, extraction.top, reason if has_reason else "")
        what = "Part" if self.options.lines else "Telemetry"
        return extraction.edits(name, decorator, f"{what} of {function.name}, kept out of compiled code.", imports)

    def choose_name(self, project: Project, extraction: Extraction, taken: set[str]) -> str:
        """The name that was asked for, or one that nothing in the file has; a method's is new to the project."""
        here = f"{extraction.module.path}:{extraction.function.lineno}"
        base = self.options.name or default_name(extraction)
        if (self.options.name or self.options.lines) and base in taken:
            raise Unsure(f"{here}: the name {base} is used already; the option name gives another")
        for name in (base, *(f"{base}_{number}" for number in range(2, 100))):
            if name not in taken and not (extraction.owner and project.mentions(name)):
                return name
        raise Unsure(f"{here}: no name is left for the new function")


def is_compute(module: Module, function: Function) -> bool:
    """Whether a function works on tensors, is not telemetry as a whole, by its name, and no test."""
    speaks = any(SPEAKS.fullmatch(word.lower()) for word in WORD.findall(function.name))
    return not speaks and not is_test(module, function) and has_tensors(module, function)


def has_tensors(module: Module, function: Function) -> bool:
    """Whether a function may be given tensors: it is part of a module, or a parameter is not annotated otherwise."""
    owner = module.enclosing(function, ast.ClassDef)
    bases = {module.resolve(base) or ast.unparse(base) for base in owner.bases} if owner else set()
    arguments = [node for node in ast.walk(function.args) if isinstance(node, ast.arg)]
    kinds = [argument.annotation for argument in arguments if argument.arg not in ("self", "cls")]
    said = [ast.unparse(kind) if kind else "Any" for kind in kinds]
    is_part = any(base.rpartition(".")[2] == "Module" for base in bases)
    return (
        is_part
        or not said
        or any(re.search(r"Tensor|Module|Any|object|\b(?:dict|list|tuple)\b(?!\[)", kind) for kind in said)
    )


def is_disabled_around(module: Module, function: Function) -> bool:
    outer = [node for node in module.ancestors(function) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return any(is_disabled(module, node) for node in (function, *outer))


def check_annotations(extraction: Extraction) -> None:
    """Unsure if an annotation that would be copied has a name that only the function or class itself knows: `[T]`."""
    module, function = extraction.module, extraction.function
    for parameter in extraction.parameters:
        for node in ast.walk(ast.parse(parameter.annotation or "None", mode="eval")):
            if isinstance(node, ast.Name) and not (hasattr(builtins, node.id) or module_binds(module, node.id)):
                raise Unsure(f"{module.path}:{function.lineno}: {node.id} means nothing outside of {function.name}")


def module_binds(module: Module, name: str) -> bool:
    """Whether the name is bound at the top level; an import of everything may bind any."""
    stars = (alias.name == "*" for node in module.nodes(ast.ImportFrom) for alias in node.names)
    return bool(module.scopes.within(module.tree, name)) or any(stars)


def is_scripted(module: Module, decorator: ast.expr) -> bool:
    return (module.resolve(getattr(decorator, "func", decorator)) or "").startswith("torch.jit.")


def default_name(extraction: Extraction) -> str:
    """`_step_telemetry` for `step`; for `forward`, outside the class, the class gives the name."""
    kind = extraction.module.enclosing(extraction.function, ast.ClassDef)
    name = extraction.function.name
    if kind is not None and extraction.owner is None and name in ("forward", "__call__"):
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind.name).lower()
    return f"_{name.strip('_')}_telemetry"


def describe(run: Run, is_chosen: bool) -> str:
    first, last = run.statements[0].lineno, run.statements[-1].end_lineno
    lines, are, feed = ("lines", "are", "feed") if first != last else ("line", "is", "feeds")
    where = f"{lines} {first}" + (f"-{last}" if first != last else "") + f" of {run.function.name}"
    if is_chosen:
        return f"{where} {are} not kept out of compiled code"
    broken = ", ".join(dict.fromkeys(str(call.lineno) for call in run.breaks))
    return f"{where} only {feed} telemetry, and {len(run.breaks)} calls break the graph (line {broken})"


def regions_of(module: Module, project: Project, function: Function) -> dict[str, Region]:
    """Every place that compiles the function, or code that calls it, by where that is."""
    code = compiled_code(project)
    found = {str(call): call.region for call in code.calls_of(module, function)}
    entry = code.entry_of(module, function)
    return {**found, **({str(entry): entry} if entry else {})}


def doubt(regions: dict[str, Region], run: Run) -> str:
    """Why the call may hurt: a graph that must not break, or a break that was not there."""
    for place, region in regions.items():
        if region.fullgraph:
            return f"{place} is compiled with fullgraph={region.fullgraph} ({region}) and fails with the call"
    if regions and not run.breaks:
        return f"{next(iter(regions))} is compiled, and no break is seen in these lines that the call would isolate"
    if regions and run.loop:
        return (
            f"the loop in line {run.loop} breaks, which keeps all of {run.function.name} out of graphs; with the call "
            "it gets two, and whether these are worth their overhead depends on the work in them"
        )
    return ""


def reach(function: Function, regions: dict[str, Region]) -> tuple[str, ...]:
    """Where the call will split a graph."""
    if not regions:
        return (
            f"no compiled code of this project is seen to run {function.name}: where there is no break to isolate, the "
            "call adds one (torch 2.13: 0 breaks become 1)",
        )
    compiles, called = f"compiles {function.name}", "called from code that {} compiles"
    return tuple(
        f"{place}: {compiles if place == str(region) else called.format(region)}" for place, region in regions.items()
    )
