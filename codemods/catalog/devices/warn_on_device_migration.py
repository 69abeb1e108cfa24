"""Warn where an object silently follows its input to another device."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
from fullgraph.codemods.model import Edit, Finding, Purpose
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.placing import insert_before
from fullgraph.codemods.syntax.signatures.constructor import called, require_setting
from fullgraph.codemods.topics.devices.method import MOVES, first_argument
from fullgraph.codemods.topics.devices.migration import Migration, migrations
from fullgraph.codemods.topics.devices.screen import may_migrate
from fullgraph.codemods.topics.devices.warning import (
    WIDTH,
    call_helper,
    raise_if,
    require_helper,
    require_import,
    warn_in_place,
)

SETTING = "strict_device"
ONE_MORE_FRAME = {
    *(f"torch.{name}" for name in ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "autocast")),
    *("torch.amp.autocast", "torch.cuda.amp.autocast", "torch.compiler.disable", "torch._dynamo.disable"),
}
FRAMES_OF_MODULE_CALL = 2


@dataclass(frozen=True)
class WarnOptions(Options):
    """How the migration is announced."""

    form: Literal["traced", "plain", "strict"] = option(
        "traced",
        "traced: a warning that torch.compile can trace; plain: `warnings.warn` in place, which breaks the graph; "
        "strict: `strict_device=False` in `__init__`, which raises when set, and the traced warning.",
    )


class WarnOnDeviceMigration(Codemod):
    """Warn before a method moves the object's own state to the device of its input.

    `if x.device != self.mean.device: self.to(x.device)` lets a call of `normalize` move the statistics of an object
    that was created on the wrong device, and nobody is told. A warning that names the class and both devices is put
    just before the move. Found too: reversed operands, `not (a == b)`, `is not`, `.device.type`, `.is_cuda`, a local
    name or a walrus for a device, `elif`, `else` of `==`, an early return, `.cuda()`, `self.mean =
    self.mean.to(x.device)` with or without a test, buffers, `.data`, and loops over own parameters.

    Measured on torch 2.13 (the CPU to `meta`, and to fake CUDA tensors): the migration does not break the graph, it
    costs one recompile; `warnings.warn` in its place breaks it and fails under `fullgraph=True`. So the default form
    calls a small function under `torch.compiler.assume_constant_result`: it compiles under `fullgraph=True` without a
    break, warns once per trace, and in eager mode at every migration. In compiled code the location of the warning is
    inside torch; in eager mode `stacklevel` points at the caller of the method, also through `Module.__call__` and
    `@torch.no_grad()`. `self.to()` of a module that has parameters breaks the graph by itself, before and after.

    `form=strict` also lets `__init__` take `strict_device: bool = False`, with which the move raises a RuntimeError.

    Left alone:
    - a move of the input (`x = x.to(self.mean.device)`), or to a device that the caller names
    - methods whose purpose is to move (`to`, `cuda`, `_apply`, ...)
    - a branch that warns, logs, prints or raises already
    - a function that is not a method: whose state it moves is not known
    - a branch that also runs when the devices are the same (`or`)
    - a test that would be evaluated twice and calls something
    - an untested `self.to(x.device)` or a move of what may be a module: nothing says where it was
    - an untested move while something is set up on first use (`if self.cache is None`)
    - a method that TorchScript compiles
    - a file in which `torch` or `warnings` means something else too, or that imports torch only for type checking,
      in a `try` or inside functions
    - what does not move the state: `mean = self.mean.to(x.device)`, or `self.mean.to(x.device)` of a tensor alone
    - with `form=strict`: a class whose `__init__` is inherited or made by a decorator, that has `__slots__` or uses
      the name `strict_device` otherwise; a dataclass that is subclassed; a class with a subclass that does not call
      its `__init__`
    """

    options: WarnOptions

    needles: ClassVar[tuple[bytes, ...]] = (b".device", b".is_cuda")
    on_request: ClassVar[bool] = True
    claim: ClassVar[str] = "moving to the input's device breaks the graph; a `warnings.warn` there would tell."
    why: ClassVar[str] = (
        "State that silently follows its input to another device costs a copy and a recompile. The warning says so; "
        "in its default form it is traced without a graph break."
    )

    def may_hold(self, raw: bytes) -> bool:
        return super().may_hold(raw) and may_migrate(raw)

    def purposes(self, findings: Sequence[Finding]) -> tuple[Purpose, ...]:
        told = r"\w+ migrates from \S+ to \S+; create it there to avoid the move\."
        return (Purpose("warning", told, "the migration is announced"),)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if module.imports.names_package("torch"):
            for migration in migrations(module):
                yield self.judge(module, project, migration)

    def judge(self, module: Module, project: Project, migration: Migration) -> Finding:
        edits: tuple[Edit, ...] = ()
        reason = ""
        try:
            edits = self.edits(module, project, migration)
        except Unsure as unsure:
            reason = str(unsure)
        plain = "`warnings.warn` breaks the graph here, and fails under fullgraph=True (measured on torch 2.13)"
        return module.finding(
            self.name,
            migration.statement,
            f"{migration.owner.name} silently follows its input to another device",
            edits=edits,
            caveat=plain if edits and self.options.form == "plain" else "",
            left_alone=reason,
        )

    def edits(self, module: Module, project: Project, migration: Migration) -> tuple[Edit, ...]:
        """The announcement before the move, and whatever it needs elsewhere in the file."""
        check(module, migration)
        owner, me = migration.owner.name, first_argument(migration.method)
        old, new = migration.old, migration.new
        frames = frames_above(module, migration)
        if self.options.form == "plain":
            warnings, needed = require_import(module, "warnings", migration.method)
            lines = warn_in_place(warnings, owner, old, new, frames + 2)
        else:
            helper, needed = require_helper(module)
            torch, device, imported = device_named(module, migration.method, new)
            needed = needed or imported
            room = WIDTH - len(module.indent(migration.statement)) + len(torch) - len("torch")
            lines = call_helper(helper, [f'"{owner}"', old, device], frames + 3, room)
        if self.options.form == "strict":
            needed += require_setting(module, project, migration.owner, SETTING)
            lines = [*raise_if(f"{me}.{SETTING}", owner, old, new), *lines]
        if not migration.is_tested:
            lines = [
                f"if {old} != {migration.devices.new if migration.devices else new}:",
                *("\t" + line for line in lines),
            ]
        return (insert_before(module, migration.statement, lines), *needed)


def check(module: Module, migration: Migration) -> None:
    """Raise for whatever is a migration but cannot be announced safely."""
    where = f"{module.path}:{migration.statement.lineno}"
    if migration.unsure:
        raise Unsure(migration.unsure)
    if migration.devices is None:
        raise Unsure(f"nothing says on which device the state is before the move ({where})")
    if migration.devices.repeats_a_call:
        raise Unsure(f"the devices cannot be named without calling something again ({where})")
    decorators = [*migration.method.decorator_list, *migration.owner.decorator_list]
    if any(is_scripted(module, item) for item in decorators):
        raise Unsure(f"TorchScript compiles this method ({module.path}:{migration.method.lineno})")


def is_scripted(module: Module, decorator: ast.expr) -> bool:
    return module.resolve(called(decorator)) in {"torch.jit.script", "torch.jit.export", "torch.jit.script_method"}


def device_named(module: Module, method: Function, new: str) -> tuple[str, str, tuple[Edit, ...]]:
    """How torch is called here, the device (a bare `cuda` made into one), and the import that this needs.

    The layout must not depend on the name of torch, so that name comes along.
    """
    if new not in MOVES:
        return "torch", new, ()
    torch, imported = require_import(module, "torch", method)
    return torch, f'{torch}.device("{new}")', imported


def frames_above(module: Module, migration: Migration) -> int:
    """How many calls stand between a method and whoever uses it: `Module.__call__` and known decorators."""
    is_forward = migration.method.name == "forward" and bool(migration.owner.bases)
    wrapped = [item for item in migration.method.decorator_list if module.resolve(called(item)) in ONE_MORE_FRAME]
    return FRAMES_OF_MODULE_CALL * is_forward + len(wrapped)
