"""What a setting of torch keeps in the graph: numbers used as sizes, shapes that depend on values, messages."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.compiled import traced_nodes
from fullgraph.codemods.syntax.tensors.counters import is_whole
from fullgraph.codemods.syntax.tensors.infer import Tensors
from fullgraph.codemods.topics.compile_settings.fates import Fate, fates_of, fates_of_shape

SCALARS, SHAPES, MESSAGES = (
    "capture_scalar_outputs",
    "capture_dynamic_output_shape_ops",
    "reorderable_logging_functions",
)
READING = {"max", "min", "sum", "amax", "amin", "argmax", "argmin", "prod"}
DYNAMIC = {"nonzero", "argwhere", "masked_select", "unique", "unique_consecutive"}
DYNAMIC_FUNCTIONS = {*DYNAMIC, "bincount"}


@dataclass(frozen=True)
class Construct:
    """One place that a setting is for. `fates`: its uses; `name`: what a message is emitted with."""

    module: Module
    node: ast.expr
    setting: str
    what: str
    fates: tuple[Fate, ...] = ()
    name: str = ""

    @property
    def line(self) -> str:
        return f"{self.module.path}:{self.node.lineno}"

    @property
    def needs_setting(self) -> bool:
        """Whether no rewrite keeps the number a tensor: it is a size, or others get it and no branch breaks anyway."""
        is_got = self.first("kept") is not None and self.first("branch") is None
        return self.setting != SCALARS or is_got or self.first("size") is not None

    def first(self, *kinds: str) -> Fate | None:
        return next((fate for fate in self.fates if fate.kind in kinds), None)


def constructs_of(
    tensors: Tensors, functions: Iterable[tuple[Module, ast.AST]], messages: bool = False
) -> Iterator[Construct]:
    """Everything in these functions that some setting is about, also what it would make worse."""
    for module, function in functions:
        nodes = (node for node in traced_nodes(module, function) if isinstance(node, ast.expr))
        for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
            if is_read(tensors, module, node):
                fates = tuple(fates_of(tensors, module, node))
                used = "used as a size" if any(fate.kind == "size" for fate in fates) else "which others get"
                yield Construct(module, node, SCALARS, f"is a number from a tensor, {used}", fates)
            elif is_dynamic(tensors, module, node) and not is_rewritten(module, node):
                fates = tuple(fates_of_shape(module, node))
                yield Construct(module, node, SHAPES, "has a shape that depends on values", fates)
            elif messages and (name := emits(module, node)):
                yield Construct(module, node, MESSAGES, "is a message between operations", name=name)


def is_read(tensors: Tensors, module: Module, node: ast.expr) -> bool:
    """`x.item()`, `int(x.max())`, `float(x.sum())`, and `x.tolist()` as the sizes of a split."""
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    if isinstance(node.func, ast.Attribute) and not node.args:
        is_sizes = getattr(getattr(module.parent(node), "func", None), "attr", "") == "split"
        return node.func.attr == "item" or (node.func.attr == "tolist" and is_sizes)
    given = node.args[0] if len(node.args) == 1 and module.scopes.is_builtin(node.func, "int", "float") else None
    return given is not None and is_reduced(tensors, module, given)


def is_reduced(tensors: Tensors, module: Module, node: ast.expr) -> bool:
    """Whether a value is one number of a tensor, also by name: what has `x.max()` in compiled code is a tensor."""
    if isinstance(node, ast.Name):
        bound = module.scopes.bindings(node)
        is_once = len(bound) == 1 and bound[0].how == "assign" and not bound[0].path
        return is_once and bound[0].value is not None and is_reduced(tensors, module, bound[0].value)
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") not in READING:
        return False
    is_method = isinstance(node.func, ast.Attribute) and not node.args and not node.keywords
    is_open = is_method and module.resolve(node.func) is None and not tensors.known(module, node).what
    return is_open or tensors.known(module, node).is_tensor


def is_dynamic(tensors: Tensors, module: Module, node: ast.expr) -> bool:
    """Whether the shape of the result depends on values."""
    if isinstance(node, ast.Call):
        dotted = module.resolve(node.func) or ""
        if dotted == "torch.where":
            return len(node.args) == 1 and not node.keywords
        if dotted.startswith("torch."):
            return dotted.removeprefix("torch.") in DYNAMIC_FUNCTIONS
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr in DYNAMIC
        return is_method and isinstance(node.func, ast.Attribute) and tensors.known(module, node.func.value).is_tensor
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return False
    compared = comparison(module, node.slice)
    sides = [compared.left, *compared.comparators] if compared else []
    if any(is_plain(tensors, module, side) for side in sides if not isinstance(side, ast.Constant)):
        return False
    is_own = any(ast.dump(side) == ast.dump(node.value) for side in sides)  # neither list nor number takes both
    return bool(sides) and (is_own or any(tensors.known(module, side).is_tensor for side in (node.value, *sides)))


def is_plain(tensors: Tensors, module: Module, node: ast.expr) -> bool:
    """Whether it surely is no tensor, so that comparing it gives a bool."""
    return is_whole(tensors.names, module, node) or tensors.known(module, node).what not in ("", "tensor")


def comparison(module: Module, node: ast.expr | None) -> ast.Compare | None:
    """The comparison that an index is, by name or written out; of a tensor such an index is a mask."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return comparison(module, node.operand)
    if isinstance(node, ast.Name):
        bound = module.scopes.bindings(node)
        node = bound[0].value if len(bound) == 1 and bound[0].how == "assign" and not bound[0].path else None
    return node if isinstance(node, ast.Compare) else None


def is_rewritten(module: Module, node: ast.expr) -> bool:
    """Whether `torch.where` does as well: the masked values are only summed, or written back by the same mask."""
    if not isinstance(node, ast.Subscript):
        return False
    method, statement = module.parent(node), module.statement(node)
    call = module.parent(method) if isinstance(method, ast.Attribute) and method.attr == "sum" else None
    is_summed = isinstance(call, ast.Call) and not call.args and not call.keywords
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return is_summed or any(
        isinstance(target, ast.Subscript) and ast.dump(target.slice) == ast.dump(node.slice) for target in targets
    )


def emits(module: Module, node: ast.expr) -> str:
    """`print` or `warnings.warn`, of a call that torch can put off: keywords are lost then, and a category breaks."""
    if not isinstance(node, ast.Call) or node.keywords or not isinstance(module.parent(node), ast.Expr):
        return ""
    if module.scopes.is_builtin(node.func, "print") and all(map(is_simple, node.args)):
        return "print"
    if module.resolve(node.func) == "warnings.warn" and len(node.args) == 1 and is_simple(node.args[0]):
        return module.code(node.func)
    return ""


def is_simple(node: ast.expr) -> bool:
    """Constants, and texts put together from plain names."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return all(
        isinstance(part, ast.Constant) or isinstance(getattr(part, "value", None), (ast.Name, str)) for part in parts
    )
