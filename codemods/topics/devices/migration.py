"""Where a method moves the object's own state to the device of its input."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.topics.devices.method import MOVES, Devices, Method, Move, first_argument
from fullgraph.codemods.topics.devices.warning import helpers

ASKED_TO_MOVE = {"__init__", "__new__", "__setstate__", "_apply", "load_state_dict", "_load_from_state_dict", *MOVES}
SPEAKS = re.compile(r"(?:^|_)(?:warn|warning|warnings|log|logger|logging|print)(?:_|$)|^(?:rank_zero_\w+|LOG|LOGGER)$")
NOT_TENSORS = {"torch.compile", "torch.load", "torch.device"}
MOVE_CALL = re.compile(rf"\.(?:{'|'.join(MOVES)})\(")
LOOPS = (ast.For, ast.AsyncFor, ast.While)
BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True, slots=True)
class Migration:
    """A statement that moves state. `is_tested`: it only runs when the devices differ. `kind`: `cuda` for `.cuda()`.

    Without `devices` nothing near it says where the state was before. `unsure` is a reason to leave it.
    """

    owner: ast.ClassDef
    method: Function
    statement: ast.stmt
    devices: Devices | None
    is_tested: bool
    kind: str = ""
    unsure: str = ""

    @property
    def old(self) -> str:
        return self.devices.old if self.devices else ""

    @property
    def new(self) -> str:
        """How to write the device of the input; a bare `cuda` for `.cuda()`, which does not ask the input."""
        return self.kind or (self.devices.new if self.devices else "")


def migrations(module: Module) -> Iterator[Migration]:
    """All of them, in all methods of the module that nobody calls in order to move the object."""
    for method in module.nodes(*FUNCTIONS):
        owner = module.parent(method)
        if not isinstance(owner, ast.ClassDef) or method.name in ASKED_TO_MOVE:
            continue
        if MOVE_CALL.search(module.code(method)) and first_argument(method):
            yield from Search(module, owner, method).migrations()


class Search(Method):
    """Looks through one method."""

    def migrations(self) -> Iterator[Migration]:
        tested = list(self.tested(self.method.body))
        yield from tested
        if not tested and not self.tests:
            yield from self.untested()

    def moves(self, statement: ast.AST) -> list[Move]:
        """Without those that do nothing: `self.mean.to(x.device)` alone leaves a tensor where it is."""
        found = super().moves(statement)
        return [move for move in found if move.is_assigned or not is_made_tensor(self.module, self.owner, move.state)]

    def tested(self, block: list[ast.stmt]) -> Iterator[Migration]:
        """Migrations that hang on a test: in its branch, or behind an early return."""
        for index, statement in enumerate(block):
            if isinstance(statement, ast.If):
                for truth, branch in ((True, statement.body), (False, statement.orelse)):
                    yield from self.in_branch(branch, self.differ(statement.test, truth), statement)
                returns = isinstance(statement.body[-1], ast.Return) and not statement.orelse
                if returns and (devices := self.differ(statement.test, False)):
                    yield from self.in_region(block[index + 1 :], devices, up_to_move=True)
                    return
            elif not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                for inner in blocks(statement):
                    yield from self.tested(inner)

    def in_branch(self, branch: list[ast.stmt], devices: Devices | None, owner: ast.If) -> Iterator[Migration]:
        if devices:
            yield from self.in_region(branch, devices)
            return
        loose = [found for found in self.tests if found.test in ast.walk(owner.test)]
        either = any(self.differ(owner.test, truth) for truth in (True, False))
        if loose and not either and branch is owner.body:
            where = f"{self.module.path}:{owner.lineno}"
            for found in self.in_region(branch, loose[0]):
                yield replace(found, unsure=f"this branch also runs when the devices are the same ({where})")
        else:
            yield from self.tested(branch)

    def in_region(self, block: list[ast.stmt], devices: Devices, up_to_move: bool = False) -> Iterator[Migration]:
        """The first statement of a region that moves state, unless the region says so itself."""
        found = self.first_move(block, devices)
        if not found:
            return
        statement, move = found
        end = statement.end_lineno or statement.lineno
        heard = [item for item in block if item.lineno <= end] if up_to_move else block
        if not any(speaks(self.module, node) for item in heard for node in ast.walk(item)):
            kind = "" if move.device else move.name
            place = self.before_change(block, statement, devices)
            yield Migration(self.owner, self.method, place, devices, not devices.by_identity, kind)

    def before_change(self, block: list[ast.stmt], move: ast.stmt, devices: Devices) -> ast.stmt:
        """The first statement up to the move after which the devices would be read from something else."""
        sides = [ast.parse(side, mode="eval") for side in (devices.old, devices.new)]
        read = {ast.unparse(node) for side in sides for node in ast.walk(side) if isinstance(node, ast.expr)}
        for statement in block[: block.index(move)] if move in block else []:
            nodes = [
                node for node in ast.walk(statement) if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
            ]
            if any(ast.unparse(node) in read for node in nodes):
                return statement
        return move

    def first_move(self, block: list[ast.stmt], devices: Devices) -> tuple[ast.stmt, Move] | None:
        for statement in block:
            if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                continue
            inside = ast.walk(statement) if isinstance(statement, LOOPS) else [statement]
            for move in (move for node in inside for move in self.moves(node)):
                if self.follows(move, devices):
                    return statement, move
            if not isinstance(statement, LOOPS):
                for inner in blocks(statement):
                    if found := self.first_move(inner, devices):
                        return found
        return None

    def untested(self) -> Iterator[Migration]:
        """Moves to an input's device without any test: the first of each block. Setting up on first use is none."""
        statements = [node for node in self.nodes if isinstance(node, ast.stmt) and not self.is_set_up(node)]
        seen: set[tuple[ast.AST | None, str]] = set()
        for statement in sorted(statements, key=lambda node: node.lineno):
            for move in self.moves(statement):
                key = (self.module.parent(statement), move.device)
                follows = move.device.endswith(".device") and self.is_input(move.device)
                if follows and key not in seen and re.fullmatch(rf"{self.me}(?:\.\w+)*", move.state):
                    seen.add(key)
                    yield self.untested_migration(statement, move)

    def is_set_up(self, statement: ast.stmt) -> bool:
        """Whether it hangs on `if ... is None`."""
        tests = [node.test for node in self.module.ancestors(statement) if isinstance(node, ast.If)]
        return any(re.search(r"\bis None\b", ast.unparse(test)) for test in tests)

    def untested_migration(self, statement: ast.stmt, move: Move) -> Migration:
        devices = None
        if move.is_assigned and is_tensor(self.module, self.owner, move.state):
            devices = Devices(f"{move.state}.device", move.device, statement, "(" in move.device)
        return Migration(self.owner, self.method, statement, devices, False)


