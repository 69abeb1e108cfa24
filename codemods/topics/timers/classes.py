"""Timers that wait for the device: which classes and functions they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.assignments import attribute_settings, own_nodes

WAITS = {f"torch.{kind}.synchronize" for kind in ("cuda", "accelerator", "mps", "xpu", "mtia", "npu", "musa", "hpu")}
DEVICE_OBJECT = re.compile(r"torch\.(?:\w+\.)*(?:Event|Stream|ExternalStream|current_stream|default_stream)")
CLOCK = re.compile(r"(?:time\.(?:perf_counter|time|monotonic|process_time)(?:_ns)?|timeit\.default_timer)")
ENDS = {"stop", "__exit__", "end", "finish", "toc", "tock", "lap", "split", "pause", "elapsed", "elapsed_ms"}
ENDS |= {"elapsed_time", "elapsed_seconds", "get_elapsed", "get_elapsed_time", "stop_timer", "end_timer"}
BEGINS = {"start", "__enter__", "begin", "tic", "tick", "reset", "resume", "restart", "start_timer"}
TIMER = re.compile(r"timer|timing|stop_?watch|clock|chrono|benchmark|profil|meter|timeit", re.I)
SAMPLED = re.compile(r"every|interval|sample|freq|period", re.I)
DEVICE_WORD = re.compile(r"cuda|gpu|device|accel|mps|xpu", re.I)


@dataclass(frozen=True)
class Timer:
    """A class that keeps time, the method that ends an interval and waits, and the waits where one begins."""

    owner: ast.ClassDef
    end: ast.FunctionDef
    begins: tuple[ast.stmt, ...]
    others: tuple[ast.FunctionDef, ...] = ()
    """More methods that wait at the end of an interval."""

    @property
    def me(self) -> str:
        return self.end.args.args[0].arg


class Waits:
    """What makes the host wait for the device in one module."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def calls(self, nodes: Iterable[ast.AST], owner: ast.ClassDef | None) -> list[ast.Call]:
        """The waiting calls among these nodes; a call of a small function or method that waits is one."""
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        return [call for call in calls if self.waits(call, owner) or self.waits_inside(call, owner)]

    def waits(self, call: ast.Call, owner: ast.ClassDef | None) -> bool:
        func = call.func
        if self.module.resolve(func) in WAITS:
            return True
        if not isinstance(func, ast.Attribute) or func.attr != "synchronize" or self.module.resolve(func):
            return False
        made = func.value.func if isinstance(func.value, ast.Call) else None
        if made is not None:
            return bool(DEVICE_OBJECT.fullmatch(self.module.resolve(made) or ""))
        return owner is not None and (measures_by_events(owner) or self.holds_device_object(func.value, owner))

    def holds_device_object(self, node: ast.expr, owner: ast.ClassDef) -> bool:
        settings = attribute_settings(owner, node.attr) if isinstance(node, ast.Attribute) else []
        made = [item.value.func for item in settings if isinstance(item.value, ast.Call)]
        return any(DEVICE_OBJECT.fullmatch(self.module.resolve(func) or "") for func in made)

    def waits_inside(self, call: ast.Call, owner: ast.ClassDef | None) -> bool:
        """Whether it calls a method of the class, or a function of the module, that is there to wait."""
        func = call.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and owner is not None:
            bodies = [node for node in owner.body if getattr(node, "name", "") == func.attr]
            known = func.attr in ENDS | BEGINS or func.value.id not in ("self", "cls", owner.name)
            bodies = [] if known else bodies
        elif isinstance(func, ast.Name):
            bodies = [node for node in self.module.tree.body if getattr(node, "name", "") == func.id]
        else:
            return False
        functions = [node for node in bodies if isinstance(node, ast.FunctionDef)]
        return any(self.is_small_wait(function, owner) for function in functions)

    def is_small_wait(self, function: ast.FunctionDef, owner: ast.ClassDef | None) -> bool:
        nodes = list(own_nodes(function))
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        returns = any(isinstance(node, ast.Return) and node.value for node in nodes)
        reads = any(is_clock(self.module, call) for call in calls)
        return len(function.body) <= 4 and not returns and not reads and any(self.waits(c, owner) for c in calls)


