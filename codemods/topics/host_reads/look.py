"""What is looked at: one module of a project, with what is known and what the user said."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import names_within
from fullgraph.codemods.syntax.effects.answers import what_changes
from fullgraph.codemods.syntax.signatures.width import shown_width, width_of
from fullgraph.codemods.syntax.tensors.infer import Tensors
from fullgraph.codemods.syntax.tensors.known import Known
from fullgraph.codemods.syntax.tensors.tables import PURE_METHODS
from fullgraph.codemods.topics.host_reads.reads import SCOPES

CLOSED = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict, ast.ListComp, ast.DictComp)
PURE_BUILTINS = ("len", "min", "max", "range", "int", "enumerate", "zip", "reversed", "list", "sorted", "str")


@dataclass(frozen=True, eq=False)
class Batch:
    """Reads that could be one: the edits that make them so, or why they are left alone."""

    node: ast.AST
    message: str
    edits: tuple[Edit, ...] = ()
    caveats: tuple[str, ...] = ()
    left_alone: str = ""
    notes: tuple[str, ...] = ()


@dataclass(eq=False)
class Look:
    """One module and everything that its reads are judged by."""

    module: Module
    project: Project
    in_all: bool = False
    same_device: bool = False
    claimed: set[ast.AST] = field(default_factory=set)
    """Reads that a batch has taken already."""

    def __post_init__(self) -> None:
        self.tensors = self.project.worked_out(Tensors, lambda: Tensors(self.project))
        self._taken: dict[ast.AST, set[str]] = {}

    def known(self, node: ast.AST) -> Known:
        return self.tensors.known(self.module, node)

    def text(self, node: ast.AST) -> str:
        """An expression on one line."""
        code = self.module.code(node)
        return ast.unparse(node) if "\n" in code or "\r" in code else code

    def operand(self, node: ast.AST) -> str:
        """An expression as a part of another: in brackets where it needs them."""
        text = self.text(node)
        return text if isinstance(node, CLOSED) or text.startswith("(") else f"({text})"

    # New names

    def new_name(self, near: ast.AST, *wanted: str) -> str:
        """The first of the names that means nothing in the function around a node yet, else one with a number."""
        scope = next(outer for outer in self.module.ancestors(near) if isinstance(outer, SCOPES))
        if scope not in self._taken:
            self._taken[scope] = names_within(scope) | set(dir(builtins)) | self._global_names
        taken = self._taken[scope]
        numbered = (f"{wanted[-1]}_{number}" for number in range(2, 1000))
        found = next(name for name in (*wanted, *numbered) if name not in taken)
        taken.add(found)
        return found

    @cached_property
    def _global_names(self) -> set[str]:
        """What is bound at the top level of the module."""
        named = self.module.scopes.named
        return {name for name in named if self.module.scopes.within(self.module.tree, name)}

    def torch(self) -> tuple[str, tuple[Edit, ...]]:
        return self.module.imports.require("torch")

    def laid_out(self, statement: ast.AST, name: str, made: str, torch: str = "torch") -> list[str]:
        """`name = made`, over several lines where it does not fit; a tab is one level of indentation."""
        line = f"{name} = {made}"
        if shown_width(self.module, self.module.indent(statement) + line) <= width_of(self.module):
            return [line]
        head, loop, rest = made.partition(" for ") if made[0] + made[-1] in ("[]", "{}") else (made, "", "")
        if loop:
            return [f"{name} = {made[0]}", f"\t{head[1:]}", f"\tfor {rest[:-1]}", made[-1]]
        stack = f"{torch}.stack("
        if made.startswith(stack) and made.endswith(").tolist()"):
            return [f"{name} = {stack}", f"\t{made[len(stack) : -len(').tolist()')]}", ").tolist()"]
        inner = self.module.indent(statement) + self.module.indent_unit
        fits = shown_width(self.module, inner + made) <= width_of(self.module)
        parts = [made] if fits else re.split(r" (?=if [^()\[\]]+ else \[\]$|else \[\]$)", made)
        return [f"{name} = (", *(f"\t{part}" for part in parts), ")"]

    def stem(self, node: ast.AST) -> str:
        """A word for an expression: its last name."""
        if isinstance(node, ast.Name):
            return node.id.strip("_") or "value"
        if isinstance(node, ast.Attribute):
            return self.stem(node.value) if node.attr == "data" else node.attr.strip("_") or self.stem(node.value)
        if isinstance(node, ast.Subscript):
            index = node.slice.value if isinstance(node.slice, ast.Constant) else None
            return index if isinstance(index, str) and index.isidentifier() else self.stem(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner, calls = self.peeled(node)
            return "_".join((self.stem(owner), *(calls if len(calls) < 3 else calls[-1:])))
        return self.stem(node.left) if isinstance(node, ast.BinOp) else "value"

    def peeled(self, node: ast.expr) -> tuple[ast.expr, list[str]]:
        """`x` of `x.abs().max()` or `torch.max(x)`, and the names of the calls."""
        calls: list[str] = []
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            calls.insert(0, node.func.attr)
            node = node.args[0] if self.module.resolve(node.func) and node.args else node.func.value
        return node, calls

    def list_names(self, read: ast.AST, word: str) -> list[str]:
        """What a reviewer would call a list of numbers: `losses` for `loss`, or for what keeps one of them."""
        kept = self.module.parent(read)
        target = kept.targets[0] if isinstance(kept, ast.Assign) and len(kept.targets) == 1 else None
        words = [word, target.id if isinstance(target, ast.Name) and "_" in word else ""]
        words = [re.sub(r"_(?:dict|tensors?|t)$", "", each) for each in words]
        many = [many_of(each) for each in reversed(words) if len(each) > 2]
        return [*many, f"{one_of(words[0])}_list"]

    # Whether something stays as it is

    def check_unchanged(self, node: ast.expr, statements: Iterable[ast.AST], when: str) -> list[str]:
        """Caveats about code that cannot be followed; Unsure where the text has a write."""
        doubt = what_changes(self.project, self.module, node, statements)
        if doubt is None:
            return []
        if doubt.is_seen:
            raise Unsure(f"`{self.text(node)}` may change {when}: {doubt.text}")
        return [f"`{self.text(node)}` must not change {when}: {doubt.text}"]

    def is_pure(self, node: ast.AST) -> bool:
        """Whether an expression may be evaluated once instead of many times, and sooner."""
        if isinstance(node, ast.Call):
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            dotted = self.module.resolve(node.func) or ""
            is_torch = dotted.startswith("torch.") and dotted.rpartition(".")[2] in PURE_METHODS
            is_method = not dotted and method in PURE_METHODS and self.is_pure(node.func.value)  # type: ignore[attr-defined]
            is_builtin = self.module.scopes.is_builtin(node.func, *PURE_BUILTINS)
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            return (is_torch or is_method or is_builtin) and all(map(self.is_pure, arguments))
        if isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda, ast.JoinedStr)):
            return False
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Starred)):
            return False
        if isinstance(node, ast.Attribute) and self.tensors.names.read(self.module, node):
            return False  # a property: what it does is its own affair
        return all(self.is_pure(child) for child in ast.iter_child_nodes(node))


def names_in(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def many_of(word: str) -> str:
    """`losses` for `loss`; a plural as it is."""
    if word.endswith("s") and not word.endswith("ss"):
        return word
    if word.endswith(("ss", "x", "ch", "sh")):
        return f"{word}es"
    return f"{word[:-1]}ies" if re.search("[^aeiou]y$", word) else f"{word}s"


def one_of(word: str) -> str:
    """`action` for `actions`."""
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    is_plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "abs"))
    return word[:-1] if is_plural else word
