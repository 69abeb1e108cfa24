"""Patterns and tables of constants that a function makes anew at each call become constants of the module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import insert_line_after
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.scopes import names_within
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.constructions.naming import variable_of
from fullgraph.codemods.topics.constructions.values import NotConstantError, constant_value
from fullgraph.codemods.topics.constructions.writing import can_go, indented_like, remove_line, text_without

READS = {"get", "keys", "values", "items", "index", "count", "copy", "isdisjoint", "issubset", "issuperset", "union"}
SIMPLE = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)
FEWEST = 3


@dataclass(frozen=True)
class Table:
    """An expression whose value is always the same, and what it is, in a word."""

    node: ast.expr
    what: str


def tables(names: Definitions, module: Module) -> Iterator[Table]:
    """Compiled patterns, and dicts, lists and sets of constants that a variable holds and the function only reads."""
    for call in module.nodes(ast.Call):
        if is_pattern(module, call) and in_function(module, call):
            yield Table(call, "pattern")
    for node in module.nodes(ast.Dict, ast.List, ast.Set):
        if in_function(module, node) and is_constant_table(names, module, node) and is_only_read(module, node):
            yield Table(node, "table")


def in_function(module: Module, node: ast.expr) -> bool:
    return isinstance(module.scopes.around(node), Function)


def is_pattern(module: Module, call: ast.Call) -> bool:
    """`re.compile("...")`, also with flags: a pattern cannot be changed, so it does not matter who gets it."""
    if module.resolve(call.func) != "re.compile" or not call.args or len(call.args) > 2:
        return False
    flags = [*call.args[1:], *(keyword.value for keyword in call.keywords)]
    parts = [part for flag in flags for part in ast.walk(flag) if isinstance(part, ast.Attribute)]
    is_flag = all((module.resolve(part) or "").startswith("re.") for part in parts)
    return isinstance(call.args[0], ast.Constant) and is_flag and all(is_flags(flag) for flag in flags)


def is_flags(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr) and is_flags(node.left) and is_flags(node.right)
    return isinstance(node, ast.Attribute)


def is_constant_table(names: Definitions, module: Module, node: ast.Dict | ast.List | ast.Set) -> bool:
    items = [*node.keys, *node.values] if isinstance(node, ast.Dict) else [*node.elts]
    size = len(node.values) if isinstance(node, ast.Dict) else len(node.elts)
    if size < FEWEST or any(item is None or isinstance(item, ast.Starred) for item in items):
        return False
    try:
        values = [constant_value(names, module, item) for item in items if item]
    except NotConstantError:
        return False
    return all(is_fixed(value) for value in values)


def is_fixed(value: object) -> bool:
    return all(map(is_fixed, value)) if isinstance(value, tuple) else not isinstance(value, list)


def is_only_read(module: Module, node: ast.expr) -> bool:
    """Whether the variable that holds a table is nothing but looked up, walked through or asked for its size."""
    variable = variable_of(module, node)
    if variable is None or len(module.scopes.bindings(variable)) != 1:
        return False
    if not isinstance(module.scopes.of(variable), Function):
        return False
    mentions = [name for name in module.scopes.names(module.scopes.of(variable), variable.id) if name is not variable]
    can_be_read = not any(module.enclosing(mention, ast.JoinedStr) for mention in mentions)
    return bool(mentions) and can_be_read and all(is_lookup(module, mention) for mention in mentions)


def is_lookup(module: Module, mention: ast.Name) -> bool:
    parent = module.parent(mention)
    if isinstance(parent, ast.Subscript):
        return parent.value is mention and isinstance(parent.ctx, ast.Load)
    if isinstance(parent, ast.Attribute):
        call = module.parent(parent)
        return parent.attr in READS and isinstance(call, ast.Call) and call.func is parent
    if isinstance(parent, ast.Compare):
        return mention is not parent.left and isinstance(parent.ops[0], (ast.In, ast.NotIn))
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter is mention
    return isinstance(parent, ast.Call) and module.scopes.is_builtin(parent.func, "len", "zip", "enumerate", "sorted")


class Naming:
    """Gives constants of one module their names and lines; the same text twice is one constant."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def write(self, table: Table) -> tuple[Edit, ...]:
        """The edits that define the constant and use it."""
        module = self.module
        text = indented_like(module, table.node, text_without(module, table.node), "")
        name = self.name(table, text)
        variable, statement = variable_of(module, table.node), module.statement(table.node)
        mentions = module.scopes.names(module.scopes.of(variable), variable.id) if variable else []
        loads = [mention for mention in mentions if mention is not variable]
        is_plain = not any(module.enclosing(load, ast.JoinedStr) for load in loads)
        head = self.new_line(table, f"{name} = {text}")
        if variable is None or not loads or not is_plain or not can_go(module, statement, loads):
            return (head, module.replace(table.node, name))
        return (head, remove_line(module, statement), *(module.replace(load, name) for load in loads))

    def name(self, table: Table, text: str) -> str:
        if text not in self._given:
            self._taken = self._taken or names_within(self.module.tree)
            variable = variable_of(self.module, table.node)
            own = variable.id.strip("_") if variable else ""
            wanted = (own if len(own) > 2 else table.what).upper()
            candidates = [wanted, f"_{wanted}", *(f"{wanted}_{number}" for number in range(2, 100))]
            self._given[text] = next(name for name in candidates if name not in self._taken)
            self._taken.add(self._given[text])
        return self._given[text]

    def new_line(self, table: Table, line: str) -> Edit:
        """Behind the last of the imports and constants above the first definition."""
        module, body = self.module, self.module.tree.body
        first = next((n for n, node in enumerate(body) if not isinstance(node, SIMPLE) and n), len(body))
        head = [node for node in body[:first] if isinstance(node, SIMPLE)]
        needed = {name.id for name in ast.walk(table.node) if isinstance(name, ast.Name)}
        bound = {name for node in head for name in names_within(node)}
        if not head or not needed <= bound or not module.begins_line(head[-1]):
            raise Unsure(f"{where(module, table.node)}: what it needs is not there above all definitions")
        gap = "" if isinstance(head[-1], (ast.Assign, ast.AnnAssign)) else "\n"
        return insert_line_after(module, head[-1], gap + line)