def is_clock(module: Module, node: ast.AST) -> bool:
    """Whether a call reads a clock, or the time between two events."""
    if not isinstance(node, ast.Call):
        return False
    is_events = isinstance(node.func, ast.Attribute) and node.func.attr == "elapsed_time"
    return is_events or bool(CLOCK.fullmatch(module.resolve(node.func) or ""))


def measures_by_events(owner: ast.ClassDef) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "elapsed_time" for node in ast.walk(owner))


def timers(module: Module) -> Iterator[Timer]:
    """Every class that keeps time and waits for the device where an interval ends, and cannot be told not to."""
    waits = Waits(module)
    for owner in module.nodes(ast.ClassDef):
        methods = [node for node in owner.body if isinstance(node, ast.FunctionDef) and node.args.args]
        ends = [item for item in methods if item.name in ENDS and waits.calls(own_nodes(item), owner)]
        begins = [item for item in methods if item.name in BEGINS]
        if not ends or not (begins or TIMER.search(owner.name)) or not keeps_time(module, owner):
            continue
        if is_optional(module, waits, owner, ends):
            continue
        at_begin = [call for item in begins for call in waits.calls(own_nodes(item), owner)]
        statements = [module.parent(call) for call in at_begin]
        plain = sorted((node for node in statements if isinstance(node, ast.Expr)), key=lambda node: node.lineno)
        yield Timer(owner, ends[0], tuple(plain), tuple(ends[1:]))


def keeps_time(module: Module, owner: ast.ClassDef) -> bool:
    return any(is_clock(module, node) for node in ast.walk(owner))


def is_optional(module: Module, waits: Waits, owner: ast.ClassDef, ends: list[ast.FunctionDef]) -> bool:
    """Whether the class samples already, or a flag that its maker sets decides about the wait."""
    for node in ast.walk(owner):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and SAMPLED.search(ast.unparse(node.right)):
            return True
    tests = [test for end in ends for test in tests_of_waits(module, waits, owner, end)]
    return any(is_flag(owner, node) for test in tests for node in ast.walk(test))


def tests_of_waits(module: Module, waits: Waits, owner: ast.ClassDef, end: ast.FunctionDef) -> Iterator[ast.expr]:
    """What decides whether a method comes to its wait: tests around it, and tests before that return."""
    for call in waits.calls(own_nodes(end), owner):
        for outer in module.ancestors(call):
            if outer is end:
                break
            if isinstance(outer, (ast.If, ast.IfExp)):
                yield outer.test
    for node in end.body:
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Return):
            yield node.test


def is_flag(owner: ast.ClassDef, node: ast.AST) -> bool:
    """Whether `self.flag` is a setting of the class's own: a bool that `__init__` takes, and no question of devices."""
    if not isinstance(node, ast.Attribute) or DEVICE_WORD.search(node.attr):
        return False
    for item in attribute_settings(owner, node.attr):
        if isinstance(item, ast.AnnAssign) and item in owner.body and ast.unparse(item.annotation) == "bool":
            return not (isinstance(item.value, ast.Call))
        if isinstance(item.value, ast.Name) and is_bool_argument(owner, item.value.id):
            return True
    return False


def is_bool_argument(owner: ast.ClassDef, name: str) -> bool:
    for init in (node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"):
        arguments = [*init.args.posonlyargs, *init.args.args, *init.args.kwonlyargs]
        padding = len(init.args.posonlyargs) + len(init.args.args) - len(init.args.defaults)
        defaults = [None] * padding + [*init.args.defaults, *init.args.kw_defaults]
        for argument, default in zip(arguments, defaults, strict=True):
            if argument.arg == name:
                said = argument.annotation is not None and ast.unparse(argument.annotation) == "bool"
                return said or (isinstance(default, ast.Constant) and isinstance(default.value, bool))
    return False


def timing_functions(module: Module) -> Iterator[ast.FunctionDef]:
    """Context managers written as generators that read a clock and wait for the device after they have yielded."""
    waits = Waits(module)
    for function in module.nodes(ast.FunctionDef):
        made = {module.resolve(item) for item in function.decorator_list}
        if "contextlib.contextmanager" not in made:
            continue
        nodes = sorted(own_nodes(function), key=lambda node: getattr(node, "lineno", 0))
        yielded = [node.lineno for node in nodes if isinstance(node, ast.Yield)]
        late = [call for call in waits.calls(nodes, None) if yielded and call.lineno > yielded[0]]
        if late and any(is_clock(module, node) for node in nodes) and not function.args.kwarg:
            yield function
