"""What the project itself gives to a constructor: `Net(cfg["net"]["dim"])`, `Net(NetConfig(**cfg))`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.validate.drafting.evaluate import Scope
from fullgraph.validate.drafting.library import Definition, Module
from fullgraph.validate.drafting.parameters import Parameter
from fullgraph.validate.harness.config import Config, Keys


def paths_given(found: Definition, parameters: list[Parameter], config: Config, scope: Scope) -> dict[str, Keys]:
    """By parameter: the keys of what is passed, where the config has something under them. The first call counts."""
    given: dict[str, Keys] = {}
    for name, node, _ in arguments_of(found, parameters, scope):
        if keys := known_keys(keys_of(node), config):
            given.setdefault(name, keys)
    return given


def classes_given(found: Definition, parameters: list[Parameter], scope: Scope) -> dict[str, Definition]:
    """By parameter: the class of the project whose object is made for it, there or in an assignment before."""
    given: dict[str, Definition] = {}
    for name, node, module in arguments_of(found, parameters, scope):
        made = assigned_to(node.id, module) if isinstance(node, ast.Name) else node
        kind = scope.library.find(module.dotted(made.func)) if isinstance(made, ast.Call) else None
        if kind is not None and kind.is_class and not kind.module.name.startswith("torch."):
            given.setdefault(name, kind)
    return given


def arguments_of(
    found: Definition, parameters: list[Parameter], scope: Scope
) -> Iterator[tuple[str, ast.expr, Module]]:
    """Every argument of every call in the project, with the parameter that it is for and the module that it is in."""
    names = [one.name for one in parameters if one.kind in ("positional", "plain")]
    for call, module in scope.library.calls_of(found):
        pairs = [*zip(names, call.args, strict=False), *((word.arg, word.value) for word in call.keywords)]
        yield from ((name, node, module) for name, node in pairs if name)


def assigned_to(name: str, module: Module) -> ast.expr | None:
    """What the module assigns to a variable, if it does so once."""
    targets = [(node.targets[0], node.value) for node in ast.walk(module.tree) if isinstance(node, ast.Assign)]
    values = [value for target, value in targets if isinstance(target, ast.Name) and target.id == name]
    return values[0] if len(values) == 1 else None


def known_keys(keys: Keys, config: Config) -> Keys:
    """The longest end of the keys under which the config has something: its beginning may be a variable's own."""
    return next((keys[start:] for start in range(len(keys)) if config.has(keys[start:])), ())


def keys_of(node: ast.AST) -> Keys:
    """`("net", "dim")` for `cfg["net"].dim`, and for `cfg.net.get("dim", 8)`; a variable or `self` begins it."""
    if isinstance(node, ast.Attribute):
        is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        return () if is_own else (*keys_of(node.value), node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return (*keys_of(node.value), node.slice.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        word = node.args[0]
        is_word = isinstance(word, ast.Constant) and isinstance(word.value, str)
        return (*keys_of(node.func.value), str(word.value)) if is_word and isinstance(word, ast.Constant) else ()
    return ()
