"""Which tensors an expression makes, and whether these calls can be told a device."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from fullgraph.codemods.module import Module

WINDOWS = ("hann", "hamming", "blackman", "bartlett", "kaiser")
FACTORIES = {
    *(
        f"torch.{name}"
        for name in ("zeros", "ones", "empty", "full", "arange", "linspace", "logspace", "eye", "tensor")
    ),
    *(f"torch.{name}_window" for name in WINDOWS),
}
"""With `device=None` each of them does what it does without: it asks for torch's default device."""

RANDOM = {f"torch.{name}" for name in ("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial")}
SHARING = {"torch.from_numpy", "torch.as_tensor", "torch.asarray", "torch.frombuffer"}
COMPUTED = {"torch.linspace", "torch.logspace", *(f"torch.{name}_window" for name in WINDOWS)}
"""Those whose numbers may differ in the last bit from one device to another."""

COLLECTING = {f"torch.{name}" for name in ("stack", "cat", "concat", "hstack", "vstack")}
SHAPING = {f"torch.{name}" for name in ("tril", "triu", "flip", "flatten", "reshape", "unsqueeze", "transpose")}
CONTAINERS = {"dict", "list", "tuple", "deque", "defaultdict", "OrderedDict"}
KEEPING = {
    *("float", "double", "half", "bfloat16", "long", "int", "short", "bool", "to", "type", "clone", "contiguous"),
    *("view", "reshape", "unsqueeze", "squeeze", "expand", "repeat", "flatten", "t", "permute", "transpose"),
    *("fill_", "zero_", "neg", "tril", "triu", "flip", "detach", "logical_not"),
}
"""Methods of a tensor whose result is where the tensor was, and the same on every device."""


@dataclass(frozen=True, slots=True)
class Made:
    """The calls that make tensors on the default device, the devices that others name, and what cannot be told one."""

    calls: tuple[ast.Call, ...] = ()
    placed: tuple[ast.expr, ...] = ()
    refused: tuple[tuple[ast.AST, str], ...] = ()

    def __or__(self, other: Made) -> Made:
        return Made(self.calls + other.calls, self.placed + other.placed, self.refused + other.refused)


def made_by(module: Module, value: ast.expr) -> Made | None:
    """What an expression makes, if it is tensors and nothing else: one, or a list or dict of them."""
    if isinstance(value, ast.Call):
        return made_by_call(module, value)
    if isinstance(value, (ast.List, ast.Tuple)):
        return joined(module, value.elts)
    if isinstance(value, ast.Dict):
        return joined(module, value.values)
    if isinstance(value, ast.IfExp):
        return joined(module, [value.body, value.orelse])
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        return made_by(module, value.elt)
    if isinstance(value, ast.DictComp):
        return made_by(module, value.value)
    if isinstance(value, ast.UnaryOp):
        return made_by(module, value.operand)
    if isinstance(value, ast.Subscript) and is_plain(value.slice):
        return made_by(module, value.value)
    if isinstance(value, ast.BinOp):
        return made_by_operator(module, value)
    if isinstance(value, ast.Lambda) and not value.args.args:
        return made_by(module, value.body)
    return None


def joined(module: Module, values: Iterable[ast.expr]) -> Made | None:
    """What several values make together; numbers and None among them make nothing."""
    whole = Made()
    for value in values:
        made = Made() if isinstance(value, ast.Constant) else made_by(module, value)
        if made is None:
            return None
        whole = whole | made
    return whole if whole != Made() else None


def made_by_operator(module: Module, value: ast.BinOp) -> Made | None:
    """A tensor and a number, two tensors, or a list times a number."""
    sides = [made_by(module, side) for side in (value.left, value.right)]
    made = [side for side in sides if side]
    numbers = [side for side, what in zip((value.left, value.right), sides, strict=True) if not what]
    if len(made) == 2:
        return made[0] | made[1]
    is_repeated = isinstance(value.left, ast.List) and isinstance(value.op, ast.Mult)
    return made[0] if made and (is_repeated or all(is_number(module, side) for side in numbers)) else None