def blocks(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a compound statement."""
    for name in BLOCKS:
        inner = getattr(statement, name, None)
        if isinstance(inner, list):
            yield inner
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def speaks(module: Module, node: ast.AST) -> bool:
    """Whether this warns, logs, prints or raises."""
    if isinstance(node, ast.Raise):
        return True
    if not isinstance(node, ast.Call) or (module.resolve(node.func) or "").startswith("torch."):
        return False
    called = ast.unparse(node.func)
    return any(SPEAKS.search(part) for part in re.findall(r"\w+", called)) or called in helpers(module)


def is_tensor(module: Module, owner: ast.ClassDef, state: str) -> bool:
    """Whether the class shows that `self.state` is a tensor: by `.device`, `register_buffer`, or what is assigned."""
    return any(shows_tensor(module, node, state) for node in ast.walk(owner))


def is_made_tensor(module: Module, owner: ast.ClassDef, state: str) -> bool:
    """The same without `.device`, which modules of some libraries have too."""
    made = (node for node in ast.walk(owner) if isinstance(node, (ast.Assign, ast.Call)))
    return any(shows_tensor(module, node, state) for node in made)


def shows_tensor(module: Module, node: ast.AST, state: str) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "device" and ast.unparse(node.value) == state
    if isinstance(node, ast.Call):
        named = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        registers = getattr(node.func, "attr", "") in ("register_buffer", "register_parameter")
        return registers and named == state.rpartition(".")[2]
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and ast.unparse(node.targets[0]) == state:
        made_by = module.resolve(node.value.func) or ""
        is_function = re.fullmatch(r"torch\.[a-z_]+|torch\.nn\.Parameter", made_by)
        return bool(is_function) and made_by not in NOT_TENSORS
    return False
