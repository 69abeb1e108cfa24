"""Messages as operators of their own. What stands below the import is written into files that give messages."""

from __future__ import annotations

import torch


# Messages in compiled code: as operators of their own they do not break the graph.
def _in_graph(emit):
    import itertools

    names = (f"{emit.__name__}_{number}" for number in itertools.count())
    name = next(name for name in names if not hasattr(torch.ops.messages, name))
    numbers = itertools.count()
    given = "int number, str[] order, str[] texts, Scalar[] numbers, Tensor[] tensors"
    schema = f"({given}) -> Tensor"
    kinds = {torch.Tensor: "t", int: "n", float: "n", bool: "n", str: "s"}
    shown = (type(None), torch.dtype, torch.device, torch.Size, tuple, list)
    sizes = {torch.Size: "torch.Size([%s])", tuple: "(%s)", list: "[%s]"}
    tags = [torch.Tag.cudagraph_unsafe]

    @torch.library.custom_op(
        f"messages::{name}", mutates_args=(), schema=schema, tags=tags
    )
    def operator(number, order, texts, numbers, tensors):
        tensors = [one.clone() for one in tensors]  # records are kept, memory is not
        values = {"s": iter(texts), "n": iter(numbers), "t": iter(tensors)}
        take = lambda text: itertools.islice(values["n"], text.count("%s"))
        fill = lambda text: text % tuple(take(text))
        relay(*[next(values[kind]) if kind in values else fill(kind) for kind in order])
        return torch.empty(0)  # one without a device would be run out of order

    def relay(*args):  # its frame stands for the line of the message
        call(*args)

    @torch.compiler.assume_constant_result
    def number():  # of two calls that are the same, one would be left out
        return next(numbers)

    def kind_of(arg):
        if type(arg) in sizes and all([type(size) is int for size in arg]):
            holes = ", ".join(["%s"] * len(arg))
            holes += "," if type(arg) is tuple and len(arg) == 1 else ""
            return sizes[type(arg)] % holes
        return "s" if type(arg) in shown else kinds.get(type(arg), "?")

    def call(*args):
        if not torch.compiler.is_compiling() or torch.compiler.is_exporting():
            return emit(*args)
        args = [(True if arg else False) if type(arg) is bool else arg for arg in args]
        order = [kind_of(arg) for arg in args]
        if "?" in order:
            return emit(*args)
        texts = [str(arg) for arg, kind in zip(args, order) if kind == "s"]
        tensors = [arg for arg, kind in zip(args, order) if kind == "t"]
        rest = [(arg, kind) for arg, kind in zip(args, order) if kind not in ("s", "t")]
        parts = [[arg] if kind == "n" else arg for arg, kind in rest]
        figures = [size for part in parts for size in part]
        operator(number(), order, texts, figures, tensors)

    operator.register_fake(lambda *args: torch.empty(0))
    torch.fx.node.has_side_effect(getattr(torch.ops.messages, name).default)
    return call
