"""Plain values that the project itself passes: the best guess for a size or a mode is one that is in use."""

from __future__ import annotations

import ast
from typing import Any

from fullgraph.validate.drafting.evaluate import Scope, evaluate
from fullgraph.validate.drafting.library import Definition
from fullgraph.validate.drafting.parameters import Parameter

PLAIN = (bool, int, float, str)


def passed_values(found: Definition, parameters: list[Parameter], scope: Scope) -> dict[str, Any]:
    """By parameter: a number, a string or a tuple of them, from the first call that passes one."""
    values: dict[str, Any] = {}
    names = [one.name for one in parameters if one.kind in ("positional", "plain")]
    for call, module in scope.library.calls_of(found):
        given: dict[str, ast.expr] = dict(zip(names, call.args, strict=False))
        given |= {word.arg: word.value for word in call.keywords if word.arg}
        for name, node in given.items():
            value = evaluate(node, Scope(scope.library, module))
            if is_plain(value):
                values.setdefault(name, value)
    return values


def is_plain(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return 0 < len(value) <= 6 and all(isinstance(part, PLAIN) for part in value)
    return isinstance(value, PLAIN)
