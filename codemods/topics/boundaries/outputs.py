"""What is still an output of a compiled call, and what is a new tensor: views, elements and copies."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import Binding
from fullgraph.codemods.syntax.loops import call_name

VIEWS = {
    *("detach", "view", "view_as", "reshape", "reshape_as", "squeeze", "unsqueeze", "flatten", "unflatten", "ravel"),
    *("transpose", "t", "permute", "movedim", "moveaxis", "swapaxes", "swapdims", "adjoint", "expand", "expand_as"),
    *("narrow", "select", "diagonal", "unfold", "as_strided", "broadcast_to", "atleast_1d", "atleast_2d", "atleast_3d"),
    *("unbind", "chunk", "split", "split_with_sizes", "tensor_split", "hsplit", "vsplit", "dsplit", "view_as_real"),
    *("view_as_complex", "real", "imag", "contiguous", "positive", "alias", "values", "items", "get", "pop", "popitem"),
    *("_asdict", "_replace", "to_tuple"),
}
"""Methods whose result shares memory with the tensor, or is an element of the container, that they are called on."""

MAYBE = {
    *("to", "float", "half", "double", "bfloat16", "int", "long", "short", "bool", "byte", "type", "type_as", "cpu"),
    *("cuda", "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_dropout", "numpy"),
}
"""Methods and functions that give back the very tensor where there is nothing to do, else a new one."""
SAME_MODULES = {"torch.nn.Identity", "torch.nn.Flatten", "torch.nn.Unflatten"}
MAYBE_MODULES = {"torch.nn.Dropout", "torch.nn.Dropout1d", "torch.nn.Dropout2d", "torch.nn.AlphaDropout"}

METADATA = {
    *("shape", "dtype", "device", "ndim", "requires_grad", "is_leaf", "layout", "is_cuda", "itemsize", "nbytes"),
    *("grad", "grad_fn", "names", "is_sparse", "is_quantized", "is_meta", "is_cpu", "output_nr", "name"),
    *("size", "dim", "numel", "nelement", "stride", "element_size", "data_ptr", "is_contiguous", "is_floating_point"),
    *("storage_offset", "keys"),
}
"""What can be read of a tensor without reading its memory, and is no part of it."""

GATHERS = {"list", "tuple", "dict", "set", "sorted", "reversed", "zip", "enumerate", "iter", "next", "max", "min"}
"""Builtins whose result holds, or is one of, what they are given."""
HOLDERS = ("functools.partial", "types.SimpleNamespace", "collections.", "itertools.", "copy.copy")
"""Functions of the standard library whose result does, too."""

COLLECTS = {"append", "appendleft", "extend", "extendleft", "insert", "setdefault", "put", "put_nowait"}
COLLECTS_IF_KNOWN = {"add", "update"}
"""Methods by which a container gets hold of its arguments; the second kind may mean anything on other objects."""

REPORTS = {"debug", "info", "warning", "error", "exception", "log", "write", "writerow", "format", "add_scalar"}
CONTAINERS = {
    *("dict", "list", "set", "deque", "defaultdict", "OrderedDict", "Counter", "ChainMap", "Queue", "SimpleQueue"),
    *("Dict", "List", "Set", "Deque", "DefaultDict", "Mapping", "MutableMapping", "MutableSequence"),
}
DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
CACHES = {"functools.lru_cache", "functools.cache", "functools.cached_property"}
NO_GRAD = {"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.autograd.inference_mode"}


def is_plain_index(module: Module, index: ast.expr) -> bool:
    """Whether an index gives a view or an element: by a constant, a slice or a counter, not by a tensor."""
    if isinstance(index, ast.Tuple):
        return all(is_plain_index(module, item) for item in index.elts)
    if isinstance(index, ast.UnaryOp):
        return is_plain_index(module, index.operand)
    if isinstance(index, ast.BinOp):
        return is_plain_index(module, index.left) and is_plain_index(module, index.right)
    if isinstance(index, ast.Call):
        return is_count(module, index)
    if isinstance(index, ast.Name):
        return any(is_number(module, binding) for binding in module.scopes.bindings(index))
    return isinstance(index, (ast.Constant, ast.Slice, ast.JoinedStr))


def is_number(module: Module, binding: Binding) -> bool:
    """Whether a name is a number or a string by what is assigned to it, by its annotation, or as it counts a loop."""
    value = binding.value if binding.how == "assign" and not binding.path else None
    return (value is not None and is_count(module, value)) or counts(module, binding.node, binding.annotation)


def is_count(module: Module, value: ast.expr) -> bool:
    """Whether an expression is a number or a string, whatever the names in it are."""
    if isinstance(value, ast.BinOp):
        return is_count(module, value.left) and is_count(module, value.right)
    if isinstance(value, ast.Call):
        return module.scopes.is_builtin(value.func, "int", "len", "str")
    return isinstance(value, ast.Constant) and value.value is not None


def counts(module: Module, node: ast.AST, annotation: ast.expr | None) -> bool:
    """Whether a name is a number or a string by its annotation, or counts a loop."""
    if annotation is not None:
        return getattr(annotation, "id", "") in ("int", "str")
    parent = module.parent(node)
    if isinstance(parent, ast.Tuple):
        loop = module.parent(parent)
        return call_name(getattr(loop, "iter", node)) == "enumerate" and parent.elts[0] is node
    return isinstance(parent, (ast.For, ast.comprehension)) and call_name(parent.iter) == "range"


def inner(deep: int, value: ast.expr | None, annotation: ast.expr | None) -> tuple[ast.expr | None, ast.expr | None]:
    """What is said of an element that stands so many levels deep in a container."""
    for _ in range(deep):
        value, annotation = element_of(value), element_said(annotation)
    return value, annotation


def element_of(value: ast.expr | None) -> ast.expr | None:
    """The first element of a display; `list()` for what a `defaultdict(list)` makes."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return next(iter(value.elts), None)
    if isinstance(value, ast.Dict):
        return next(iter(value.values), None)
    if isinstance(value, ast.ListComp):
        return value.elt
    if isinstance(value, ast.DictComp):
        return value.value
    is_default = isinstance(value, ast.Call) and last_part(value.func) == "defaultdict" and value.args
    return ast.Call(value.args[0], [], []) if is_default else None  # type: ignore[union-attr]


