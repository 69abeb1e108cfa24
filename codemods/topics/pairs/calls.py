"""What calls yield: builtins that count, `itertools` that pair, and the project's own annotated functions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.pairs.annotations import meaning, shape_said
from fullgraph.codemods.topics.pairs.shapes import Many, Nothing, Pair, Shape, Table, Whole, element, join

if TYPE_CHECKING:
    from fullgraph.codemods.topics.pairs.values import Values


def shape_of_call(values: Values, module: Module, call: ast.Call) -> Shape | None:
    """What is certain about the result of a call."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    name = meaning(module, call.func)
    if name in CALLS:
        return CALLS[name](values, module, call)
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("keys", "items") and not call.args:
        table = values.shape(module, call.func.value)
        keys = table.key if isinstance(table, Table) else None
        return None if keys is None else Many(keys if call.func.attr == "keys" else Pair(keys, None))
    return returned(values, module, call.func)


def elements(values: Values, module: Module, call: ast.Call) -> list[Shape | None]:
    """What each argument yields when it is iterated over."""
    return [element(values.shape(module, argument)) for argument in call.args]


def collected(values: Values, module: Module, call: ast.Call) -> Shape | None:
    if not call.args:
        return Many(Nothing())
    inner = elements(values, module, call)[0]
    return Many(inner) if inner else None


def collected_tuple(values: Values, module: Module, call: ast.Call) -> Shape | None:
    """`tuple(sorted((a, b)))` and `tuple((a, b))` are pairs still."""
    source = call.args[0] if call.args else None
    if isinstance(source, ast.Call) and meaning(module, source.func) in ("sorted", "reversed") and source.args:
        two = source.args[0]
        if isinstance(values.shape(module, two), Pair) or (isinstance(two, ast.List) and len(two.elts) == 2):
            inner = elements(values, module, source)[0]
            return Pair(inner, inner)
    shape = values.shape(module, source) if source else None
    return shape if isinstance(shape, Pair) else collected(values, module, call)


def chosen(values: Values, module: Module, call: ast.Call) -> Shape | None:
    of_two = len(call.args) == 2 and isinstance(call.args[1], ast.Constant) and call.args[1].value == 2
    inner = elements(values, module, call)[0] if of_two else None
    return Many(Pair(inner, inner)) if inner else None


def product(values: Values, module: Module, call: ast.Call) -> Shape | None:
    parts = elements(values, module, call)
    repeat = call.keywords[0].value if len(call.keywords) == 1 else None
    if len(parts) == 1 and isinstance(repeat, ast.Constant) and repeat.value == 2:
        return Many(Pair(parts[0], parts[0]))
    return Many(Pair(parts[0], parts[1])) if len(parts) == 2 and not call.keywords else None


def ranged(values: Values, module: Module, call: ast.Call) -> Shape | None:
    if not call.args or call.keywords:
        return None
    stop = call.args[0] if len(call.args) == 1 else call.args[1]
    start = values.whole(module, call.args[0]) if len(call.args) > 1 else Whole(True)
    step = values.whole(module, call.args[2]) if len(call.args) > 2 else Whole(True)
    if step is None or not step.natural:
        return Many(Whole())
    below = values.bound(module, stop)
    return Many(Whole(start.natural, below, start.negative) if start else Whole(False, below))


def enumerated(values: Values, module: Module, call: ast.Call) -> Shape | None:
    start = call.args[1] if len(call.args) > 1 else call.keywords[0].value if call.keywords else None
    first = values.whole(module, start) if start else Whole(True)
    of = elements(values, module, call)[0] if call.args else None
    return Many(Pair(Whole(first.natural) if first else None, of))


def zipped(values: Values, module: Module, call: ast.Call) -> Shape | None:
    parts = elements(values, module, call)
    return Many(Pair(parts[0], parts[1])) if len(parts) == 2 else None


def counted(values: Values, module: Module, call: ast.Call) -> Shape | None:
    return Whole(True)


def rounded(values: Values, module: Module, call: ast.Call) -> Shape | None:
    inner = values.whole(module, call.args[0]) if len(call.args) == 1 else None
    return inner or Whole()


def extreme(values: Values, module: Module, call: ast.Call) -> Shape | None:
    several = [values.shape(module, argument) for argument in call.args]
    joined = join(several if len(several) > 1 else elements(values, module, call))
    return joined if isinstance(joined, Whole) and not call.keywords else None


def absolute(values: Values, module: Module, call: ast.Call) -> Shape | None:
    return Whole(True) if call.args and values.whole(module, call.args[0]) else None


def divided(values: Values, module: Module, call: ast.Call) -> Shape | None:
    wholes = [values.whole(module, argument) for argument in call.args]
    return Pair(Whole(), Whole()) if len(wholes) == 2 and all(wholes) else None


def returned(values: Values, module: Module, function: ast.expr) -> Shape | None:
    """What the return annotation of a function of the project says."""
    home: Module | None = module
    name = function.id if isinstance(function, ast.Name) else ""
    if dotted := module.resolve(function):
        path = values.project.path_of(dotted.rpartition(".")[0])
        try:
            home = values.project.module(path) if path else None
        except SourceError:
            return None
        name = dotted.rpartition(".")[2]
    bindings = home.scopes.bound.get(home.tree, {}).get(name, []) if home else []
    node = bindings[0].node if len(bindings) == 1 else None
    if home and isinstance(node, ast.FunctionDef) and not node.decorator_list:
        return shape_said(home, node.returns, values.project)
    return None


CALLS: dict[str | None, Callable[[Values, Module, ast.Call], Shape | None]] = {
    **dict.fromkeys(("list", "set", "frozenset", "sorted", "reversed", "iter"), collected),
    **dict.fromkeys(("itertools.combinations", "itertools.permutations"), chosen),
    "itertools.combinations_with_replacement": chosen,
    "itertools.product": product,
    "tuple": collected_tuple,
    "range": ranged,
    "enumerate": enumerated,
    "zip": zipped,
    "len": counted,
    "int": rounded,
    "min": extreme,
    "max": extreme,
    "abs": absolute,
    "divmod": divided,
}
