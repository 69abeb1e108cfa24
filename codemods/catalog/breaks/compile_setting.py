"""Set what torch needs to keep numbers and shapes in the graph, where something is compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
from fullgraph.codemods.model import COMPILING_SINCE, Edit, Finding
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import own_nodes
from fullgraph.codemods.syntax.compiled import compiled_code, requests
from fullgraph.codemods.syntax.tensors.infer import Tensors
from fullgraph.codemods.topics.compile_settings.constructs import MESSAGES, SCALARS, SHAPES, Construct, constructs_of
from fullgraph.codemods.topics.compile_settings.hints import hints_for, write_hints
from fullgraph.codemods.topics.compile_settings.limits import LIMIT, judge_limit
from fullgraph.codemods.topics.compile_settings.requests import (
    Request,
    functions_at,
    is_called_compiled,
    is_only_request,
    requests_of,
    traced_by,
)
from fullgraph.codemods.topics.compile_settings.writing import (
    is_set_around,
    is_set_somewhere,
    write_decorator,
    write_statement,
)

ERROR = (
    "what tracing cannot decide without the value is an error then (GuardOnDataDependentSymNode), where it was a "
    "break: run your calls once"
)
THREADS = "the setting holds for all that this thread compiles later, and torch 2.13 keeps settings by thread"
LATER = (
    "messages come at the end of the graph, in the order of the code, and warnings name another line to their filters"
)
TRIED = "run your calls once: other uses of the number may need other hints"
TRAINING = "in training inductor raises GuardOnDataDependentSymNode unless it knows that this is not negative"
REWRITES = {SCALARS: "keep_scalars_in_graph", SHAPES: "keep_scalars_in_graph", MESSAGES: "log_without_break"}
COSTS = {
    SCALARS: "torch 2.13, CPU time: `x * k` took 28 us with the break, 18 with the setting, 17 with a tensor for `k`",
    SHAPES: "torch 2.13, CPU time: `x[mask].sum()` took 93 us with the break, 91 with the setting, 16 with torch.where",
    MESSAGES: "the setting drops keywords and stack levels (torch 2.13), and a message with a category still breaks",
}


@dataclass(frozen=True)
class CompileSettingOptions(Options):
    """Whether messages are left to a setting too."""

    prefer: Literal["rewrite", "setting"] = option(
        "rewrite",
        "`setting`: also for `print` and `warnings.warn`, which torch then emits behind the graph; "
        "by default log_without_break rewrites them",
    )


class CompileSetting(Codemod):
    """Set what torch needs to keep sizes and shapes that come out of tensors in the graph, where something is compiled.

    Finds requests to compile (`@torch.compile`, `torch.compile(net)`, `net.compile()`) whose traced code, followed by
    names through the project, holds a number from a tensor that is used as a size (`torch.zeros(n.max().item())`,
    `x[:k]`, `x.view(k, -1)`, `split(x, sizes.tolist())`) or goes to others as it is (returned, stored in an attribute,
    appended to a list), or a result whose shape depends on values (`nonzero`,
    one-argument `where`, `masked_select`, `unique`, `bincount`, `x[mask]` unless it is only summed or written back).
    With `prefer=setting` also `print` and `warnings.warn` with plain positional arguments. Where a run was observed,
    only what stands on a line that broke.

    A decorator gets `@torch._dynamo.config.patch(...)` above it: the setting is in force while this function runs, in
    whatever thread, and not otherwise. A call gets `torch._dynamo.config.... = True` before its statement. On request
    only, and never called safe: a setting turns some breaks into errors, and a rewrite that keeps tensors needs none.

    Where a slice begins or ends with such a number, torch is told that it does not count from the end:
    `torch._check(k >= 0)` before the statement, also where the setting is on already. Plain code may slice with a
    negative number, so the check is for compiled code alone (`torch.compiler.is_compiling()`), unless the number is a
    count or a position. No check is written where torch knows: by `max(k, 0)`, or by `torch.zeros(k)` on the way.

    Where a run was observed that reached the limit of recompiles, and sizes of arguments are all that had changed, the
    calls get `torch._dynamo.maybe_mark_dynamic(x, 0)` before them. Where not every call can be seen, `dynamic=False`
    becomes `dynamic=None`.

    Measured on torch 2.13, on the CPU: `capture_scalar_outputs` repairs sizes, slices, `arange`, `view`, `cat`,
    `split`, `pad`, `topk` (1 break, 1 recompile become none), and numbers that are returned, stored or appended: the
    same Python number, of every dtype but complex (`float` of a bool is an error); not a branch or float `tolist()`; a
    `range()` skips the whole function, an index of a list or one of several indices (`x[:, k]`) is an error, and so is
    the backward of `repeat`. Of 56 functions with `x[:k]`, inductor refused 21 in training because `k` might be
    negative, and takes 19 of these with one check of `k >= 0`, the others with two; `k <= x.shape[0]` never helped.
    `cumsum`, `var`, `squeeze`, attention, `repeat`, and products with inner sizes of 1 must know `k > 1`, which is for
    you to say. `reshape(-1, 2)` of a slice of an expanded tensor gave wrong numbers (inductor; right with `k > 1`).
    `capture_dynamic_output_shape_ops` repairs `nonzero`, `where`, `unique`, `x[mask]` (1 break, 2 recompiles become
    none), not a loop or an `if` on the result; `x[mask].view(...)` into a linear layer is an error, `lstsq` still
    breaks. CPU time of a call on 64 x 64, in us, with the break, with the setting and rewritten: `x * k` 28, 18, 17;
    `x[:k]` 29, 19, 18 (by a mask); `x[mask].sum()` 93, 91, 16: there the setting saves the break and the recompiles,
    but no time. The decorator costs 7 us a call more. It works as the outermost one only: below `torch.compile`, or
    called from other compiled code, it breaks the graph itself. `options=` takes no setting, `fullgraph=True` has both
    on. Settings of one thread are not seen by another. `reorderable_logging_functions` repairs `print` and
    `warnings.warn(text)`, drops keywords (`end=`, `stacklevel=`) and breaks with a category. Sizes that change cost 1
    recompile by default, none with `dynamic=True` or a mark (also beside `dynamic=False`, where it was 8 and then the
    limit). `mark_dynamic` raises where the code needs one size, `maybe_mark_dynamic` does not; both are errors inside
    compiled code.

    Left alone:
    - requests with `fullgraph=True`: the settings are on there, and only hints may be missing
    - projects that have the setting already, in whatever form
    - numbers that only multiply or decide, or are returned only after a calculation: a rewrite keeps them as tensors,
      or no setting helps
    - numbers that are also the bound of a `range()`, the index of a list, or go where it cannot be seen
    - numbers that are also one of several indices
    - where the setting is on: bounds that are negative on purpose, have no name, or may not be used
    - a loop over a result whose shape depends on values
    - masked values that are only summed or written back
    - generators and coroutines, and requests in the body of a class or in an `elif`
    - messages with keywords or a category
    """

    options: CompileSettingOptions
    on_request: ClassVar[bool] = True
    is_addition: ClassVar[bool] = True
    repairs_breaks: ClassVar[bool] = True
    needles: ClassVar[tuple[bytes, ...]] = (b"compile", b"dynamo")
    claim: ClassVar[str] = (
        "a size or a shape that comes out of a tensor breaks the graph; a setting of torch captures it."
    )
    why: ClassVar[str] = (
        "With the setting torch keeps numbers and shapes that depend on values in the graph as symbols "
        "(torch 2.13: 1 break and 1 or 2 recompiles become none). What it cannot decide then is an error."
    )

    def may_hold(self, raw: bytes) -> bool:
        is_open = b"import torch as " in raw or b'"cells"' in raw
        return super().may_hold(raw) and b"torch" in raw and (is_open or requests(raw))

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        for request in requests_of(module, project):
            constructs = list(self.constructs(project, request))
            if found := self.judge(project, request, constructs) or self.judge_hints(project, request, constructs):
                yield found
            if self.sites is not None and (limited := judge_limit(self, project, request)):
                yield limited

    def judge(self, project: Project, request: Request, constructs: list[Construct]) -> Finding | None:
        """What this request compiles and needs a setting for, as one finding."""
        needed = [one for one in constructs if one.needs_setting and self.admits(one)]
        settings = [
            setting for setting in (SCALARS, SHAPES, MESSAGES) if self.is_missing(project, request, needed, setting)
        ]
        needed = [one for one in needed if one.setting in settings]
        if not needed:
            return None
        code = needed[0].module.code(needed[0].node).splitlines()[0]
        message = f"`{code}` in {needed[0].line} {needed[0].what}: torch breaks the graph there without a setting"
        notes = tuple(self.notes(needed))
        try:
            refuse(constructs, needed, settings)
            edits, caveat = self.write(project, request, settings, needed)
            if SCALARS in settings:
                told, doubts = write_hints(constructs, self.can_ask(project))
                edits, caveat = (*edits, *told), "; ".join([caveat, *doubts])
        except Unsure as unsure:
            return request.module.finding(self.name, request.asked.node, message, left_alone=str(unsure), notes=notes)
        return request.module.finding(self.name, request.asked.node, message, edits=edits, caveat=caveat, notes=notes)

    def judge_hints(self, project: Project, request: Request, constructs: list[Construct]) -> Finding | None:
        """Slices that fail in training where the setting is on already. That is no break, so no site is about it."""
        is_set = request.fullgraph or is_set_around(request, SCALARS) or is_set_somewhere(project, SCALARS)
        hints, _ = hints_for(constructs, self.can_ask(project)) if is_set and self.sites is None else ([], [])
        if not hints:
            return None
        first = hints[0]
        code = first.module.code(first.bound)
        message = f"`{code}` in {first.module.path}:{first.bound.lineno} is the bound of a slice: {TRAINING}"
        edits, doubts = write_hints(constructs, self.can_ask(project))
        return request.module.finding(
            self.name, request.asked.node, message, edits=edits, caveat="; ".join(doubts or [TRIED])
        )

    def can_ask(self, project: Project) -> bool:
        """Whether the project's torch knows `torch.compiler.is_compiling`."""
        return self.has_torch(project, COMPILING_SINCE.version, unless_known=True)

    def constructs(self, project: Project, request: Request) -> Iterator[Construct]:
        """Those in the code that the request traces; with one request in all, those that broke are its own."""
        tensors: Tensors = project.worked_out(Tensors, lambda: Tensors(project))
        functions = traced_by(compiled_code(project).names, request)
        if self.sites is not None and is_only_request(project):
            known = {function for _, function in functions}
            broken = functions_at(project, {(site.path, site.line) for site in self.sites if site.id != LIMIT})
            functions = [*functions, *(place for place in broken if place[1] not in known)]
        return constructs_of(tensors, functions, messages=self.options.prefer == "setting")

    def admits(self, construct: Construct) -> bool:
        """Whether graphs were seen to break there; anything, where nothing was observed."""
        statement = construct.module.statement(construct.node)
        last = statement.end_lineno or statement.lineno
        return self.sites is None or any(
            site.path == construct.module.path and statement.lineno <= site.line <= last for site in self.sites
        )

    def is_missing(self, project: Project, request: Request, needed: list[Construct], setting: str) -> bool:
        """Whether something needs a setting that nobody has set. With `fullgraph`, torch captures by itself."""
        if request.fullgraph and setting != MESSAGES:
            return False
        is_needed = any(one.setting == setting for one in needed)
        return is_needed and not (is_set_around(request, setting) or is_set_somewhere(project, setting))

    def write(
        self, project: Project, request: Request, settings: list[str], needed: list[Construct]
    ) -> tuple[tuple[Edit, ...], str]:
        """The edits, and what they may hurt."""
        function = request.function
        if function is not None and is_resumed(function):
            raise Unsure(f"{function.name} is a generator or a coroutine, which torch does not trace")
        is_narrow = function is not None and MESSAGES not in settings
        if is_narrow and function is not None and not is_called_compiled(project, (request.module, function)):
            return write_decorator(request, settings), ERROR
        names = sorted({one.name for one in needed if one.name})
        doubts = [ERROR] * (settings != [MESSAGES]) + [LATER] * (MESSAGES in settings) + [THREADS]
        return write_statement(request, settings, names), "; ".join(doubts)

    def notes(self, needed: list[Construct]) -> Iterator[str]:
        for one in needed[1:]:
            yield f"{one.line}: `{one.module.code(one.node).splitlines()[0]}` {one.what} too"
        for one in needed:
            if branch := one.first("branch"):
                line = getattr(branch.node, "lineno", one.node.lineno)
                yield f"{one.module.path}:{line}: a branch on it stays a break"
        for setting in dict.fromkeys(one.setting for one in needed):
            yield f"compared with {REWRITES[setting]}: {COSTS[setting]}"


def refuse(constructs: list[Construct], needed: list[Construct], settings: list[str]) -> None:
    """Unsure where a setting would make something worse in this traced code, or where a number is lost from sight."""
    for one in constructs:
        worse = one.first("worse", *(["unknown"] if one in needed else []))
        if one.setting in settings and worse:
            line = getattr(worse.node, "lineno", one.node.lineno)
            raise Unsure(f"{one.module.path}:{line}: {worse.why}")


def is_resumed(function: Function) -> bool:
    """Whether its body runs after the call, when a decorator has let go of the setting."""
    yields = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(function))
    return yields or isinstance(function, ast.AsyncFunctionDef)