def element_said(annotation: ast.expr | None) -> ast.expr | None:
    """`list` of `dict[str, list]`."""
    if not isinstance(annotation, ast.Subscript):
        return None
    return annotation.slice.elts[-1] if isinstance(annotation.slice, ast.Tuple) else annotation.slice


def is_container(value: ast.expr | None, annotation: ast.expr | None) -> bool:
    """Whether what is assigned, or the annotation, is a list, a dict or the like."""
    if isinstance(value, DISPLAYS):
        return True
    if isinstance(value, ast.Call) and last_part(value.func) in CONTAINERS:
        return True
    inner = annotation
    while isinstance(inner, ast.Subscript):
        inner = inner.value
    if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
        return inner.value.partition("[")[0].rpartition(".")[2] in CONTAINERS
    return inner is not None and last_part(inner) in CONTAINERS


def last_part(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def is_without_grad(module: Module, node: ast.AST) -> bool:
    """Whether code stands under `no_grad` or `inference_mode`, as a block or on the function around it."""
    for outer in module.ancestors(node):
        if isinstance(outer, (ast.With, ast.AsyncWith)) and any(
            stops_grad(module, item.context_expr) for item in outer.items
        ):
            return True
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return any(stops_grad(module, item) for item in outer.decorator_list)
    return False


def stops_grad(module: Module, node: ast.expr) -> bool:
    """Whether no gradients are recorded under it for sure: `inference_mode(False)` turns them on."""
    if not isinstance(node, ast.Call):
        return module.resolve(node) in NO_GRAD
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    wanted = module.resolve(node.func) != "torch.set_grad_enabled"
    is_said = all(isinstance(item, ast.Constant) and item.value is wanted for item in given)
    return is_said and (module.resolve(node.func) in NO_GRAD if wanted else bool(given))
