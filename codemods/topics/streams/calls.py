"""Which calls put work on a device's stream, as far as their names tell."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.effects.harmless import LOG_METHODS, OUTPUT_MODULES, OUTPUTS, PURE_BUILTINS, PURE_MODULES
from fullgraph.codemods.syntax.flow import is_in_place, last_name

TRANSFERS = {"to", "cuda", "copy_", "_to_copy"}
ISSUES = {"backward", "step", "zero_grad", "mean", "matmul", "relu", "softmax", "stack", "normal_", "repeat"}
ARITHMETIC = {"sum", "abs", "pow", "max", "min", "round", "divmod"}
QUIET_METHODS = {
    *("append", "extend", "items", "keys", "values", "get", "pop", "setdefault", "update", "add", "clear", "popleft"),
    *("format", "join", "startswith", "endswith", "strip", "split", "lower", "upper", "replace", "appendleft"),
    *("maketrans", "translate", "rstrip", "lstrip", "splitlines", "encode", "decode", "discard", "isdigit", "title"),
    *("record", "record_event", "record_stream", "wait_event", "wait_stream", "synchronize", "query", "elapsed_time"),
    *("size", "dim", "numel", "item", "tolist", "set_epoch", "set_postfix", "set_description", "is_cuda"),
}
FACTORIES = {
    *("tensor", "as_tensor", "from_numpy", "arange", "zeros", "ones", "full", "empty", "rand", "randn", "randint"),
    *("randperm", "linspace", "eye", "Generator", "manual_seed", "device", "is_tensor", "Size", "finfo", "iinfo"),
}
QUIET_TORCH = ("torch.cuda.nvtx.", "torch.profiler.", "torch.backends.", "torch.utils.data.", "torch.distributions.")
QUIET_NAMES = {
    *("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.autocast", "torch.amp.autocast"),
    *("torch.cuda.stream", "torch.cuda.Stream", "torch.cuda.Event", "torch.cuda.device", "torch.cuda.is_available"),
    *("torch.cuda.default_stream", "torch.cuda.current_stream", "torch.cuda.synchronize", "torch.cuda.device_count"),
    *("torch.cuda.current_device", "torch.accelerator.synchronize", "torch.accelerator.current_stream", "torch.Event"),
    *("torch.Stream", "torch.cuda.empty_cache", "torch.cuda.memory_allocated", "torch.set_grad_enabled"),
}
WORKING_MODULES = {"torch", "numpy", "einops", "operator", "copy", "statistics", "heapq", "bisect"}
"""Their functions compute with what they are given, or copy it: that may be tensors."""
QUIET_MODULES = OUTPUT_MODULES | (PURE_MODULES - WORKING_MODULES)


def issues_by_name(module: Module, call: ast.Call) -> bool | None:
    """Whether a call puts work on the current stream: True and False are sure, None is not."""
    func = call.func
    if isinstance(func, ast.Name) and not module.scopes.bindings(func):
        known = func.id in (PURE_BUILTINS | OUTPUTS) - ARITHMETIC or func.id.endswith(("Error", "Exception"))
        return False if known else None
    if dotted := module.resolve(func):
        return imported(call, dotted)
    name = last_name(call)
    if not isinstance(func, ast.Attribute):
        return None
    if name in TRANSFERS | ISSUES or is_in_place(call):
        return True
    return False if name in QUIET_METHODS | LOG_METHODS else None


def imported(call: ast.Call, dotted: str) -> bool | None:
    package = dotted.partition(".")[0]
    if package != "torch":
        return False if package in QUIET_MODULES else None
    if dotted in QUIET_NAMES or dotted.startswith(QUIET_TORCH):
        return False
    on_host = not any(keyword.arg in ("device", "out") for keyword in call.keywords)
    return not (dotted.rpartition(".")[2] in FACTORIES and on_host)


def is_transfer_by_name(call: ast.Call) -> bool:
    return last_name(call) in TRANSFERS
