"""The text of an expression at another place."""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Sequence

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import NEWLINE, Module
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.tensors.infer import Tensors


def text_without(module: Module, node: ast.expr, spans: Sequence[Span] = ()) -> str:
    """The text of an expression with some of its characters left out; line breaks are `\\n`."""
    span = module.span(node)
    text, end = "", span.start
    for left_out in sorted(spans):
        text += module.text[end : left_out.start]
        end = left_out.end
    return NEWLINE.sub("\n", text + module.text[end : span.end])


def joined(text: str) -> str:
    """A call of several lines as one, unless a comment or a comma behind the last item keeps it apart."""
    if "#" in text or '"' in text or "'" in text or re.search(r",\s*\n\s*[\])]", text):
        return text
    return re.sub(r"\s*\n\s*", " ", re.sub(r"([\[(])\s*\n\s*|\s*\n\s*([\])])", r"\1\2", text))


def indented_like(module: Module, node: ast.AST, text: str, indent: str) -> str:
    """The text of a node over several lines, moved from the indentation of its first line to another one."""
    old = module.indent(node)
    first, *rest = text.split("\n")
    if any(line.strip() and not line.startswith(old) for line in rest):
        raise Unsure(f"{where(module, node)}: its lines cannot be indented anew")
    return "\n".join([first, *((indent + line[len(old) :]) if line.strip() else line for line in rest)])


