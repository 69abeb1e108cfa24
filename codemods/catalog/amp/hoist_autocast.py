"""Decide about autocast once, not in every iteration or call."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
from fullgraph.codemods.model import Edit, Finding
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.places import Place, where
from fullgraph.codemods.topics.autocast.callers import CallerHome
from fullgraph.codemods.topics.autocast.constant import is_computed
from fullgraph.codemods.topics.autocast.forwards import (
    check_function,
    check_known,
    decorator,
    forward_around,
    shared_by,
    spelled,
    unwrapped,
)
from fullgraph.codemods.topics.autocast.homes import Home, loops_around
from fullgraph.codemods.topics.autocast.once import home_of
from fullgraph.codemods.topics.autocast.reentry import home_of_context
from fullgraph.codemods.topics.autocast.regions import Region, regions, wrapped
from fullgraph.codemods.topics.autocast.writing import assignment, enable, lines_of, removal

FLAGS = ("use_autocast", "autocast_enabled", "with_autocast")
REVERSED = ("skip_autocast", "autocast_disabled", "without_autocast")
CONTEXTS = ("autocast_context", "amp_context", "autocast_region")
Written = tuple[tuple[Edit, ...], str]
SWITCHES_OFF = (
    "inside another autocast region `enabled=False` switches that one off, where nullcontext() leaves it on; "
    "and it costs what autocast costs, where nullcontext() costs almost nothing"
)


@dataclass(frozen=True)
class HoistOptions(Options):
    """What is made once."""

    form: Literal["flag", "enabled", "context", "decorator"] = option(
        "flag",
        "flag: the condition; enabled: the condition, and `autocast(..., enabled=flag)` in place of a choice against "
        "nullcontext(); context: the context, before the loop that enters it; decorator: autocast around the whole of "
        "`forward` as its decorator.",
    )


class HoistAutocast(Codemod):
    """Decide about autocast once, not in every iteration or call.

    `autocast(...) if use_amp and device.startswith("cuda") else nullcontext()` asks in every batch what cannot change.
    The condition becomes a variable: before the outermost loop that leaves it as it is; around a function that is
    defined inside another one; in `__init__`, if it reads attributes of `self` that only constructors set; before the
    loop of the caller, as one more parameter, if a private function is called at one place. Found too:
    `enabled=<condition>`, `if`/`else` statements that assign the context, and contexts kept in a variable. Which
    operations run under autocast, and with which dtype, stays the same: `nullcontext()` is kept.

    `form=enabled` writes `autocast(..., enabled=flag)` in place of the choice, as reviews like to have it. It is never
    safe: inside another autocast region `enabled=False` switches that one off, and nullcontext() does not.
    `form=context` makes the context once before the loop and enters it again in each iteration. An autocast keeps what
    it must restore on itself, so this is done only where one object cannot be entered twice at once: never for an
    object that several calls would share. `form=decorator` turns a `with` around the whole of `forward` into
    `@torch.autocast(...)`; all objects of the class then share one context, and one that calls another of its class
    leaves autocast switched on behind it (measured).

    Measured on torch 2.13, a CPU: the condition costs 0.07 us; making and entering autocast 3.0 us, entering one that
    is made 1.9 us, nullcontext() 0.25 us, `autocast(enabled=False)` 3.0 us. The gain is Python overhead, too small to
    be seen in a training step: dtypes and results are bit-equal, and there is no graph break before or after. With
    `form=context` a warning that CUDA is missing comes once.

    Left alone:
    - a condition that is only read: `enabled=self.use_amp`
    - a condition on the batch or on another argument, or on what the loop sets or binds again
    - `self.training`, and whatever may answer differently the next time
    - an attribute that anything but a constructor of the project sets, or whose contents count
    - a class without a plain `__init__`, with `__slots__`, or with a subclass that sets the attribute or does not call
      that `__init__`
    - a condition that is reached only after a test of what it looks into, or whose variables may have no value yet
    - a private function that is called at several places, that has no room for one more parameter, or whose caller
      knows what it reads by other names
    - a context that is handed on, and other contexts than autocast
    - with `form=context`: an object that several calls would share or that is entered again inside, a `yield` inside,
      a variable that something else uses, a dtype that is taken from elsewhere
    - with `form=decorator`: a `with` around a part of `forward`, arguments that only a call knows, a generator
    """

    options: HoistOptions

    needles: ClassVar[tuple[bytes, ...]] = (b"autocast",)
    pattern: ClassVar[re.Pattern[bytes] | None] = re.compile(rb"autocast\s*\(")
    on_request: ClassVar[bool] = True
    claim: ClassVar[str] = "an autocast context made anew for every batch costs Python overhead in the hot path."
    why: ClassVar[str] = (
        "The condition is asked once instead of in every iteration or call. The gain is Python overhead only: below a "
        "tenth of a microsecond for the condition, about one microsecond for the context (torch 2.13)."
    )

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        names = Names(project)
        for region in regions(module):
            try:
                written = self.write(project, region, names)
            except Unsure as unsure:
                yield module.finding(self.name, region.chosen, self.message(region), left_alone=str(unsure))
                continue
            if written:
                edits, caveat = written
                yield module.finding(self.name, region.chosen, self.message(region), edits=edits, caveat=caveat)

    def message(self, region: Region) -> str:
        again = "in every iteration" if any(loops_around(region.module, region.statement)) else "in every call"
        if self.options.form == "context":
            return f"an autocast context is made anew {again}"
        if self.options.form == "decorator":
            return "autocast is made and entered around the whole of forward in every call"
        return f"whether to autocast is decided anew {again}"

    def write(self, project: Project, region: Region, names: Names) -> Written | None:
        """The edits and the caveat of one region; None where the form has nothing to do."""
        form = self.options.form
        if form == "context":
            return make_once(project, region, names)
        if form == "decorator":
            return put_on_forward(project, region)
        if region.decision is not None and is_computed(region.decision):
            return decide_once(project, region, region.decision, names, is_kept=form == "flag")
        if form == "enabled" and region.decision is not None and region.is_choice:
            text = region.module.code(region.decision)
            return (enable(region, f"not {text}" if region.is_reversed else text),), SWITCHES_OFF
        return None


class Names:
    """The names that this run gives: one for each value in each scope."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.given: dict[ast.AST, dict[str, str]] = {}

    def take(self, home: Home, value: ast.AST, choice: tuple[str, ...]) -> str:
        given = self.given.setdefault(home.scope, {})
        text = f"{choice[0]} {ast.unparse(value)}"
        if text not in given:
            if given and isinstance(home, CallerHome):
                raise Unsure(f"{where(home.module, home.statement)}: the caller passes another condition already")
            free = (name for name in choice if name not in given.values() and home.takes(self.project, name))
            if (name := next(free, None)) is None:
                raise Unsure(f"{where(home.module, home.statement)}: {', '.join(choice)} are taken")
            given[text] = name
        return given[text]


