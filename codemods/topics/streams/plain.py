"""Which values are plain Python, by what the code says of them: arithmetic with others may be work on a device."""

from __future__ import annotations

import ast

from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.effects.aliases import is_atomic
from fullgraph.codemods.syntax.loops import call_name
from fullgraph.codemods.topics.streams.frames import Frame

LITERALS = (ast.Constant, ast.JoinedStr, ast.List, ast.Dict, ast.Tuple, ast.ListComp, ast.Compare)
MADE_PLAIN = ("len", "int", "float", "range", "enumerate", "list", "dict", "tuple", "sorted")
KINDS = {"int", "float", "bool", "str", "bytes", "list", "dict", "tuple", "Sequence", "Mapping", "set", "deque"}
DEEP = 3


def may_compute(names: Definitions, frame: Frame, node: ast.AST) -> bool:
    """Whether an operator or an index may be applied to a tensor."""
    if isinstance(node, ast.AugAssign):
        return not is_plain(names, frame, node.target) and not is_plain(names, frame, node.value)
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return not any(map(is_text, sides)) and not all(is_plain(names, frame, side) for side in sides)
    if isinstance(node, ast.Subscript):
        return not isinstance(node.slice, ast.Constant) and not is_plain(names, frame, node.value)
    return False


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def is_plain(names: Definitions, frame: Frame, node: ast.AST, depth: int = 0) -> bool:
    """Whether a value is a number, a text or a container."""
    if isinstance(node, LITERALS) or is_atomic(frame.module, node):
        return True
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        parts = (part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
        return all(is_plain(names, frame, part, depth) for part in parts)
    if isinstance(node, ast.Call):
        return call_name(node) in MADE_PLAIN
    if isinstance(node, ast.Name) and depth < DEEP and node.id not in frame.given:
        binding = frame.only_binding(node)
        if binding and binding.how == "assign" and not binding.path and binding.value and not binding.annotation:
            return is_plain(names, frame, binding.value, depth + 1)
    return is_said_plain(names, frame, node)


def is_said_plain(names: Definitions, frame: Frame, node: ast.AST) -> bool:
    """Whether an annotation, or the class that is called, says so."""
    kind = names.kind(frame.module, node)
    if kind is None:
        return False
    made = kind.node.value if isinstance(kind.node, ast.Subscript) else kind.node
    name = made.attr if isinstance(made, ast.Attribute) else getattr(made, "id", "")
    return name in KINDS or kind.module.resolve(made) == "torch.utils.data.DataLoader"
