"""The parameters of a function or a constructor, one by one, with all that is written about them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.validate.drafting.construct import fields_of, is_dataclass
from fullgraph.validate.drafting.evaluate import Scope
from fullgraph.validate.drafting.library import Definition, Functions, Module


@dataclass(frozen=True)
class Parameter:
    """One parameter. `kind`: positional (only), plain, keyword (only), star or stars."""

    name: str
    annotation: ast.expr | None
    default: ast.expr | None
    kind: str
    module: Module

    @property
    def is_needed(self) -> bool:
        return self.default is None and self.kind not in ("star", "stars")

    @property
    def written(self) -> str:
        """The annotation as it is written."""
        return ast.unparse(self.annotation) if self.annotation else ""


def parameters_of(found: Definition, skip_first: bool = False) -> list[Parameter]:
    """The parameters of a function, without self or cls if it is a method."""
    node = found.node
    if not isinstance(node, Functions):
        return []
    every = list(read_parameters(node.args, found.module))
    return every[1:] if skip_first else every


def read_parameters(args: ast.arguments, module: Module) -> Iterator[Parameter]:
    positional = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    for index, (one, default) in enumerate(zip(positional, defaults, strict=True)):
        kind = "positional" if index < len(args.posonlyargs) else "plain"
        yield Parameter(one.arg, annotation(one), default, kind, module)
    if args.vararg:
        yield Parameter(args.vararg.arg, annotation(args.vararg), None, "star", module)
    for one, extra in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield Parameter(one.arg, annotation(one), extra, "keyword", module)
    if args.kwarg:
        yield Parameter(args.kwarg.arg, annotation(args.kwarg), None, "stars", module)


def annotation(one: ast.arg) -> ast.expr | None:
    return unquoted(one.annotation)


def unquoted(node: ast.expr | None) -> ast.expr | None:
    """An annotation that is written as a string is read as one that is not."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return ast.parse(node.value, mode="eval").body
        except SyntaxError:
            return None
    return node


def constructor_of(found: Definition, scope: Scope) -> list[Parameter] | None:
    """What a class is made with; None if its constructor cannot be read."""
    library = scope.library
    if is_dataclass(found):
        return [
            Parameter(name, unquoted(hint), default, "plain", found.module)
            for name, hint, default in fields_of(found, scope)
            if not is_left_out(default)
        ]
    init = library.member(found, "__init__")
    if init is not None:
        found_parameters = parameters_of(init, skip_first=True)
        if all(one.kind in ("star", "stars") for one in found_parameters):
            return overloaded(found, scope) or found_parameters
        return found_parameters
    unread = {name for name in library.base_names(found) if library.find(name) is None}
    return None if unread - {"object", "torch.nn.Module", "abc.ABC", "ABC"} else []


def overloaded(found: Definition, scope: Scope) -> list[Parameter] | None:
    """The first signature that `@overload` gives a constructor which takes anything."""
    for one in scope.library.bases(found):
        for node in one.node.body if isinstance(one.node, ast.ClassDef) else []:
            if isinstance(node, ast.FunctionDef) and node.name == "__init__" and is_overload(node):
                return parameters_of(Definition(one.module, "__init__", node), skip_first=True)
    return None


def is_overload(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(decorator).endswith("overload") for decorator in node.decorator_list)


def is_left_out(default: ast.expr | None) -> bool:
    """`field(init=False)` is none of the constructor's business."""
    words = default.keywords if isinstance(default, ast.Call) else []
    return any(word.arg == "init" and isinstance(word.value, ast.Constant) and not word.value.value for word in words)


def snake(name: str) -> str:
    """`demand_net` for DemandNet, `char_rnn` for CharRNN, and `vit` for ViT."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z][A-Za-z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
