"""Which functions are telemetry: they read a model's parameters or modules, and end with numbers on the host."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import is_test as is_test_file
from fullgraph.codemods.syntax.flow import Flow, is_in_place, last_name, mentions, root, stored

NAMED = {"named_parameters", "named_modules", "named_buffers", "named_children"}
ITERATORS = NAMED | {"parameters", "modules", "buffers", "children"}
LOOPS = re.compile(r"\.\s*(?:named_)?(?:parameters|modules|buffers|children)\s*\(")
SAME_ITEMS = {"list", "tuple", "sorted", "reversed", "iter", "dict"}
ENDS = {"item", "tolist", "numpy"}
REDUCERS = {"norm", "mean", "std", "var", "sum", "min", "max", "amin", "amax", "median", "abs", "sqrt"}
LOGS = {"print", "debug", "info", "warning", "error", "log", "add_scalar", "add_scalars", "add_histogram", "add_text"}
LOGS |= {"log_metric", "log_metrics", "log_dict", "writerow", "write", "echo", "record", "emit", "scalar", "histogram"}
ASKS = {"isinstance", "hasattr", "getattr", "type", "len", "id", "repr", "str", "print"}
WORK = {"backward", "step", "zero_grad", "load_state_dict", "register_buffer", "register_parameter", "setattr"}
WORK |= {"all_reduce", "broadcast", "all_gather", "reduce", "reduce_scatter", "delattr"}
SPEAKS = re.compile(
    r"debug|telemetry|stat(istic)?s?|log(s|ging|ger)?|monitor(s|ing)?|metrics?|report(s|ing|er)?|summar(y|ies|i[sz]e)|"
    r"diagnos(e|tics?)|inspect(or)?|dump|histograms?|describe|print|introspect|watch|probe|health"
)
NEVER = {"forward", "backward", "step", "closure", "training_step", "validation_step", "state_dict", "extra_repr"}
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True)
class Evidence:
    """Why a function counts as telemetry: the loop, the call that ends on the host, and what speaks for telemetry.

    `breaks` tells whether the end breaks a graph: `item`, `tolist` and `float` do, `numpy` does not (torch 2.13).
    """

    loop: ast.AST
    end: ast.Call
    because: str
    breaks: bool


def evidence(module: Module, function: Function) -> Evidence | None:
    """The evidence that a function is telemetry; None if any piece is missing.

    It must loop over a model's parts, bring values of theirs to the host, and hand these on: return them, store them
    outside or log them. It must not work: no in-place method on what it did not make, no `backward`, `step` or
    collective, no call of the model or a part, no host value back into torch. And something must say what it is for: a
    word in the name of the function, its class, file or folder; a logging call, unless the model goes elsewhere too,
    as in a training script; or values returned under the parts' names.
    """
    if function.name in NEVER or function.name.startswith("__") or is_test(module, function):
        return None
    span = module.span(function)
    if not LOOPS.search(module.text, span.start, span.end):
        return None
    body = Body(module, function)
    if not body.ends or not body.hands_on() or body.works():
        return None
    logs = "" if body.hands_model_on() else body.logs()
    because = names_telemetry(module, function) or logs or body.returns_by_name()
    breaks = any(last_name(end) != "numpy" for end in body.ends)
    return Evidence(body.loops[0][2], body.ends[0], because, breaks) if because else None


def is_test(module: Module, function: Function) -> bool:
    return is_test_file(module.path) or function.name.startswith("test")


def names_telemetry(module: Module, function: Function) -> str:
    """The first name around the function that speaks of telemetry."""
    path = PurePosixPath(module.path)
    owner = module.enclosing(function, ast.ClassDef)
    for name in (function.name, owner.name if owner else "", path.stem, path.parent.name):
        if any(SPEAKS.fullmatch(word.lower()) for word in WORD.findall(name)):
            return f"the name {name!r} speaks of telemetry"
    return ""


class Body:
    """What one function does with a model's parts."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self.flow = Flow(function)
        self.nodes = self.flow.nodes
        self.loops = [loop for loop in self.flow.loops() if self.parts(loop[0], loop[1])]

    def parts(self, target: ast.expr, source: ast.expr, depth: int = 0) -> set[str]:
        """The names that hold a parameter, buffer or module in a loop over a model; empty for any other loop."""
        if isinstance(source, ast.Name) and len(self.flow.held.get(source.id, [])) == 1 and depth < 5:
            return self.parts(target, self.flow.held[source.id][0], depth + 1)
        if not isinstance(source, ast.Call):
            return set()
        pair = target.elts if isinstance(target, ast.Tuple) else []
        name = last_name(source)
        if isinstance(source.func, ast.Attribute):
            if name in ITERATORS:
                return stored(pair[1] if name in NAMED and len(pair) == 2 else target)
            return self.parts(target, source.func.value, depth + 1) if name in ("items", "values") else set()
        if name in SAME_ITEMS and source.args:
            return self.parts(target, source.args[0], depth + 1)
        if name == "enumerate" and source.args and len(pair) == 2:
            return self.parts(pair[1], source.args[0], depth + 1)
        if name == "zip" and len(pair) == len(source.args):
            return set().union(*(self.parts(*both, depth + 1) for both in zip(pair, source.args, strict=True)))
        return set()

    @cached_property
    def elements(self) -> set[str]:
        return {name for target, source, _ in self.loops for name in self.parts(target, source)}

    @cached_property
    def models(self) -> set[str]:
        """What the parts are asked of, as written."""
        calls = [node.func for node in self.nodes if isinstance(node, ast.Call) and last_name(node) in ITERATORS]
        return {ast.unparse(func.value) for func in calls if isinstance(func, ast.Attribute)}

    def hands_model_on(self) -> bool:
        """Whether the model itself is given to a function that may do anything with it."""
        calls = (node for node in self.nodes if isinstance(node, ast.Call) and last_name(node) not in ASKS)
        return any(ast.unparse(argument) in self.models for call in calls for argument in call.args)

    @cached_property
    def ends(self) -> list[ast.Call]:
        """The calls that bring to the host what was made from the model's parts."""
        if not self.loops:
            return []
        made = self.flow.spread(self.elements, set())
        return [node for node in self.nodes if isinstance(node, ast.Call) and self.is_end(node, made)]

    def is_end(self, call: ast.Call, made: set[str]) -> bool:
        if isinstance(call.func, ast.Attribute):
            return call.func.attr in ENDS and not call.args and mentions(call.func.value, made, set())
        inner = call.args[0] if last_name(call) == "float" and len(call.args) == 1 else None
        reduces = isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in REDUCERS
        return reduces and inner is not None and mentions(inner, made, set())

    @cached_property
    def on_host(self) -> set[str]:
        return self.flow.spread(set(), set(self.ends))

    def holds_host_value(self, node: ast.AST | None) -> bool:
        return node is not None and mentions(node, self.on_host, set(self.ends))

    def hands_on(self) -> bool:
        """Whether host values leave: by return, by a logging call, or into something that was there before."""
        leaves = (node.value for node in self.nodes if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)))
        returned = any(self.holds_host_value(value) for value in leaves)
        return returned or bool(self.logs()) or self.flow.hands_to_argument(self.on_host, set(self.ends))

    def logs(self) -> str:
        for node in self.nodes:
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(call, ast.Call) and last_name(call) in LOGS and self.holds_host_value(call):
                return f"it logs them in line {call.lineno}"
        return ""

    def returns_by_name(self) -> str:
        """Whether values are returned together with the names of the parts."""
        for target, source, _ in self.loops:
            labels = stored(target) - self.parts(target, source)
            returns = (node.value for node in self.nodes if isinstance(node, ast.Return) and node.value)
            made = self.flow.spread(labels, set())
            if any(mentions(value, made, set()) and self.holds_host_value(value) for value in returns):
                return "it returns them by name"
        return ""

    def works(self) -> bool:
        """Whether the function does more than look."""
        return any(self.is_work(node) for node in self.nodes)

    def is_work(self, node: ast.AST) -> bool:
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)) and not isinstance(node, ast.Name):
            return root(node) in self.elements
        if not isinstance(node, ast.Call):
            return False
        name = last_name(node)
        in_place = is_in_place(node) and root(node.func) not in self.made_here
        called = ast.unparse(node.func).removesuffix(".forward")
        calls_part = called in self.elements or called in self.models
        torch = (self.module.resolve(node.func) or "").startswith("torch.")
        feeds = torch and any(self.holds_host_value(argument) for argument in node.args)
        return in_place or calls_part or feeds or name in WORK

    @cached_property
    def made_here(self) -> set[str]:
        """Local names that hold only what a torch function returned: changing these in place harms nobody."""
        calls = {name: [getattr(value, "func", value) for value in values] for name, values in self.flow.held.items()}
        return {
            name
            for name, funcs in calls.items()
            if all((self.module.resolve(func) or "").startswith("torch.") for func in funcs)
        }
