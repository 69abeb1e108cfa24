"""What the use of a variable says about it."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.tensors.tables import LOSSES, REDUCTIONS

FLOAT_ONLY = {"mean", "std", "var", "backward", "softmax", "log_softmax"}
TENSOR_ONLY = {
    *("backward", "detach", "softmax", "log_softmax", "sigmoid", "unsqueeze", "masked_fill", "requires_grad_", "topk"),
    *("exp", "log", "sqrt", "gather", "scatter", "unbind", "chunk", "contiguous", "tanh", "amin", "amax", "log1p"),
    *("numel", "nelement", "element_size", "dim", "new_zeros", "new_ones", "new_full", "new_empty", "new_tensor"),
}
"""Methods that neither arrays nor lists have."""

ARRAY_ATTRIBUTES = {"shape", "dtype", "ndim"}
KINDS_ASKED = {"isinstance", "is_tensor", "hasattr", "type", "callable"}

FILLING: dict[str, int | None] = {"append": 0, "insert": 1, "setdefault": 1, "extend": None, "update": None}
"""Methods that put something into a container: which argument it is, None where that cannot be told."""

READING = {"items", "keys", "values", "get", "copy", "index", "count", "pop", "popitem", "clear", "sort", "reverse"}
ASKING = {
    *("len", "list", "tuple", "sorted", "enumerate", "zip", "reversed", "set", "sum", "min", "max", "any", "all"),
    *("bool", "iter", "range", "isinstance", "str", "repr", "print", "dict"),
}

KEEPING = {"to", "cpu", "cuda", "detach", "clone", "contiguous"}


def is_used_as_float(module: Module, name: ast.Name) -> bool:
    """Whether something is called on a variable, bound once, that only works on floats."""
    return any(method in FLOAT_ONLY and not call.keywords for method, call in methods(module, name))


def is_used_as_tensor(module: Module, name: ast.Name) -> bool:
    """Whether something is done with a variable, bound once, that only works on tensors."""
    found = mentions(module, name)
    if any(is_doubted(module, mention) for mention in found):
        return False
    is_called = any(method in TENSOR_ONLY for method, _ in methods(module, name))
    read = attributes_read(module, name)
    is_on_device = "device" in read and bool(read & ARRAY_ATTRIBUTES)
    return is_called or is_on_device or any(is_given_to_torch(module, mention) for mention in found)


def is_used_as_array(module: Module, name: ast.Name) -> bool:
    """Whether a variable, bound once, is read like a tensor or an array of numpy: it is no list then."""
    is_sure = not any(is_doubted(module, mention) for mention in mentions(module, name))
    return is_sure and bool(attributes_read(module, name) & ARRAY_ATTRIBUTES)


def is_doubted(module: Module, mention: ast.Name) -> bool:
    """Whether the code itself asks what a variable is: what it does in one case then says nothing of the others."""
    parent = module.parent(mention)
    if isinstance(parent, ast.Compare):
        return isinstance(parent.ops[0], (ast.Is, ast.IsNot))
    is_asked = isinstance(parent, ast.Call) and mention in parent.args
    return is_asked and (last_name(parent) in KINDS_ASKED)  # type: ignore[arg-type]


def attributes_read(module: Module, name: ast.Name) -> set[str]:
    parents = (module.parent(mention) for mention in mentions(module, name))
    return {parent.attr for parent in parents if isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Load)}


def is_given_to_torch(module: Module, mention: ast.Name) -> bool:
    call = module.parent(mention)
    if not isinstance(call, ast.Call) or mention not in call.args[:2]:
        return False
    dotted = module.resolve(call.func) or ""
    name = dotted.rpartition(".")[2]
    is_loss = dotted.startswith("torch.nn.functional.") and name in LOSSES
    return is_loss or (dotted == f"torch.{name}" and name in REDUCTIONS and mention is call.args[0])


def methods(module: Module, name: ast.Name) -> list[tuple[str, ast.Call]]:
    """Every method that is called on a variable."""
    found = []
    for mention in mentions(module, name):
        attribute = module.parent(mention)
        call = module.parent(attribute) if isinstance(attribute, ast.Attribute) else None
        if isinstance(attribute, ast.Attribute) and isinstance(call, ast.Call) and call.func is attribute:
            found.append((attribute.attr, call))
    return found


def put_into(module: Module, name: ast.Name) -> list[ast.expr | None]:
    """Every value that a list or dict of this name is seen to get; None for one that cannot be told."""
    found: list[ast.expr | None] = []
    for mention in module.scopes.names(module.scopes.of(name), name.id):
        parent = module.parent(mention)
        outer = module.parent(parent) if parent else None
        if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store) and parent.value is mention:
            is_plain = isinstance(outer, ast.Assign) and parent in outer.targets
            is_plain = is_plain and not isinstance(parent.slice, ast.Slice)
            found.append(outer.value if is_plain and isinstance(outer, ast.Assign) else None)
        elif isinstance(outer, ast.Call) and outer.func is parent and getattr(parent, "attr", "") in FILLING:
            value = FILLING[getattr(parent, "attr", "")]
            found.append(outer.args[value] if value is not None and len(outer.args) == value + 1 else None)
    return found


def is_in_sight(module: Module, name: ast.Name) -> bool:
    """Whether no other code can put anything into a list or dict of this name."""
    return all(stays(module, mention) for mention in module.scopes.names(module.scopes.of(name), name.id))


def stays(module: Module, mention: ast.Name) -> bool:
    """Whether a mention of a container hands nobody the container itself, unless to read it or to leave."""
    parent = module.parent(mention)
    if isinstance(parent, ast.Call) and mention in parent.args:
        return module.scopes.is_builtin(parent.func, *ASKING) or (module.resolve(parent.func) or "").startswith(
            "torch."
        )
    if isinstance(parent, ast.Attribute):
        return parent.attr in READING or parent.attr in FILLING
    is_own = isinstance(parent, ast.Subscript) and parent.value is mention
    is_bound = not isinstance(mention.ctx, ast.Load)
    is_gone_through = isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is mention
    is_leaving = isinstance(parent, ast.Return)
    if isinstance(parent, ast.Tuple):
        is_leaving = isinstance(module.parent(parent), ast.Return)
    return is_own or is_bound or is_gone_through or is_leaving or isinstance(parent, ast.Compare)


def mentions(module: Module, name: ast.Name) -> list[ast.Name]:
    """Every mention of a variable that is bound once; of others nothing follows for one place."""
    scope = module.scopes.of(name)
    return module.scopes.names(scope, name.id) if len(module.scopes.within(scope, name.id)) == 1 else []


def keeps(value: ast.AST | None, target: ast.Name | ast.Attribute) -> bool:
    """Whether `target = target.to(device)` keeps what is known about it."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    owner = value.func.value
    is_same = last_part(owner) == last_part(target) and type(owner) is type(target)
    told = " ".join(ast.unparse(argument) for argument in (*value.args, *value.keywords)).replace("torch.device", "")
    return is_same and value.func.attr in KEEPING and "dtype" not in told and "torch." not in told


def last_part(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
