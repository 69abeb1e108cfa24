"""Whether what a move returns may outlive the call, or be written to: then a move that copies nothing shows."""

from __future__ import annotations

import ast
import re

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.flow import NOT_VALUES
from fullgraph.codemods.topics.buffers.making import COLLECTING
from fullgraph.codemods.topics.buffers.owner import Move
from fullgraph.codemods.topics.buffers.uses import Uses

FRESH = {
    *("sum", "mean", "max", "min", "amax", "amin", "std", "var", "any", "all", "abs", "exp", "log", "sqrt", "clone"),
    *("matmul", "mm", "bmm", "mv", "dot", "add", "sub", "mul", "div", "pow", "neg", "sigmoid", "tanh", "relu"),
    *("softmax", "log_softmax", "argmax", "argmin", "argsort", "norm", "cumsum", "cumprod", "masked_fill", "clamp"),
    *("gather", "index_select", "eq", "ne", "lt", "gt", "le", "ge", "repeat", "item", "tolist", "prod", "logsumexp"),
    *("repeat_interleave", "masked_select", "logical_not", "logical_and", "logical_or", "bincount", "median", "round"),
}
"""Methods whose result never shares memory with the tensor."""

SHARING = {
    *("flatten", "reshape", "squeeze", "unsqueeze", "transpose", "swapaxes", "narrow", "split", "chunk", "unbind"),
    *("as_tensor", "asarray", "broadcast_to", "broadcast_tensors", "movedim", "permute", "t", "detach", "select"),
    *("diagonal", "view_as_real", "view_as_complex", "atleast_1d", "atleast_2d", "ravel", "real", "imag", "unflatten"),
}
"""Functions of torch whose result may."""

CHOICES = re.compile(r"^(?:torch\.)?(?:Long|Bool)?Tensor$|^(?:np\.|numpy\.)?ndarray$|^[lL]ist\b")
READERS = {"float", "int", "bool", "len", "print", "str", "repr", "isinstance"}
CONTAINERS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
COMPUTES = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign, ast.FormattedValue)


def is_held(uses: Uses, move: Move) -> bool:
    """Whether the result of a move is handed on, kept, or written to, and may be the tensor itself."""
    return not is_copied_first(uses.module, move) and holds(uses, move.method, move.call, move.attribute)


def is_copied_first(module: Module, move: Move) -> bool:
    """Whether what is moved is new anyway: `self.x.clone()`, `torch.stack(self.xs)`, or a choice by a list."""
    node: ast.AST = move.call.func.value  # type: ignore[attr-defined]
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        if isinstance(node, ast.Subscript) and is_choice(module, node.slice):
            return True
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if name in FRESH or (module.resolve(node.func) or "") in COLLECTING:
                return True
        node = node.func if isinstance(node, ast.Call) else node.value
    return False


def is_choice(module: Module, index: ast.expr) -> bool:
    """Whether an index is a list or a tensor, so that the items are copied."""
    if isinstance(index, (ast.List, ast.Compare)):
        return True
    notes = [binding.annotation for binding in module.scopes.bindings(index)] if isinstance(index, ast.Name) else []
    return bool(notes) and all(note is not None and CHOICES.search(ast.unparse(note)) for note in notes)


def holds(uses: Uses, method: Function, node: ast.AST, attribute: str) -> bool:
    module = uses.module
    while True:
        parent = module.parent(node)
        if isinstance(parent, ast.Attribute):
            step = by_attribute(module, parent)
        elif isinstance(parent, ast.Subscript):
            step = parent if parent.value is node and isinstance(parent.ctx, ast.Load) else parent.value is node
        elif isinstance(parent, (*CONTAINERS, ast.keyword, ast.Starred, ast.BoolOp)):
            step = parent
        elif isinstance(parent, ast.IfExp):
            step = parent if parent.test is not node else False
        elif isinstance(parent, ast.Call):
            step = by_call(module, parent)
        elif isinstance(parent, (ast.Assign, ast.NamedExpr)):
            return holds_name(uses, method, parent, attribute)
        else:
            is_done = isinstance(parent, (*COMPUTES, ast.Expr, ast.If, ast.While, ast.Assert))
            return not is_done
        if isinstance(step, bool):
            return step
        node = step


def by_attribute(module: Module, node: ast.Attribute) -> ast.AST | bool:
    """The expression to go on with; or whether the tensor is held."""
    call = module.parent(node)
    if not (isinstance(call, ast.Call) and call.func is node):
        return False if node.attr in NOT_VALUES else node
    if node.attr in FRESH | NOT_VALUES:
        return False
    return True if node.attr.endswith("_") else call


def by_call(module: Module, call: ast.Call) -> ast.AST | bool:
    name = module.resolve(call.func) or ""
    if getattr(call.func, "id", "") in READERS:
        return False
    if isinstance(call.func, ast.Attribute) and not name and call.func.attr in FRESH:
        return False
    if not name.startswith("torch.") or any(keyword.arg in ("out", None) for keyword in call.keywords):
        return True
    last = name.rpartition(".")[2]
    is_function = name.startswith("torch.nn.functional.") or name.count(".") == 1
    if not is_function or not last.islower() or last.endswith("_"):
        return True
    return call if last in SHARING else False


def holds_name(uses: Uses, method: Function, statement: ast.Assign | ast.NamedExpr, attribute: str) -> bool:
    """Whether a local name for the result is held in turn, or lives on while the tensor is written to."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if len(targets) != 1 or not isinstance(targets[0], ast.Name) or isinstance(statement, ast.NamedExpr):
        return True
    name = targets[0]
    scope = uses.module.scopes.of(name)
    if scope is not method or attribute in written_by(uses, method):
        return True
    mentions = [node for node in uses.module.scopes.names(scope, name.id) if node is not name]
    return any(
        not isinstance(node.ctx, ast.Load) or is_captured(uses, method, node) or (holds(uses, method, node, attribute))
        for node in mentions
    )


def is_captured(uses: Uses, method: Function, node: ast.AST) -> bool:
    return uses.module.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda) is not method


def written_by(uses: Uses, method: Function) -> set[str]:
    """The attributes that a method, or one that it calls on itself, writes in place."""
    names, todo = set(), [method.name]
    while todo:
        name = todo.pop()
        if name not in names:
            names.add(name)
            todo += uses.buffers.called_by(uses.buffers.methods[name])
    return {use.attribute for use in uses.all if use.kind == "written" and use.method.name in names}


def written_result(uses: Uses, move: Move) -> ast.AST | None:
    """Where the method writes to what a move returned: to a copy so far, to the tensor itself once it is there."""
    if is_copied_first(uses.module, move):
        return None
    whole, kind = uses.classify(move.call)
    if kind == "written":
        return whole
    for use in uses.all:
        if use.kind == "written" and use.method is move.method and comes_from(uses, use.node, move.call):
            return use.node
    return None


def comes_from(uses: Uses, node: ast.AST, call: ast.Call) -> bool:
    """Whether an expression begins with a local name for the result of a call, or for a part of it."""
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    sources = [uses.buffers.source_of(name) for name in names]
    return any(call in set(ast.walk(source)) for source in sources if source is not None)
