"""What functions of torch and methods of tensors make."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.tensors.known import NUMBER, UNKNOWN, Device, Kind, Known, tensor
from fullgraph.codemods.syntax.tensors.tables import (
    BOOL_ELEMENTWISE,
    BOOL_REDUCTIONS,
    BROADCASTS,
    CASTS,
    COUNTING,
    DTYPES,
    FACTORIES,
    FLATTENERS,
    FLOAT_ELEMENTWISE,
    FLOAT_REDUCTIONS,
    INT_REDUCTIONS,
    LIKE,
    LOSSES,
    MOVES,
    REDUCTIONS,
    RESHAPERS,
    SAME_ELEMENTWISE,
    SAME_REDUCTIONS,
)

PAIRS = {"max", "min", "median", "mode", "sort", "topk", "kthvalue"}
"""With a dimension they return values and positions."""


def torch_call(dotted: str, call: ast.Call, given: Sequence[Known], whole: set[ast.expr]) -> Known:
    """What a function of torch makes of what is known about its arguments; `whole` are those that are integers."""
    name = dotted.rpartition(".")[2]
    if name.endswith(("List", "Dict")):
        return Known("list" if name.endswith("List") else "dict")
    if dotted.startswith("torch.distributions."):
        return Known("distribution") if name[:1].isupper() else tensor()
    if dotted.startswith("torch.nn.functional.") and name in LOSSES:
        return loss(call, given)
    if dotted.startswith(("torch.nn.functional.", "torch.linalg.")) or dotted == f"torch.{name}":
        if name in FACTORIES | COUNTING | {"tensor"} and dotted == f"torch.{name}":
            return made(name, call, whole)
        if name in LIKE and given:
            return given[0].but(what="tensor", kind=dtype_of(call) or given[0].kind)
        if name in ("stack", "cat", "concat"):
            return joined(name, call, given)
        if name in METHODS and given:
            return method_of(given[0].but(what="tensor"), name, call, ast.Call(call.func, call.args[1:], call.keywords))
        if dotted == f"torch.{name}" and name[:1].islower() and given and all(item.is_tensor for item in given):
            return tensor(devices=frozenset().union(*(item.devices for item in given)))
    return UNKNOWN


def loss(call: ast.Call, given: Sequence[Known]) -> Known:
    reductions = [keyword.value for keyword in call.keywords if keyword.arg == "reduction"]
    is_one = all(isinstance(value, ast.Constant) and value.value in ("mean", "sum") for value in reductions)
    devices = frozenset().union(*(item.devices for item in given)) if given else frozenset()
    return tensor("float", 0 if is_one and len(call.args) < 3 else None, devices)


def made(name: str, call: ast.Call, whole: set[ast.expr]) -> Known:
    """A new tensor: its kind by `dtype` or by custom, its shape by the sizes, its device by `device`."""
    device = next((ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg == "device"), "")
    devices: frozenset[Device] = frozenset({(None, f"device={device}")})
    kind = dtype_of(call)
    is_told = any(keyword.arg == "dtype" for keyword in call.keywords)
    if name == "tensor":
        return tensor(
            kind or ("" if is_told or not call.args else of_literal(call.args[0])), literal_dims(call), devices
        )
    if not is_told:
        kind = "float" if name in FACTORIES - {"full", "empty"} else kind
        is_counted = name in ("randperm", "randint") or (name == "arange" and all(item in whole for item in call.args))
        kind = "int" if is_counted else kind
    ndim = (
        1
        if name in ("linspace", "logspace", "arange", "randperm")
        else 2
        if name == "eye"
        else sizes(name, call, whole)
    )
    found = tensor(kind, ndim, devices)
    return found.but(shape=found.shape or (f"{name} {ast.unparse(call.args[0])}" if len(call.args) == 1 else ""))


def sizes(name: str, call: ast.Call, whole: set[ast.expr]) -> int | None:
    """How many dimensions `zeros(2, 3)` or `zeros((2, 3))` has; a single size may be a tuple by another name."""
    arguments = call.args[:1] if name == "full" else call.args
    if name == "randint":
        arguments = [argument for argument in call.args if isinstance(argument, ast.Tuple)]
    if len(arguments) == 1 and isinstance(arguments[0], (ast.Tuple, ast.List)):
        return None if any(isinstance(size, ast.Starred) for size in arguments[0].elts) else len(arguments[0].elts)
    if not arguments or any(isinstance(argument, ast.Starred) for argument in arguments):
        return None
    return len(arguments) if len(arguments) > 1 or arguments[0] in whole else None


def dtype_of(call: ast.Call) -> Kind:
    """The kind of numbers that `dtype=` names."""
    for keyword in call.keywords:
        if keyword.arg == "dtype" and isinstance(keyword.value, ast.Attribute):
            return DTYPES.get(keyword.value.attr, "")
    return ""


def of_literal(node: ast.expr) -> Kind:
    """The kind of numbers in a literal, as `torch.tensor` takes it: all of one kind, or any float among ints."""
    numbers = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
    is_literal = all(
        isinstance(n, (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.USub, ast.Load)) for n in ast.walk(node)
    )
    kinds = {type(number) for number in numbers}
    if not is_literal or not kinds <= {float, int, bool}:
        return ""
    return "float" if float in kinds else "int" if kinds == {int} else "bool" if kinds == {bool} else ""


def literal_dims(call: ast.Call) -> int | None:
    node, dims = (call.args[0] if call.args else None), 0
    while isinstance(node, (ast.List, ast.Tuple)) and node.elts:
        node, dims = node.elts[0], dims + 1
    return dims if isinstance(node, (ast.Constant, ast.UnaryOp)) else None


def joined(name: str, call: ast.Call, given: Sequence[Known]) -> Known:
    """`stack` and `cat` of a list: kinds and devices as in the list, one more dimension for `stack`."""
    item = (given[0].item if given else None) or UNKNOWN
    ndim = None if item.ndim is None else item.ndim + (name == "stack")
    return tensor(item.kind, ndim, item.devices)


def method_of(owner: Known, name: str, call: ast.Call, arguments: ast.Call | None = None) -> Known:
    """What a method makes of a tensor. `arguments`: the call without the tensor, where that is an argument too."""
    given = arguments or call
    if name in CASTS:
        return owner.but(kind=CASTS[name])
    if name in MOVES:
        return moved(owner, name, given)
    if name in REDUCTIONS:
        return reduced(owner, name, given)
    if name in FLATTENERS:
        return owner.but(ndim=1 if not given.args else None, shape="")
    if name in ("view", "reshape"):
        ndim = viewed(given)
        return owner.but(ndim=ndim, shape="", kind=owner.kind if ndim is not None or name == "reshape" else "")
    if name in FLOAT_ELEMENTWISE:
        return owner.but(kind="float")
    if name in BOOL_ELEMENTWISE | SAME_ELEMENTWISE:
        owner = owner.but(kind="bool") if name in BOOL_ELEMENTWISE else owner
        values = [*given.args, *(keyword.value for keyword in given.keywords)]
        may_grow = name in BROADCASTS | BOOL_ELEMENTWISE and not all(map(is_number, values))
        return owner.but(ndim=None, shape="") if may_grow else owner
    if name in PAIRS:
        return Known("list", item=owner.but(shape=""))
    if name == "nonzero":
        is_tuple = bool(given.args or given.keywords)
        return Known("list", item=tensor("int", 1, owner.devices)) if is_tuple else tensor("int", 2, owner.devices)
    return owner.but(ndim=None, shape="") if name in RESHAPERS else tensor(devices=owner.devices)


def moved(owner: Known, name: str, call: ast.Call) -> Known:
    """The same numbers elsewhere or of another dtype: `to` is told both by one argument."""
    if name in ("type", "type_as"):
        return owner.but(kind="")
    texts = [ast.unparse(argument) for argument in (*call.args, *(keyword.value for keyword in call.keywords))]
    is_device = [("device" in text or text in ("'cpu'", "'cuda'", "True")) for text in texts]
    kind: Kind = owner.kind if all(is_device) else ""
    named: list[Kind] = [DTYPES.get(text.rpartition(".")[2], "") for text in texts if "." in text]
    kind = next((each for each in named if each), kind)
    text = "device='cpu'" if name == "cpu" else f"device={texts[0]}" if texts and is_device[0] else ""
    return owner.but(kind=kind, devices=frozenset({(None, text)}) if text else frozenset())


def viewed(call: ast.Call) -> int | None:
    shape = call.args[0].elts if len(call.args) == 1 and isinstance(call.args[0], ast.Tuple) else call.args
    return len(shape) if shape and all(map(is_number, shape)) else None


def is_number(node: ast.expr) -> bool:
    """A number that is written out: `3`, `-1`, `0.5`."""
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def reduced(owner: Known, name: str, call: ast.Call) -> Known:
    kinds: dict[bool, Kind] = {
        name in FLOAT_REDUCTIONS: "float",
        name in INT_REDUCTIONS: "int",
        name in BOOL_REDUCTIONS: "" if owner.kind in ("", "int") else "bool",
        name in SAME_REDUCTIONS: owner.kind,
    }
    kind: Kind = kinds.get(True, "int" if owner.kind == "bool" else owner.kind)
    keywords = {keyword.arg for keyword in call.keywords}
    is_whole = not call.args or (name == "norm" and len(call.args) == 1)
    if is_whole and not keywords & {"dim", "axis", "keepdim"}:
        return owner.reduced(kind, None, name)
    result = owner.reduced(kind, 1, "over " + ", ".join(map(ast.unparse, [*call.args, *call.keywords])))
    dims = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "dim")]
    is_one = len(dims) == 1 and is_number(dims[0]) and keywords <= {"dim", "unbiased"}
    if name in PAIRS:
        return Known("list", item=result) if is_one else UNKNOWN
    return result if is_one else result.but(ndim=None, shape="")


def made_by(module: Module, call: ast.Call) -> Known:
    """What a builtin makes."""
    if module.scopes.is_builtin(call.func, "len", "int", "float", "bool", "sum", "round"):
        return NUMBER if not module.scopes.is_builtin(call.func, "sum") else UNKNOWN
    if module.scopes.is_builtin(call.func, "list", "sorted", "tuple"):
        return Known("list")
    return Known("dict") if module.scopes.is_builtin(call.func, "dict") else UNKNOWN


METHODS = (
    REDUCTIONS | FLOAT_ELEMENTWISE | SAME_ELEMENTWISE | BOOL_ELEMENTWISE | FLATTENERS | PAIRS | {"reshape", "nonzero"}
)
