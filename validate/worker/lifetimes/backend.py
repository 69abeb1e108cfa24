"""torch.compile with graphs that run as they were captured, and tell of every run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._inductor import config
from torch._inductor import cudagraph_trees as trees

from .buffers import key_of
from .generations import BACKWARD, FORWARD, INFERENCE, Path
from .places import Call

INDUCTOR: Any = torch._TorchCompileInductorWrapper
OTHERS: Any = torch._TorchCompileWrapper


class Graph:
    """One graph that Dynamo captured, with its backward."""

    def __init__(self) -> None:
        self.modules: dict[str, torch.fx.GraphModule] = {}
        self.constants: set[int] = set()
        self.changed: dict[str, list[int]] = {}
        """By phase, the inputs that are changed in place and do not belong to the module that is compiled."""

        self.called = Call()
        """Where it was called last."""

        self.path = Path()

    def add(self, phase: str, module: torch.fx.GraphModule) -> None:
        held = (getattr(module, str(node.target), None) for node in module.graph.nodes if node.op == "get_attr")
        self.constants |= {key_of(one) for one in held if isinstance(one, torch.Tensor)}
        self.modules[phase] = module
        self.changed[phase] = changed_inputs(module) if phase != BACKWARD else []

    def call(self, phase: str, args: list[Any]) -> Any:
        """Run it, and empty the list of arguments."""
        given = list(args)
        args.clear()
        return self.modules[phase](*given)

    def is_skipped(self, phase: str, args: list[Any], live: Mapping[int, Any]) -> bool:
        """Whether torch runs it without CUDA graphs, because it changes memory that is neither static nor theirs."""
        return any(key_of(args[number]) not in live for number in self.changed[phase])


def changed_inputs(module: torch.fx.GraphModule) -> list[int]:
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    changed = {node.args[0] for node in module.graph.nodes if node.target is torch.ops.aten.copy_.default}
    traced = torch._guards.TracingContext.try_get()
    static = set(getattr(traced and traced.fw_metadata, "static_input_indices", None) or ())
    return [number for number, node in enumerate(inputs) if node in changed and number not in static]


class Runner(Protocol):
    """Who runs the graphs."""

    def run(self, graph: Graph, phase: str, args: list[Any]) -> Any: ...


@contextlib.contextmanager
def replacing(runner: Runner, everything: bool) -> Iterator[None]:
    """While it lasts, what would run in CUDA graphs (or everything that is compiled) runs by `runner`.

    What is compiled for inductor without CUDA graphs runs as captured, too: its kernels are of no interest here.
    """
    before = INDUCTOR.__call__, OTHERS.__call__

    def inductor(self: Any, model: Any, inputs: Any, **given: Any) -> Any:
        patches = {**self.config, **(given.get("config_patches") or {})}
        rules = everything or patches.get("triton.cudagraphs", config.triton.cudagraphs)
        plain = torch._dynamo.lookup_backend("aot_eager")
        return compile_graph(model, inputs, runner) if rules else plain(model, inputs)

    def other(self: Any, model: Any, inputs: Any) -> Any:
        rules = everything or self.compiler_name == "cudagraphs"
        return compile_graph(model, inputs, runner) if rules else before[1](self, model, inputs)

    INDUCTOR.__call__, OTHERS.__call__ = inductor, other
    try:
        yield
    finally:
        INDUCTOR.__call__, OTHERS.__call__ = before


def compile_graph(model: torch.fx.GraphModule, inputs: Any, runner: Runner) -> Any:
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    graph = Graph()

    def compiler(phase: str) -> Any:
        def compile_module(module: torch.fx.GraphModule, _: Any) -> Any:
            graph.add(phase, module)

            def run(args: list[Any]) -> Any:
                return runner.run(graph, phase, args)

            run._boxed_call = True  # type: ignore[attr-defined]
            return run

        return compile_module

    backend = aot_autograd(
        fw_compiler=compiler(FORWARD),
        bw_compiler=compiler(BACKWARD),
        inference_compiler=compiler(INFERENCE),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
    )
    return backend(model, inputs)


@contextlib.contextmanager
def noticing_marks(tell: Callable[[], None]) -> Iterator[None]:
    """While it lasts, `tell` is called at every `torch.compiler.cudagraph_mark_step_begin()`."""
    before = trees.mark_step_begin

    def mark() -> None:
        tell()
        before()

    trees.mark_step_begin = mark
    try:
        yield
    finally:
        trees.mark_step_begin = before
