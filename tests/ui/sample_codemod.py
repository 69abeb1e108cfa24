"""Three small codemods for the tests of the command line, so that these do not depend on the catalog."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from fullgraph import Codemod, Edit, Finding, Module, Options, Project, Span, option


@dataclass(frozen=True)
class FastOptions(Options):
    """How to be fast."""

    to: str = option("fast", "The name to call instead.")
    times: int = option(1, "How often.")
    loud: bool = option(False, "Say more.")
    mode: Literal["call", "mark"] = option("call", "Call the other name, or only mark the place.")


class CallFast(Codemod):
    """Call `fast()` where `slow()` is called.

    Left alone:
    - `slow(*arguments)`
    """

    needles: ClassVar[tuple[bytes, ...]] = (b"slow",)
    why: ClassVar[str] = "slow() waits a second for nothing; fast() does not."
    options: FastOptions

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in module.nodes(ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id == "slow":
                yield self.judge(module, call)

    def judge(self, module: Module, call: ast.Call) -> Finding:
        is_starred = any(isinstance(argument, ast.Starred) for argument in call.args)
        return module.finding(
            self.name,
            call,
            f"{module.code(call)} waits",
            edits=() if is_starred else (module.replace(call.func, self.options.to),),
            caveat="fast() may read its argument twice" if call.args and not is_starred else "",
            left_alone="the arguments are not known" if is_starred else "",
            notes=("this is loud",) if self.options.loud else (),
        )


class FlattenNest(Codemod):
    """Write `flat()` for `nest()`, by replacing the whole call: nested calls overlap."""

    needles: ClassVar[tuple[bytes, ...]] = (b"nest(",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in module.nodes(ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id == "nest":
                flat = module.replace(call, module.code(call).replace("nest", "flat", 1))
                yield module.finding(self.name, call, "nest is not flat", edits=(flat,))


class RenameShared(Codemod):
    """Rename the function `shared` to `common`, in every file that mentions it."""

    needles: ClassVar[tuple[bytes, ...]] = (b"def shared(",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for function in module.nodes(ast.FunctionDef):
            if function.name == "shared":
                edits = [edit for other in project.modules_mentioning("shared") for edit in rename(other)]
                yield module.finding(self.name, function, "shared is called common now", edits=tuple(edits))


def rename(module: Module) -> list[Edit]:
    return [module.replace(Span(*found.span()), "common") for found in re.finditer(r"\bshared\b", module.text)]
