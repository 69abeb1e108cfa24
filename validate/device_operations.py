"""Operations that only an accelerator performs: streams, events, waits, pinned memory, marks for CUDA graphs.

A CPU runs the line and shows nothing of what it is for. So a change that concerns such an operation is proven only
where the operation was performed: on an accelerator, by the made-up device that counts waits, or by streams that the
scenario itself defines.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

CALLS = {
    *("wait_stream", "wait_event", "record_stream", "record_event", "synchronize", "pin_memory"),
    *("set_stream", "cudagraph_mark_step_begin", "make_graphed_callables", "CUDAGraph", "elapsed_time"),
}
"""By name, whoever owns them."""

OF_EVENTS = {"wait", "record", "query"}
"""By name, where the owner's name says that it is a stream or an event."""

KEYWORDS = {"non_blocking", "pin_memory", "pin_memory_device"}
MODULES = ("torch.cuda.", "torch.accelerator.", "torch.xpu.", "torch.mps.", "torch.npu.", "torch.hpu.", "torch.mtia.")
HARMLESS = (
    *("is_", "amp.", "device_count", "get_device", "get_arch_list", "can_"),
    *("current_accelerator", "current_device", "current_stream", "default_stream"),
)
"""What of these modules only asks, or does the same everywhere."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
GUARDS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)
EXITS = (ast.Return, ast.Continue, ast.Break)


@dataclass(frozen=True)
class Operation:
    """One operation in a text. Two that have the same `key` below the same `guards` do the same."""

    name: str
    key: str
    guards: tuple[str, ...]
    first: int
    last: int


@dataclass
class Flow:
    """What one function does, in order: its statements, and where its operations stand among them."""

    steps: list[str] = field(default_factory=list)
    exits: dict[int, tuple[str, ...]] = field(default_factory=dict)
    operations: list[tuple[int, Operation]] = field(default_factory=list)

    def around(self, at: int) -> tuple[Counter[str], Counter[str]]:
        """The statements before and after a place."""
        return Counter(self.steps[:at]), Counter(self.steps[at + 1 :])

    def exits_before(self, at: int) -> Counter[tuple[str, ...]]:
        return Counter(guards for place, guards in self.exits.items() if place < at)


@dataclass(frozen=True)
class Touched:
    """An operation that a change adds, removes, moves or puts under another condition, on each side that has it."""

    function: str
    before: Operation | None
    after: Operation | None

    @property
    def name(self) -> str:
        return (self.before or self.after).name  # type: ignore[union-attr]


def touched_operations(before: ast.Module | None, after: ast.Module | None) -> list[Touched]:
    """All operations of one file that the change concerns."""
    if before is None or after is None:
        found = [(name, one) for tree in (before, after) if tree for name, one in named_operations(tree)]
        return [Touched(name, one if before else None, one if after else None) for name, one in found]
    old, new = flows_of(before), flows_of(after)
    names = [name for name in {**old, **new} if old.get(name, Flow()) != new.get(name, Flow())]
    return [one for name in names for one in compare_flows(name, old.get(name, Flow()), new.get(name, Flow()))]


def named_operations(tree: ast.Module) -> Iterator[tuple[str, Operation]]:
    for name, flow in flows_of(tree).items():
        yield from ((name, one) for _, one in flow.operations)


def compare_flows(function: str, before: Flow, after: Flow) -> Iterator[Touched]:
    """Each operation with the one that it became, if it is not where and as it was."""
    left = list(after.operations)
    for at, one in before.operations:
        alike = [(place, other) for place, other in left if other.key == one.key]
        if not alike:
            yield Touched(function, one, None)
            continue
        match = next((pair for pair in alike if pair[1].guards == one.guards), alike[0])
        left.remove(match)
        if match[1].guards != one.guards or is_reordered(before, at, after, match[0]):
            yield Touched(function, one, match[1])
    yield from (Touched(function, None, one) for _, one in left)


def is_reordered(before: Flow, at: int, after: Flow, place: int) -> bool:
    """Whether a statement went from one side of the operation to the other, or a way out now comes before it."""
    (above, below), (above_now, below_now) = before.around(at), after.around(place)
    crossed = (above - above_now) & (below_now - below) or (below - below_now) & (above_now - above)
    return bool(crossed) or before.exits_before(at) != after.exits_before(place)


def flows_of(tree: ast.Module) -> dict[str, Flow]:
    """By qualified name; what is at the top level of the module has none."""
    found: dict[str, Flow] = {}
    read_block(tree.body, "", (), found)
    return found


def read_block(block: Sequence[ast.stmt], function: str, guards: tuple[str, ...], found: dict[str, Flow]) -> None:
    for statement in block:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            read_block(statement.body, f"{function}.{statement.name}", (), found)
        else:
            read_statement(statement, function, guards, found)


def read_statement(statement: ast.AST, function: str, guards: tuple[str, ...], found: dict[str, Flow]) -> None:
    flow = found.setdefault(function, Flow())
    held = list(parts_of(statement))
    at = len(flow.steps)
    flow.steps.append(" ".join([type(statement).__name__, *map(ast.dump, held)]))
    operations = [
        Operation(name, key, guards, node.lineno, node.end_lineno or node.lineno)
        for part in held
        for name, key, node in operations_in(part)
    ]
    flow.operations += [(at, one) for one in operations]
    if isinstance(statement, EXITS):
        flow.exits[at] = guards
    for label, block in blocks_of(statement):
        is_guard = isinstance(statement, GUARDS) or operations
        inner = (*guards, f"{label} {flow.steps[at]}") if is_guard else guards
        read_inner(block, function, inner, found)


def read_inner(block: Sequence[ast.AST], function: str, guards: tuple[str, ...], found: dict[str, Flow]) -> None:
    for one in block:
        if isinstance(one, ast.stmt):
            read_block([one], function, guards, found)
        else:
            read_statement(one, function, guards, found)


def parts_of(statement: ast.AST) -> Iterator[ast.expr | ast.withitem | ast.pattern]:
    """The expressions of a statement itself, without the blocks below it."""
    for value in (value for _, value in ast.iter_fields(statement)):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, (ast.expr, ast.withitem, ast.pattern)):
                yield one


def blocks_of(statement: ast.AST) -> Iterator[tuple[str, list[ast.AST]]]:
    """The blocks below a statement, by name: body, orelse, handlers, finalbody, cases."""
    for name, value in ast.iter_fields(statement):
        if isinstance(value, list) and value and isinstance(value[0], (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield name, value


def operations_in(part: ast.AST) -> Iterator[tuple[str, str, ast.Call]]:
    """Name, key and place of each."""
    for node in ast.walk(part):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if is_operation(name):
            yield name.rpartition(".")[2], ast.dump(node), node
        for keyword in node.keywords:
            if keyword.arg in KEYWORDS and not is_off(keyword.value):
                yield str(keyword.arg), f"{keyword.arg} {name.rpartition('.')[2]} {ast.dump(keyword.value)}", node


def is_off(value: ast.expr) -> bool:
    """`non_blocking=False` asks for nothing."""
    return isinstance(value, ast.Constant) and not value.value


def is_operation(name: str) -> bool:
    owner, _, last = name.rpartition(".")
    if last in CALLS or (last in ("Stream", "Event") and owner.startswith("torch")):
        return True
    if last in OF_EVENTS:
        return any(word in owner.rpartition(".")[2].lower() for word in ("stream", "cuda_event"))
    module = next((module for module in MODULES if name.startswith(module)), "")
    return bool(module) and not name.removeprefix(module).startswith(HARMLESS)
