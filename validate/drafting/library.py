"""The modules that can be read as text, and where the names in them are defined."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Functions = (ast.FunctionDef, ast.AsyncFunctionDef)
Read = Callable[[str], tuple[bytes, bool] | None]
"""From a module's dotted name to its bytes, and whether it is a package."""

Mention = Callable[[str], list[str]]


@dataclass(frozen=True)
class Definition:
    """A function, a class or an assigned value, with the module whose names it uses."""

    module: Module = field(compare=False)
    name: str
    node: ast.AST = field(compare=False)

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)


class Module:
    """One parsed module: what it defines at its top level, and what it imports under which name."""

    def __init__(self, name: str, tree: ast.Module, is_package: bool) -> None:
        self.name = name
        self.tree = tree
        self.is_package = is_package
        self.imports: dict[str, str] = {}
        self.stars: list[str] = []
        for node in ast.walk(tree):
            self._add_import(node)

    def _add_import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.imports[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            origin = self._origin(node)
            self.stars += [origin for alias in node.names if alias.name == "*"]
            self.imports |= {alias.asname or alias.name: f"{origin}.{alias.name}" for alias in node.names}

    def _origin(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        kept = parts[: len(parts) - node.level + self.is_package]
        return ".".join([*kept, *([node.module] if node.module else [])])

    @cached_property
    def names(self) -> dict[str, ast.AST]:
        """What is defined at the top level, also inside `if` and `try`; the last definition counts."""
        return dict(defined_in(self.tree.body))

    def dotted(self, node: ast.AST | None) -> str:
        """The full name behind `nn.Linear` or a local name; empty for anything else."""
        if isinstance(node, ast.Attribute):
            holder = self.dotted(node.value)
            return f"{holder}.{node.attr}" if holder else ""
        if not isinstance(node, ast.Name):
            return ""
        if node.id in self.names:
            return f"{self.name}.{node.id}"
        return self.imports.get(node.id, node.id)


def defined_in(body: list[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    for node in body:
        if isinstance(node, (*Functions, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, ast.Assign):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            for block in ("body", "orelse", "finalbody"):
                yield from defined_in(getattr(node, block, []))


class Library:
    """Modules by name, read when they are first asked for. `mention` gives the modules in which a word occurs."""

    def __init__(self, read: Read, mention: Mention = lambda word: []) -> None:
        self.read = read
        self.mention = mention
        self.known: dict[str, Module | None] = {}
        self.steps = 0
        """Expressions that have been evaluated on the way; there is an end to it."""

    def module(self, name: str) -> Module | None:
        if name not in self.known:
            self.known[name] = None
            found = self.read(name)
            if found:
                self.known[name] = self._parse(name, *found)
        return self.known[name]

    def _parse(self, name: str, raw: bytes, is_package: bool) -> Module | None:
        try:
            return Module(name, ast.parse(raw), is_package)
        except (SyntaxError, ValueError, RecursionError):
            return None

    def find(self, dotted: str, hops: int = 8) -> Definition | None:
        """Where a full name is defined, through imports and re-exports."""
        parts = dotted.split(".")
        for length in range(len(parts) - 1, 0, -1):
            module = self.module(".".join(parts[:length]))
            if module:
                return self.find_in(module, parts[length:], hops)
        return None

    def find_in(self, module: Module, parts: list[str], hops: int = 8) -> Definition | None:
        first, *rest = parts
        if first in module.names:
            return self._inside(Definition(module, first, module.names[first]), rest)
        if hops <= 0:
            return None
        if first in module.imports:
            return self.find(".".join([module.imports[first], *rest]), hops - 1)
        for star in module.stars:
            origin = self.module(star)
            found = self.find_in(origin, parts, hops - 1) if origin and origin is not module else None
            if found:
                return found
        return None

    def _inside(self, found: Definition, rest: list[str]) -> Definition | None:
        for part in rest:
            member = self.member(found, part)
            if member is None:
                return None
            found = Definition(member.module, f"{found.name}.{part}", member.node)
        return found

    # Classes

    def bases(self, found: Definition) -> Iterator[Definition]:
        """The class itself and the classes it is derived from, as far as they can be read."""
        yield found
        for base in found.node.bases if isinstance(found.node, ast.ClassDef) else []:
            plain = base.value if isinstance(base, ast.Subscript) else base
            inner = self.find(found.module.dotted(plain))
            if inner and inner.is_class and inner.node is not found.node:
                yield from self.bases(inner)

    def base_names(self, found: Definition) -> set[str]:
        """The full names of all bases, also of those that cannot be read."""
        return {
            one.module.dotted(base)
            for one in self.bases(found)
            if isinstance(one.node, ast.ClassDef)
            for base in one.node.bases
        }

    def member(self, found: Definition, name: str) -> Definition | None:
        """What a class holds under a name, its bases included."""
        for one in self.bases(found):
            held = dict(defined_in(one.node.body)) if isinstance(one.node, ast.ClassDef) else {}
            if name in held:
                return Definition(one.module, f"{one.name}.{name}", held[name])
        return None

    def is_torch_module(self, found: Definition) -> bool:
        """Whether a class is an nn.Module; one that is derived from anything else in torch.nn counts as one."""
        names = {f"{one.module.name}.{one.name}" for one in self.bases(found)} | self.base_names(found)
        return any(name == "torch.nn.modules.module.Module" or name.startswith("torch.nn.") for name in names)

    def calls_of(self, found: Definition) -> Iterator[tuple[ast.Call, Module]]:
        """Where the project calls a function or a class by its name."""
        name = found.name.rpartition(".")[2]
        for module in filter(None, map(self.module, self.mention(name))):
            for node in ast.walk(module.tree):
                if not isinstance(node, ast.Call) or last_name(node.func) != name:
                    continue
                if "." in found.name or self.is_same(module.dotted(node.func), found):
                    yield node, module

    def is_same(self, dotted: str, found: Definition) -> bool:
        other = self.find(dotted)
        return other is not None and other.node is found.node


def last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