def is_number(module: Module, node: ast.expr) -> bool:
    """Whether an operand is no tensor: a number, an argument annotated as one, or one that is a size elsewhere."""
    if isinstance(node, ast.UnaryOp):
        return is_number(module, node.operand)
    if isinstance(node, ast.BinOp):
        return is_number(module, node.left) and is_number(module, node.right)
    if isinstance(node, ast.Call):
        return (module.resolve(node.func) or "").startswith("math.") or module.scopes.is_builtin(node.func, "len")
    if isinstance(node, ast.Name):
        return is_plain_argument(module, node) or any(is_size(module, name) for name in mentions_of(module, node))
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def is_plain_argument(module: Module, name: ast.Name) -> bool:
    notes = [binding.annotation for binding in module.scopes.bindings(name)]
    return bool(notes) and all(getattr(note, "id", "") in ("int", "float") for note in notes)


def mentions_of(module: Module, name: ast.Name) -> list[ast.Name]:
    return module.scopes.names(module.scopes.of(name), name.id)


def is_size(module: Module, name: ast.Name) -> bool:
    """Whether a name is one of several sizes in `torch.zeros(2, name)`."""
    call = module.parent(name)
    sized = ("torch.zeros", "torch.ones", "torch.empty", "torch.eye")
    is_sized = isinstance(call, ast.Call) and module.resolve(call.func) in sized
    return is_sized and name in call.args and len(call.args) > 1  # type: ignore[union-attr]


def made_by_call(module: Module, call: ast.Call) -> Made | None:
    name = module.resolve(call.func) or ""
    if name in FACTORIES:
        return made_by_factory(module, call)
    if name in RANDOM:
        return Made(refused=((call, f"`{module.code(call.func)}` draws other numbers on another device"),))
    if name in SHARING:
        return Made(refused=((call, f"`{module.code(call.func)}` takes memory that is somewhere already"),))
    if name in COLLECTING and call.args:
        return made_by(module, call.args[0])
    if name in SHAPING and call.args and all(is_plain(item) for item in call.args[1:]):
        return made_by(module, call.args[0])
    if getattr(call.func, "id", "") in CONTAINERS or name.rpartition(".")[2] in CONTAINERS:
        return joined(module, [*call.args, *(item.value for item in call.keywords)])
    if not name and isinstance(call.func, ast.Attribute):
        return made_by_method(module, call, call.func)
    return None


def made_by_factory(module: Module, call: ast.Call) -> Made:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if "device" in given:
        return named_device(module, call, given["device"])
    if None in given or any(isinstance(item, ast.GeneratorExp) for item in call.args):
        return Made(refused=((call, f"`{module.code(call)}` cannot be given a device"),))
    for name in ("pin_memory", "requires_grad", "out"):
        if name in given and getattr(given[name], "value", True):
            return Made(refused=((call, f"`{name}=` ties it to the CPU or to autograd"),))
    return Made(calls=(call,))


def named_device(module: Module, call: ast.Call, device: ast.expr) -> Made:
    if isinstance(device, ast.Constant):
        return Made(refused=((call, f"`{module.code(call)}` names its device"),))
    return Made(placed=(device,))


def made_by_method(module: Module, call: ast.Call, func: ast.Attribute) -> Made | None:
    """A method of a tensor that has just been made."""
    made = made_by(module, func.value)
    if made is None:
        return None
    if func.attr in ("pin_memory", "share_memory_", "numpy", "requires_grad_", "cuda", "cpu"):
        return Made(refused=((call, f"`.{func.attr}()` ties it to where it is"),))
    if func.attr == "to" and not is_dtype(module, call):
        given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "device")]
        return Made(placed=tuple(given[:1])) if given else made
    takes_tensors = any(not is_plain(argument) for argument in call.args)
    return made if func.attr in KEEPING and not takes_tensors else None


def is_dtype(module: Module, call: ast.Call) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg != "dtype")]
    return all((module.resolve(item) or "").startswith("torch.") for item in given)


def is_plain(node: ast.expr) -> bool:
    """Whether an argument of a method that reshapes is a size, and no tensor."""
    return not isinstance(node, ast.Call) or getattr(node.func, "id", "") in ("len", "int")
