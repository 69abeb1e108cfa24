"""The functions of torch that are understood here, by what they do to a floating tensor."""

from __future__ import annotations

import ast

from fullgraph.codemods.model import Unsure
from fullgraph.codemods.topics.branches.values import BOOL, NOBODY, Number, Other, Tensor, Value, Work

STRAIGHT = {"neg", "negative", "relu", "relu6", "leaky_relu", "round", "floor", "ceil", "trunc", "nan_to_num", "sign"}
"""One tensor in, a new one like it out; a gradient of zero stays zero whatever the elements are.

Their backward multiplies by constants, or selects.
"""

BOUNDED = {"clamp", "clip", "clamp_min", "clamp_max"}
"""As the straight ones, with Python numbers as bounds."""

BENT = {"sigmoid", "tanh", "sin", "cos", "gelu", "silu", "abs", "absolute", "sqrt", "square", "erf", "atan"}
"""A new tensor like the given one, but a gradient of zero may become NaN: it is multiplied by a value."""

FULL = {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "rsqrt", "reciprocal"}
FULL |= {"softmax", "log_softmax", "softplus"}
"""As the bent ones; autocast may compute them in float32, so that they keep no other dtype for sure."""

WHOLE = "torch.int64"
"""What the sum of a bool tensor is."""

COPIES = {"clone", "zeros_like", "ones_like"}
TESTS = {"isinf", "isnan", "isfinite"}
TRUTH = {"any", "all"}
SUMS = {"sum", "mean"}
EXTREMES = {"max", "min", "amax", "amin"}
"""They raise for a tensor without elements."""

ALONG = {"softmax", "log_softmax"}
"""They go along a dimension, which must be the last: every tensor takes `-1`."""

NORMS = {"norm"}
FILLS = {"masked_fill"}
HALF_MAX = 65504
"""What every floating dtype that is calculated with can hold."""

REDUCTIONS = TRUTH | SUMS | EXTREMES | NORMS
FACTS = {"dtype", "device", "shape", "ndim", "is_cuda", "requires_grad", "is_sparse"}
COUNTS = {"numel", "nelement", "dim", "ndimension", "size", "is_floating_point"}
VIEWS = {
    "view",
    "reshape",
    "t",
    "transpose",
    "permute",
    "squeeze",
    "unsqueeze",
    "flatten",
    "expand",
    "contiguous",
    "to",
}
"""They may return the memory of what they are given."""

CASTS = {"float": "torch.float32", "double": "torch.float64", "half": "torch.float16", "bfloat16": "torch.bfloat16"}
BOTH = STRAIGHT | BOUNDED | BENT | FULL | TESTS | REDUCTIONS | FILLS | {"clone"}
BOTH -= {"relu6", "leaky_relu", "gelu", "silu", "softplus"}
FUNCTIONALS = {"relu", "relu6", "leaky_relu", "gelu", "silu", "sigmoid", "tanh", "softplus"} | ALONG
TENSORS_ONLY = {"relu", "sigmoid", "isnan", "isinf", "isfinite", "detach", "clamp", "neg", "abs", "unsqueeze", "float"}
"""Methods that arrays of numpy do not have, nor numbers; of these some suffice."""

ACTIVATIONS = {"ReLU": "relu", "ReLU6": "relu6", "GELU": "gelu", "SiLU": "silu", "Sigmoid": "sigmoid", "Tanh": "tanh"}
"""Modules without parameters, and the function that each is, where it is made without arguments."""

RESIZES = {"resize_", "resize_as_", "set_", "t_", "transpose_", "squeeze_", "unsqueeze_", "as_strided_", "swapaxes_"}
RESIZES |= {"swapdims_", "requires_grad_"}


def plain_name(dotted: str) -> str:
    """`relu` of `torch.relu` and `torch.nn.functional.relu`, where it is a function that is understood."""
    home, _, name = dotted.rpartition(".")
    if home == "torch" and name in BOTH | COPIES:
        return name
    return name if home == "torch.nn.functional" and name in FUNCTIONALS else ""


def applied(name: str, given: Tensor, call: ast.Call, others: list[Value], work: Work) -> Tensor:
    """What a function makes of a tensor and its other arguments, which must be the plain ones."""
    if name in FILLS:
        return fill(given, call, others, work)
    if name in ALONG:
        check_last(name, call, others)
        others, call = [], ast.copy_location(ast.Call(call.func, [], []), call)
    bounds = name in BOUNDED and all(word.arg in ("min", "max") for word in call.keywords)
    if (others and not bounds) or (call.keywords and not bounds):
        raise Unsure(f"line {call.lineno}: `{name}` with these arguments is not understood")
    if not all(isinstance(other, Number | Other) for other in others):
        raise Unsure(f"line {call.lineno}: the bounds of `{name}` are not seen to be numbers")
    if name in COPIES:
        return given.made() if name == "clone" else given.made().but(sources=NOBODY)
    if name in TESTS:
        return given.made(BOOL).but(sources=NOBODY)
    if name in TRUTH:
        return given.single(BOOL if given.dtype == BOOL else ("truth", given.dtype)).but(sources=NOBODY)
    if name in EXTREMES:
        work.filled[given.shape] = work.real[given.dtype] = None
        work.bent = True
        return given.single(given.dtype)
    work.floats[given.dtype] = None
    work.bent |= name in BENT | FULL | NORMS
    if name in FULL | NORMS or name == "sum":
        work.full[given.dtype] = None
    if name in NORMS:
        return given.single(given.dtype)
    return given.single(WHOLE if given.dtype == BOOL else given.dtype) if name in SUMS else given.made()


def check_last(name: str, call: ast.Call, others: list[Value]) -> None:
    is_named = all(word.arg == "dim" for word in call.keywords)
    if others != [Number(-1)] or not is_named:
        raise Unsure(f"line {call.lineno}: `{name}` with these arguments is not understood")


def fill(given: Tensor, call: ast.Call, others: list[Value], work: Work) -> Tensor:
    """`x.masked_fill(mask, number)`: a mask of the same shape, and a number that the dtype holds."""
    mask, number = others if len(others) == 2 and not call.keywords else (None, None)
    if not isinstance(mask, Tensor) or not isinstance(number, Number):
        raise Unsure(f"line {call.lineno}: `masked_fill` with these arguments is not understood")
    value = number.value
    is_small = value is not None and (abs(value) <= HALF_MAX or abs(value) == float("inf"))
    if not is_small and number.within != given.dtype:
        if value is None or not abs(value) < 1e38:
            raise Unsure(f"line {call.lineno}: whether the dtype can hold what `masked_fill` fills in cannot be told")
        work.full[given.dtype] = None
    work.floats[given.dtype] = None
    if mask.dtype != BOOL:
        work.bools[mask.dtype] = None
    for kind in ("shape", "device"):
        if getattr(mask, kind) != getattr(given, kind):
            work.same[kind, getattr(given, kind), getattr(mask, kind)] = None
    return given.made()
