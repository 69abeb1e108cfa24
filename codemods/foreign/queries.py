"""Which Bowler queries a file holds. A file may run them when it is imported: here that only shows which they are."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from fullgraph.codemods.model import FullgraphError

GENERIC = ("main", "query", "q", "run")
"""Names that say nothing: such a query is called by its file's name."""


@dataclass(frozen=True, slots=True)
class NamedQuery:
    name: str
    query: Any
    doc: str = ""


@contextmanager
def held_back() -> Iterator[list[Any]]:
    """Inside, `execute`, `diff`, `write` and the like of any query only note the query in the list. Nothing is run."""
    try:
        from bowler.query import Query
        from bowler.tool import BowlerTool
    except ImportError:
        yield []
        return
    executed: list[Any] = []
    execute, run = Query.execute, BowlerTool.run

    def note(query: Any, **settings: Any) -> Any:
        executed.append(query)
        return query

    def refuse(tool: Any, paths: Any) -> int:
        raise FullgraphError("runs Bowler's tool itself, which would write without review")

    Query.execute, BowlerTool.run = note, refuse
    try:
        yield executed
    finally:
        Query.execute, BowlerTool.run = execute, run


def queries_in(module: ModuleType, tree: ast.Module, executed: list[Any]) -> list[NamedQuery]:
    """The queries of a file, each once; to be called inside `held_back`, with what it noted so far.

    Module-level queries; what was executed on import; what functions return or execute that say, by annotation or by
    what they return, that they make a query, unless the file calls them itself; and if all that gives none, what
    `main()` makes, which is what Bowler's own `bowler run` calls.
    """
    from bowler.query import Query

    found: dict[int, NamedQuery] = {}
    stem = Path(module.__file__ or "query").stem.replace("-", "_")

    def add(name: str, query: Any, doc: str = "") -> None:
        if isinstance(query, Query) and id(query) not in found:
            wanted = stem if name in GENERIC else name
            found[id(query)] = NamedQuery(unused_name(wanted, {other.name for other in found.values()}), query, doc)

    def call(name: str, function: Callable[[], Any]) -> None:
        noted = len(executed)
        returned = function()
        for query in [returned, *executed[noted:]]:
            add(name, query, inspect.getdoc(function) or "")

    public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    for name, value in public.items():
        add(name, value)
    for query in list(executed):
        add(stem, query)
    makers = [name for name, value in public.items() if makes_query(value, module, tree)]
    called = set(called_on_import(tree))
    for name in makers:
        if name not in called:
            call(name, public[name])
    if not found and query_names(module) and is_plain_function(public.get("main"), module):
        call("main", public["main"])
    return list(found.values())


def unused_name(wanted: str, taken: set[str]) -> str:
    numbered = (f"{wanted}_{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (wanted, *numbered) if name not in taken)


def makes_query(value: Any, module: ModuleType, tree: ast.Module) -> bool:
    """Whether a function without required parameters is annotated with `Query`, or returns a chain that begins so."""
    if not is_plain_function(value, module):
        return False
    annotation = inspect.signature(value).return_annotation
    named = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    if annotation is not inspect.Signature.empty:
        return named.strip("'\"").rpartition(".")[2] == "Query"
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return any(returns_chain(node, query_names(module)) for node in functions if node.name == value.__name__)


def is_plain_function(value: Any, module: ModuleType) -> bool:
    if not isinstance(value, FunctionType) or value.__module__ != module.__name__:
        return False
    parameters = inspect.signature(value).parameters.values()
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(item.default is not item.empty or item.kind in variable for item in parameters)


def query_names(module: ModuleType) -> set[str]:
    """The names by which a file calls Bowler's Query, or Bowler."""
    import bowler

    known = (bowler, bowler.Query)
    return {name for name, value in vars(module).items() if any(value is one for one in known)}


def returns_chain(function: ast.FunctionDef, names: set[str]) -> bool:
    """Whether `return Query(...).select(...)...`, or the same over a local name, stands in the function."""
    names = set(names)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and root_name(node.value) in names:
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    returns = (node for node in ast.walk(function) if isinstance(node, ast.Return))
    return any(node.value is not None and root_name(node.value) in names for node in returns)


def root_name(node: ast.expr) -> str:
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Attribute):
            node = node.value
        else:
            return ""
    return node.id


def called_on_import(tree: ast.Module) -> Iterator[str]:
    """The functions that the file's own top level calls (below `if __name__ == ...` it does not, here)."""
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(statement, ast.If) and "__name__" in ast.dump(statement.test):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield node.func.id
