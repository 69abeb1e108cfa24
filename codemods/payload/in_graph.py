"""Messages of compiled code as an operator: they do not break the graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count, islice
from types import FunctionType
from typing import Any

import torch

KINDS = {torch.Tensor: "t", int: "n", float: "n", bool: "n", str: "s"}
SIZES: Any = {torch.Size: "torch.Size([%s])", tuple: "(%s)", list: "[%s]"}
SHOWN = (type(None), torch.dtype, torch.device, *SIZES)
GIVEN = "int emitter, int call, str[] order, str[] texts"
SCHEMA = f"({GIVEN}, Scalar[] numbers, Tensor[] tensors) -> Tensor"
EMITTERS: list[Callable[..., None]] = []
CALLS = count()


def in_graph(emit: Callable[..., None]) -> Callable[..., None]:
    """Let compiled code emit a message without a graph break."""
    emitter = len(EMITTERS)

    def call(*args: Any) -> None:
        if not torch.compiler.is_compiling() or torch.compiler.is_exporting():
            return emit(*args)
        given = [(True if arg else False) if type(arg) is bool else arg for arg in args]
        order = [kind_of(arg) for arg in given]
        if "?" in order:
            return emit(*given)
        pairs = list(zip(given, order))
        texts = [str(arg) for arg, kind in pairs if kind == "s"]
        tensors = [arg for arg, kind in pairs if kind == "t"]
        rest = [(arg, kind) for arg, kind in pairs if kind not in ("s", "t")]
        parts: list[Any] = [[arg] if kind == "n" else arg for arg, kind in rest]
        numbers = [number for part in parts for number in part]
        operator(emitter, next_call(), order, texts, numbers, tensors)

    file, line = emit.__code__.co_filename, emit.__code__.co_firstlineno
    code = relay.__code__.replace(co_filename=file, co_firstlineno=line)
    EMITTERS.append(partial(FunctionType(code, emit.__globals__), call))
    return call


def relay(call: Callable[..., None], *args: Any) -> None:
    call(*args)  # it is the place that records and warnings name, in the user's file


def kind_of(arg: Any) -> str:
    if type(arg) in SIZES and all([type(size) is int for size in arg]):
        holes = ", ".join(["%s"] * len(arg))
        holes += "," if type(arg) is tuple and len(arg) == 1 else ""
        return str(SIZES[type(arg)] % holes)
    return "s" if type(arg) in SHOWN else KINDS.get(type(arg), "?")


def next_call() -> int:  # of two calls that are the same, one would be left out
    return next(CALLS)


def emit_later(emitter: int, call: int, order: list[str], *given: Any) -> torch.Tensor:
    texts, numbers, tensors = given
    copies = [one.clone() for one in tensors]  # records are kept, memory is not
    values = {"s": iter(texts), "n": iter(numbers), "t": iter(copies)}
    fill: Any = lambda text: text % tuple(islice(values["n"], text.count("%s")))
    args = [next(values[kind]) if kind in values else fill(kind) for kind in order]
    EMITTERS[emitter](*args)
    return torch.empty(0)  # one without a device would be run out of order


names = (f"emit_{number}" for number in count())
name = next(name for name in names if not hasattr(torch.ops.messages, name))
operator = torch.library.custom_op(
    f"messages::{name}",
    emit_later,
    mutates_args=(),
    schema=SCHEMA,
    tags=[torch.Tag.cudagraph_unsafe],
)
operator.register_fake(lambda *args: torch.empty(0))
torch.fx.node.has_side_effect(getattr(torch.ops.messages, name).default)
constant: Any = torch.compiler.assume_constant_result
constant(next_call)
