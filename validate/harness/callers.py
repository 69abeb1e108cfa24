"""What the project itself takes from its config for a constructor: `Net(cfg["net"]["dim"], heads=cfg.heads)`."""

from __future__ import annotations

import ast

from validate.drafting.evaluate import Scope
from validate.drafting.library import Definition
from validate.drafting.parameters import Parameter
from validate.harness.config import Config, Keys


def paths_given(found: Definition, parameters: list[Parameter], config: Config, scope: Scope) -> dict[str, Keys]:
    """By parameter: the keys of what is passed, where the config has something under them. The first call counts."""
    names = [one.name for one in parameters if one.kind in ("positional", "plain")]
    given: dict[str, Keys] = {}
    for call, _ in scope.library.calls_of(found):
        pairs = [*zip(names, call.args, strict=False), *((word.arg, word.value) for word in call.keywords)]
        for name, node in pairs:
            keys = known_keys(keys_of(node), config)
            if name and keys:
                given.setdefault(name, keys)
    return given


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
