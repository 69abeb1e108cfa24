"""Shapes that people write down: in docstrings, and in annotations like `Float[Tensor, "batch dim"]`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from fullgraph.validate.drafting.evaluate import Scope, evaluate
from fullgraph.validate.drafting.facts import BATCH, LENGTH, WIDTH, Dim, Facts

BATCHES = {"b", "batch", "batch_size", "bs", "n", "bsz", "n_batch", "nbatch", "batches", "n_envs", "num_envs"}
SEQUENCES = {"t", "seq", "seq_len", "length", "l", "time", "steps", "s", "sequence", "timesteps", "tokens", "h", "w"}
NO_SIZES = {"tensor", "optional", "default", "int", "float", "bool", "str", "none", "torch", "long", "list", "tuple"}
PART = re.compile(r"[A-Za-z_][\w.]*(?: ?[*+/-]{1,2} ?[\w.]+){0,3}|\d+|\*|\.\.\.")
GROUP = r"[\[(]([\w .,*+/-]{1,60})[\])]"
CHANNELS = 3
KINDS = {"Int": "int", "Long": "int", "Bool": "bool", "Float": "float"}


def shapes_in(text: str, names: list[str], scope: Scope, sizes: dict[str, Dim]) -> dict[str, Facts]:
    """What a docstring says about parameters. A shape without a name is that of the first tensor."""
    found = {}
    for name in names:
        pattern = rf"(?<!\w)[`*]*{re.escape(name)}[`*]*\s*(?:\(\w+\))?[^\n\[(]{{0,60}}?{GROUP}"
        for match in re.finditer(pattern, text):
            facts = read_dims(match[1].split(","), scope, sizes)
            if facts:
                found[name] = facts
                break
    if not found and names:
        for match in re.finditer(GROUP, text):
            facts = read_dims(match[1].split(","), scope, sizes) if "," in match[1] else None
            if facts:
                return {names[0]: facts}
    return found


def read_dims(parts: list[str], scope: Scope, sizes: dict[str, Dim]) -> Facts | None:
    parts = [part.strip() for part in parts if part.strip()]
    if not 1 <= len(parts) <= 6 or not all(PART.fullmatch(part) for part in parts):
        return None
    if any(part.lower().split(".")[0] in NO_SIZES for part in parts) or (len(parts) == 1 and parts[0].isdigit()):
        return None
    dims = tuple(
        read_dim(part, not position, scope, sizes) for position, part in enumerate(parts) if part not in ("*", "...")
    )
    return Facts(dims=dims, has_batch=BATCH in dims) if dims else None


def read_dim(part: str, is_first: bool, scope: Scope, sizes: dict[str, Dim]) -> Dim:
    """A number, a constant of the code, a batch, or a size of its own for every name."""
    if is_first and is_batch(part, True, sizes):
        return BATCH
    for text in (part, f"self.{part}"):
        value = evaluate(parse(text), scope)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    if is_batch(part, is_first, sizes):
        return BATCH
    usual = LENGTH if part.lower() in SEQUENCES else CHANNELS if part.lower() in ("c", "channels") else WIDTH
    return sizes.setdefault(part, usual)


def is_batch(part: str, is_first: bool, sizes: dict[str, Dim]) -> bool:
    """Whether a name stands for the batch: where another does so already, only if it comes first (`N` of `[B, N]`)."""
    chosen = next((name for name, size in sizes.items() if size == BATCH), part)
    if part.lower() not in BATCHES or (chosen != part and not is_first):
        return False
    sizes[part] = BATCH
    return True


def parse(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def annotated_shape(
    node: ast.AST | None, dotted: Callable[[ast.AST], str], scope: Scope, sizes: dict[str, Dim]
) -> Facts | None:
    """`Float[Tensor, "batch dim"]`, as jaxtyping and its kin write it."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple) or len(node.slice.elts) != 2:
        return None
    shape = node.slice.elts[1]
    if (
        not isinstance(shape, ast.Constant)
        or not isinstance(shape.value, str)
        or "Tensor" not in ast.dump(node.slice.elts[0])
    ):
        return None
    facts = read_dims(shape.value.replace("*", "").replace("...", "").split(), scope, sizes)
    kind = KINDS.get(dotted(node.value).rpartition(".")[2], "")
    return Facts(kind=kind).plus(facts) if facts else Facts(kind=kind)
