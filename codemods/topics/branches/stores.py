"""A branch whose two sides end by storing a tensor in the same place, each after preparing its own.

```python
if length > self.limit:
    if not hasattr(self, "long_table"):
        self.long_table = self.make_table(length)
    self.register_buffer("table", self.long_table, persistent=False)
else:
    self.register_buffer("table", self.short_table, persistent=False)
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from fullgraph.codemods.model import Unsure
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.topics.branches.aliases import later_nodes, writes
from fullgraph.codemods.topics.branches.conditions import Condition, read_condition
from fullgraph.codemods.topics.branches.path import reader_at
from fullgraph.codemods.topics.branches.reading import Reader, is_dotted
from fullgraph.codemods.topics.branches.values import Work


@dataclass(frozen=True)
class Side:
    """One side: what it prepares, and the tensor that it stores."""

    preparations: list[ast.stmt]
    store: ast.stmt
    value: ast.expr

    @property
    def nodes(self) -> list[ast.stmt]:
        return [*self.preparations, self.store]


@dataclass(frozen=True)
class Stores:
    """A branch that only decides which of two tensors is stored in one place."""

    node: ast.If
    reader: Reader
    condition: Condition
    asked: Work
    sides: tuple[Side, Side]


def stored_value(statement: ast.stmt) -> ast.expr | None:
    """The value of `self.name = value` and of `self.register_buffer("name", value)`."""
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        is_place = len(statement.targets) == 1 and isinstance(target, ast.Attribute) and is_dotted(target)
        return statement.value if is_place else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not is_dotted(call.func):
        return None
    is_named = len(call.args) == 2 and isinstance(call.args[0], ast.Constant)
    plain = all(word.arg == "persistent" and isinstance(word.value, ast.Constant) for word in call.keywords)
    return call.args[1] if call.func.attr == "register_buffer" and is_named and plain else None


def stores_one_place(node: ast.AST) -> bool:
    """Whether both sides of a branch end in the same store, but for what is stored."""
    if not isinstance(node, ast.If) or not node.orelse:
        return False
    one, other = node.body[-1], node.orelse[-1]
    return bool(stored_value(one) and stored_value(other)) and form(one) == form(other)


def form(statement: ast.stmt) -> str:
    value = stored_value(statement)
    assert value is not None
    return ast.dump(statement).replace(ast.dump(value), "?")


def read_stores(module: Module, function: Function, node: ast.If) -> Stores:
    """The two sides, if what they prepare may be done on both; Unsure says why not."""
    if module.code(node).startswith("elif"):
        raise Unsure(f"line {node.lineno}: it is the `elif` of a test that asks for no tensor's value")
    reader, asked = reader_at(module, function, node), Work()
    condition = read_condition(reader, node.test, asked, is_first=True)
    if condition.static or asked.wants_more:
        raise Unsure(f"line {node.lineno}: the test asks for more than one thing, and the sides store into an object")
    sides = (read_side(reader, node.body), read_side(reader, node.orelse))
    check_apart(node, *sides)
    for later in later_nodes(reader, node):
        if line := writes(later):
            raise Unsure(f"line {line}: something is written in place, and it may be what the branch has stored")
    return Stores(node, reader, condition, asked, sides)


def read_side(reader: Reader, body: list[ast.stmt]) -> Side:
    *preparations, store = body
    value = stored_value(store)
    assert value is not None
    if not isinstance(value, ast.Name | ast.Attribute) or not is_dotted(value):
        raise Unsure(f"line {store.lineno}: what it stores is no name or attribute")
    for statement in preparations:
        if not is_cache(reader, statement) and not is_move(statement):
            raise Unsure(f"line {statement.lineno}: it stores into an object, and does more than fill a cache")
    for node in (inner for statement in body for inner in ast.walk(statement)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and not is_bound(reader, node):
            raise Unsure(f"line {node.lineno}: `{node.id}` may not be bound where the other side is taken")
    return Side(preparations, store, value)


def is_bound(reader: Reader, node: ast.Name) -> bool:
    scopes = reader.module.scopes
    return node.id in reader.env or scopes.is_builtin(node, node.id) or scopes.of(node) is reader.module.tree


def is_move(statement: ast.stmt) -> bool:
    """`self.table = self.table.to(device)`: done twice it is done once."""
    if not isinstance(statement, ast.Assign) or stored_value(statement) is None:
        return False
    call = statement.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "to":
        return False
    given = [*call.args, *(word.value for word in call.keywords)]
    is_same = ast.unparse(call.func.value) == ast.unparse(statement.targets[0])
    return is_same and all(isinstance(item, ast.Constant) or is_dotted(item) for item in given)


def is_cache(reader: Reader, statement: ast.stmt) -> bool:
    """`if not hasattr(self, "table"): self.table = ...`, and the same with `if self.table is None:`."""
    if not isinstance(statement, ast.If) or statement.orelse or len(statement.body) != 1:
        return False
    fill = statement.body[0]
    if not isinstance(fill, ast.Assign) or len(fill.targets) != 1:
        return False
    target = fill.targets[0]
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    places = [part for part in parts if isinstance(part, ast.Attribute) and is_dotted(part)]
    names = [part for part in parts if isinstance(part, ast.Name)]
    if len(places) != 1 or len(names) + 1 != len(parts) or any(is_mentioned_twice(reader, name) for name in names):
        return False
    return ast.unparse(statement.test) in questions(places[0]) and not binds_inside(fill.value)


def questions(place: ast.Attribute) -> tuple[str, str]:
    return f"not hasattr({ast.unparse(place.value)}, {place.attr!r})", f"{ast.unparse(place)} is None"


def is_mentioned_twice(reader: Reader, name: ast.Name) -> bool:
    every = [getattr(node, "id", getattr(node, "arg", "")) for node in ast.walk(reader.function)]
    return every.count(name.id) > 1


def binds_inside(value: ast.expr) -> bool:
    odd = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)
    return any(isinstance(node, odd) for node in ast.walk(value))


def check_apart(node: ast.If, one: Side, other: Side) -> None:
    """No side may speak of what the other prepares, nor the test, nor anybody of the place that is stored to."""
    place = written([one.store])
    for mine, others in ((one, other), (other, one)):
        shared = written(mine.preparations) & (mentions(others.nodes) | mentions([node.test]) | place)
        shared |= place & mentions([*mine.preparations, mine.value, node.test])
        if shared:
            raise Unsure(f"line {node.lineno}: `{sorted(shared)[0]}` is prepared on one side and used elsewhere")
    if ast.unparse(one.value) == ast.unparse(other.value):
        raise Unsure(f"line {node.lineno}: both sides store the same")


def written(statements: Iterable[ast.stmt]) -> set[str]:
    """The last names of the places that are stored to."""
    found: set[str] = set()
    for node in (inner for statement in statements for inner in ast.walk(statement)):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "register_buffer":
            found |= {str(item.value) for item in node.args[:1] if isinstance(item, ast.Constant)}
    return found


def mentions(nodes: Iterable[ast.AST]) -> set[str]:
    """Attributes and strings: by either can a place be read."""
    every = [inner for node in nodes for inner in ast.walk(node)]
    texts = {node.value for node in every if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return texts | {node.attr for node in every if isinstance(node, ast.Attribute)}