def decide_once(project: Project, region: Region, decision: ast.expr, names: Names, *, is_kept: bool) -> Written | None:
    """The condition in a variable of its own; `nullcontext()` is kept, or becomes `enabled=`."""
    module = region.module
    home = home_of(project, module, decision)
    if home is None:
        return None
    name = names.take(home, decision, REVERSED if region.is_reversed else FLAGS)
    lines = assignment(module, home.prefix + name, decision, home.statement)
    flag = f"{first_name(module, decision)}.{name}" if home.prefix else name
    if is_kept or not region.is_choice:
        return (*home.write(name, lines), module.replace(wrapped(module, decision), flag)), home.caveat
    used = enable(region, f"not {flag}" if region.is_reversed else flag)
    return (*home.write(name, lines), used), "; ".join(filter(None, (home.caveat, SWITCHES_OFF)))


def first_name(module: Module, node: ast.AST) -> str:
    function = module.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
    assert function is not None, "asked only in methods"
    arguments: list[ast.arg] = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg


def make_once(project: Project, region: Region, names: Names) -> Written | None:
    """The context before the loop that enters it; a variable that holds it already is only moved."""
    home = home_of_context(project, region)
    if home is None:
        return None
    if region.name:
        moved = home.write(region.name, lines_of(region.module, region.statement))
        return (*moved, removal(region.module, region.statement)), home.caveat
    assert isinstance(region.chosen, ast.expr), "without a name it is entered where it is made"
    name = names.take(home, region.chosen, CONTEXTS)
    lines = assignment(region.module, name, region.chosen, home.statement)
    return (*home.write(name, lines), region.module.replace(wrapped(region.module, region.chosen), name)), home.caveat


def put_on_forward(project: Project, region: Region) -> Written | None:
    """Autocast as the decorator of a `forward` that does nothing outside it."""
    module, function = region.module, forward_around(region)
    if function is None or not isinstance(region.statement, ast.With):
        return None
    check_known(project, module, region.made)
    check_function(module, function)
    owner = module.enclosing(function, ast.ClassDef)
    assert owner is not None, "forward is a method"
    caveat = shared_by(project, Place(module, owner))
    edits = (decorator(module, spelled(module, region.made, module)[0], function), unwrapped(module, region.statement))
    return edits, f"{caveat}, and the two would share one context, which stays on then" if caveat else ""
