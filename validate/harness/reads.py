"""What a constructor reads from the config that it is given: `config.dim`, `config["dim"]`, `config.get("dim")`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from fullgraph.validate.drafting.evaluate import Scope
from fullgraph.validate.drafting.library import Definition, Functions
from fullgraph.validate.drafting.parameters import constructor_of

DEEPEST = 4


@dataclass
class Reads:
    """Names that must be there, and names that are asked for first; `as_object` if by a dot."""

    needed: set[str] = field(default_factory=set)
    optional: set[str] = field(default_factory=set)
    as_object: bool = False
    as_mapping: bool = False
    deep: bool = False

    def add(self, other: Reads) -> None:
        self.needed |= other.needed
        self.optional |= other.optional
        self.as_object |= other.as_object
        self.as_mapping |= other.as_mapping
        self.deep |= other.deep


def reads_of(owner: Definition, name: str, scope: Scope, depth: int = 0) -> Reads:
    """All methods are looked at: a config is often kept on self. Classes that it is handed on to count as well."""
    found = Reads()
    init = scope.library.member(owner, "__init__")
    if init is None or not isinstance(init.node, Functions):
        return found
    kept = {f"self.{kept}" for kept in kept_as(init.node, name)}
    for node in ast.walk(init.node):
        note_read(node, {name, *kept}, found)
    for one in scope.library.bases(owner):
        if one.module.name.startswith("torch."):
            break
        for node in ast.walk(one.node):
            note_read(node, kept, found)
    for inner, parameter in handed_on(init, {name, *kept}, scope) if depth < DEEPEST else ():
        found.add(reads_of(inner, parameter, scope, depth + 1))
    found.needed -= found.optional
    return found


def kept_as(init: ast.AST, name: str) -> Iterator[str]:
    """The attributes of self that the parameter is assigned to."""
    for node in ast.walk(init):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
            yield from (target.attr for target in node.targets if isinstance(target, ast.Attribute))


def note_read(node: ast.AST, names: set[str], found: Reads) -> None:
    if isinstance(node, ast.Attribute) and spelled(node.value) in names:
        if node.attr not in ("get", "items", "keys", "values"):
            found.needed.add(node.attr)
            found.as_object = True
    elif isinstance(node, ast.Subscript) and spelled(node.value) in names:
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            found.needed.add(node.slice.value)
            found.as_mapping = True
    elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name)):
        note_call(node, names, found)
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.value, (ast.Attribute, ast.Subscript)):
        found.deep |= spelled(node.value.value) in names


def note_call(node: ast.Call, names: set[str], found: Reads) -> None:
    """`config.get("dim", 8)`, `getattr(config, "dim", 8)` and `hasattr(config, "dim")`."""
    words = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and spelled(node.func.value) in names:
        found.optional |= set(words[:1])
        found.as_mapping = True
    elif spelled(node.func) in ("getattr", "hasattr") and node.args and spelled(node.args[0]) in names:
        found.optional |= set(words[:1])
        found.as_object = True


def handed_on(init: Definition, names: set[str], scope: Scope) -> Iterator[tuple[Definition, str]]:
    """Classes of the project that get the config as it is, and the parameter that they get it as."""
    for node in ast.walk(init.node):
        inner = scope.library.find(init.module.dotted(node.func)) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or inner is None or not inner.is_class:
            continue
        wanted = [one.name for one in constructor_of(inner, scope) or []]
        given = [*zip(wanted, node.args, strict=False), *((word.arg, word.value) for word in node.keywords)]
        yield from ((inner, name) for name, value in given if name and spelled(value) in names)


def spelled(node: ast.AST) -> str:
    """`config` or `self.config`; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return f"self.{node.attr}" if is_own and isinstance(node, ast.Attribute) else ""