def stands_alone(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement has its lines for itself, without a comment on or above them."""
    span = module.span(statement)
    behind = module.text[span.end : module.line_end(span.end)]
    start = module.line_start(span.start)
    above = module.text[module.line_start(start - 1) : start] if start else ""
    return module.begins_line(statement) and not behind.strip() and not above.strip().startswith("#")


def can_go(module: Module, statement: ast.stmt, loads: Sequence[ast.Name]) -> bool:
    """Whether an assignment can be taken out: it has its lines for itself, and a neighbour that stays."""
    block = module.block(statement)
    holders = {outer for load in loads for outer in module.ancestors(load)}
    stays = any(other in holders for other in block if other is not statement)
    return stays and stands_alone(module, statement)


def remove_line(module: Module, statement: ast.stmt, start: int | None = None) -> Edit:
    """The statement is gone, with its lines; of blank lines that would meet, or begin a block, those below go too."""
    span = module.span(statement)
    start = module.line_start(span.start) if start is None else start
    end = module.line_end(span.end)
    if "\f" in module.text[start : span.start]:
        start = module.text.rindex("\f", start, span.start) + 1
    above = module.text[module.line_start(start - 1) : start].strip() if start else ""
    is_first = module.block(statement)[0] is statement
    while is_first and start and not above:
        start = module.line_start(start - 1)
        above = module.text[module.line_start(start - 1) : start].strip() if start else "-"
    while (not above or is_first) and end < len(module.text) and not module.text[end : module.line_end(end)].strip():
        end = module.line_end(end)
    return module.replace(Span(start, end), "")


# A Python number in the place of a tensor

OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
COMPARISONS = (ast.Gt, ast.GtE, ast.Lt, ast.LtE, ast.Eq, ast.NotEq)
LIMITS = {"torch.maximum": "min", "torch.max": "min", "torch.minimum": "max", "torch.min": "max"}
TIES = "where an element is {} itself, its gradient is whole, and not half"


def as_number(module: Module, tensors: Tensors, node: ast.expr) -> tuple[Edit, str] | None:
    """The edit that writes the number of `torch.tensor(0.5)` instead, and what must hold; None where it does not do."""
    number, outer = number_of(module, node), module.parent(node)
    other = operand_beside(module, node, outer)
    limit = LIMITS.get(module.resolve(outer.func) or "") if isinstance(outer, ast.Call) else None
    if number is None or other is None or not (limit or tensors.known(module, other).is_tensor):
        return None
    text, doubts = module.code(number), doubts_about(module, tensors, number, other)
    if limit is None or outer is None:
        is_sum = isinstance(outer, ast.BinOp) and outer.right is node and isinstance(outer.op, (ast.Add, ast.Sub))
        return module.replace(node, f"({text})" if text.startswith("-") and is_sum else text), "; ".join(doubts)
    is_plain = isinstance(other, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    owner = module.code(other) if is_plain else f"({module.code(other)})"
    return module.replace(outer, f"{owner}.clamp({limit}={text})"), "; ".join([*doubts, TIES.format(text)])


def number_of(module: Module, node: ast.expr) -> ast.expr | None:
    """`0.5` of `torch.tensor(0.5)`, on whatever device and without a dtype of its own."""
    if not isinstance(node, ast.Call) or module.resolve(node.func) != "torch.tensor" or len(node.args) != 1:
        return None
    number = node.args[0]
    inner = number.operand if isinstance(number, ast.UnaryOp) and isinstance(number.op, ast.USub) else number
    is_number = isinstance(inner, ast.Constant) and type(inner.value) in (int, float)
    return number if is_number and all(keyword.arg == "device" for keyword in node.keywords) else None


def operand_beside(module: Module, node: ast.expr, outer: ast.AST | None) -> ast.expr | None:
    """What the tensor is combined with, where a number would be taken alike; `1 / x` is rounded otherwise."""
    if isinstance(outer, ast.BinOp) and isinstance(outer.op, OPERATORS):
        is_right = outer.right is node
        return outer.left if is_right else None if isinstance(outer.op, ast.Div) else outer.right
    if isinstance(outer, ast.Compare) and len(outer.ops) == 1 and isinstance(outer.ops[0], COMPARISONS):
        return outer.left if outer.left is not node else outer.comparators[0]
    if not isinstance(outer, ast.Call) or outer.keywords or node not in outer.args:
        return None
    dotted, wanted = module.resolve(outer.func), 3 if module.resolve(outer.func) == "torch.where" else 2
    others = [argument for argument in outer.args[-2:] if argument is not node]
    is_taken = (dotted == "torch.where" or dotted in LIMITS) and len(outer.args) == wanted
    return others[0] if is_taken and len(others) == 1 else None


def doubts_about(module: Module, tensors: Tensors, number: ast.expr, other: ast.expr) -> list[str]:
    """Why the result may have another dtype, or other digits."""
    known, value, text = tensors.known(module, other), ast.literal_eval(number), module.code(other)
    is_shaped = bool(known.ndim) or has_dimension(module, other)
    is_same = is_shaped or (isinstance(value, int) and known.kind == "float")
    is_exact = isinstance(value, int) or struct.unpack("f", struct.pack("f", value))[0] == value
    said = [] if is_same else [f"`{text}` must have a dimension: without one it would decide the dtype alone"]
    return said if is_exact else [*said, f"`{text}` must not be float64: the tensor holds {value} as float32"]


def has_dimension(module: Module, node: ast.expr) -> bool:
    """Whether the function asks a variable for what only a tensor with dimensions has: `x.shape[0]`, `x[0]`."""
    if not isinstance(node, ast.Name) or len(module.scopes.bindings(node)) != 1:
        return False
    for name in module.scopes.names(module.scopes.of(node), node.id):
        used = module.parent(name)
        above = module.parent(used) if isinstance(used, ast.Attribute) else None
        is_item = isinstance(used, ast.Subscript) and used.value is name and has_slice(used.slice)
        is_size = isinstance(above, ast.Subscript) and used.attr == "shape" and not isinstance(above.slice, ast.Slice)  # type: ignore[union-attr]
        if is_size or is_item:
            return True
    return False


def has_slice(index: ast.expr) -> bool:
    """Whether an index takes a part of a dimension that is there; None makes one."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    is_new = any(isinstance(part, ast.Constant) and part.value is None for part in parts)
    return not is_new and any(isinstance(part, ast.Slice) for part in parts)
