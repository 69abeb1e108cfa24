"""A use of an old name, written with the new one: its spelling, and its arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import is_bound_otherwise
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.disabled import IMPORTS, loads_torch
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.public_api.uses import Use

OPENING = re.compile(r"[\s)\\]*\(")
FILLING = re.compile(r"(?:\s|#[^\r\n]*|\\\r?\n)*")


class Draft:
    """Edits of one file, gathered; insertions at one place become one, in the order in which they were asked for."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.replaced: dict[Span, str] = {}
        self.others: list[Edit] = []

    def insert(self, offset: int, text: str) -> None:
        place = Span(offset, offset)
        self.replaced[place] = self.replaced.get(place, "") + text

    def replace(self, span: Span, text: str) -> None:
        self.replaced[span] = text

    def add(self, edits: tuple[Edit, ...]) -> None:
        self.others += [edit for edit in edits if edit not in self.others]

    def edits(self) -> tuple[Edit, ...]:
        return (*(self.module.replace(span, text) for span, text in self.replaced.items()), *self.others)


def spell(draft: Draft, use: Use, dotted: str) -> str:
    """How to write a dotted name of torch where the use stands."""
    module, root = use.module, use.root
    if module.resolve(root) == "torch":
        return root.id + dotted[len("torch") :]
    spelling, edits = module.imports.require("torch")
    loads = [node for node in module.tree.body if isinstance(node, IMPORTS) and loads_torch(module, node)]
    if edits and not loads:
        raise Unsure(f"{where(module, root)}: torch is not imported for sure at the top of the file")
    if edits and (is_bound_otherwise(module, "torch") or module.imports.meanings.get("torch", {"torch"}) != {"torch"}):
        raise Unsure(f"{where(module, use.node)}: the name torch means something else in this file")
    draft.add(edits)
    return spelling + dotted[len("torch") :]


def write_use(draft: Draft, use: Use, project: Project, *, keep_name: bool = False) -> None:
    """The edits that make one use one of the new name; Unsure where it cannot be. `keep_name`: the import changes."""
    row, call = use.row, use.call
    name = draft.module.code(use.node) if keep_name else spell(draft, use, row.new)
    if not keep_name:
        draft.replace(draft.module.span(use.node), name)
    if call:
        check_keywords(use, call)
    if row.called == "wrap":
        write_wrapper(draft, use, project)
    elif call:
        write_arguments(draft, use, call, project)
    elif row.called == "decorate" and is_decorator(use):
        added = "".join(f"{key}={quoted(draft.module, value)}" for key, value in row.adds.items())
        draft.insert(draft.module.span(use.node).end, f"({added})")
    elif not (row.called == "either" or is_annotation(use)):
        raise Unsure(f"{where(use.module, use.node)}: is not called here, so that its arguments are not seen")


def check_keywords(use: Use, call: ast.Call) -> None:
    """Raise for what the new name may not know, or cannot be seen."""
    row, here = use.row, where(use.module, call)
    if row.keywords is not None:
        for keyword in call.keywords:
            if keyword.arg is None:
                raise Unsure(f"{here}: `**` may pass what {row.new} does not know")
            if keyword.arg not in row.keywords:
                raise Unsure(f"{here}: {row.new} has no {keyword.arg}=")
    if row.positional and any(isinstance(argument, ast.Starred) for argument in call.args):
        raise Unsure(f"{here}: which arguments `*` passes is not seen, and {row.new} takes them in another order")
    if row.positional and len(call.args) > len(row.positional):
        raise Unsure(f"{here}: more arguments than {use.old} takes")


def write_arguments(draft: Draft, use: Use, call: ast.Call, project: Project, first: str = "") -> None:
    """The arguments as the new name wants them; what it needs in addition comes first."""
    row, module = use.row, draft.module
    leads = [first, row.leads and quoted(module, row.leads)]
    leads += [f"{key}={quoted(module, value)}" for key, value in row.adds.items()]
    leads += [f"{key}={value}" for key, value in written_out(draft, use, call, project)]
    lead = ", ".join(filter(None, leads))
    if row.adds and call.args:
        write_behind(draft, call, lead)
    elif lead:
        write_first(draft, call, lead)
    for argument, key in zip(call.args, row.positional, strict=False):
        draft.insert(outer_start(module, call, argument), f"{key}=")
    for keyword in call.keywords:
        if keyword.arg and keyword.arg in row.renames:
            start = module.span(keyword).start
            draft.replace(Span(start, start + len(keyword.arg)), row.renames[keyword.arg])


def written_out(draft: Draft, use: Use, call: ast.Call, project: Project) -> Iterator[tuple[str, str]]:
    """The defaults of the old name that must be written out, because something may make those of the new one others."""
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    given |= {key: ast.unparse(value) for key, value in zip(use.row.positional, call.args, strict=False)}
    if any(given.get(key) == value for key, value in use.row.idle.items()):
        return
    for key, default in use.row.defaults.items():
        if key not in given and project.matches(default.matters):
            is_torch = default.value.startswith("torch.")
            yield key, spell(draft, use, default.value) if is_torch else quoted(draft.module, default.value)


def write_first(draft: Draft, call: ast.Call, text: str) -> None:
    """Text in front of all arguments: on a line of its own where each of them has one."""
    module, opened = draft.module, opening(draft.module, call)
    if not call.args and not call.keywords:
        draft.insert(opened, text)
        return
    if len(call.args) == 1 and isinstance(call.args[0], ast.GeneratorExp):
        raise Unsure(f"{where(module, call)}: a generator without parentheses cannot follow another argument")
    start = skip_filling(module, opened)
    lines = {module.line(module.span(item).start) for item in (*call.args, *call.keywords)}
    head = module.text[module.line_start(start) : start]
    is_listed = not head.strip() and (len(lines) > 1 or has_last_comma(module, call))
    draft.insert(start, f"{text},\n{head}" if is_listed else f"{text}, ")


def write_behind(draft: Draft, call: ast.Call, text: str) -> None:
    """Text behind the positional arguments."""
    end = draft.module.span(call.args[-1]).end
    if draft.module.text[end] not in ",)" or isinstance(call.args[-1], ast.GeneratorExp):
        raise Unsure(f"{where(draft.module, call)}: the arguments are laid out so that nothing can be put behind them")
    draft.insert(end, f", {text}")


def write_wrapper(draft: Draft, use: Use, project: Project) -> None:
    """`old(...)(f)` as `new(f, ...)`, and `@old(...)` as `@new(...)`."""
    module, call = use.module, use.call
    here = where(module, use.node)
    if call is None:
        raise Unsure(f"{here}: is not called here, so that its arguments are not seen")
    outer = module.parent(call)
    if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and call in outer.decorator_list:
        write_arguments(draft, use, call, project)
        return
    if not (isinstance(outer, ast.Call) and outer.func is call):
        raise Unsure(f"{here}: {use.row.new} gives something else unless it is called with the function at once")
    if len(outer.args) != 1 or outer.keywords or isinstance(outer.args[0], ast.Starred):
        raise Unsure(f"{here}: what is compiled is not one plain argument")
    tail = Span(module.span(call).end, module.span(outer).end)
    target = module.text[skip_filling(module, opening(module, outer)) : tail.end - 1].rstrip().removesuffix(",")
    is_apart = ")" in module.text[tail.start : opening(module, outer)]
    settings = [*call.args, *(keyword.value for keyword in call.keywords)]
    is_apart = is_apart or (does_something(settings) and does_something(outer.args))
    if is_apart or "\n" in target or "\r" in target or "#" in module.text[tail.start : tail.end]:
        write_arguments(draft, use, call, project)
        return
    write_arguments(draft, use, call, project, first=target.rstrip())
    draft.replace(tail, "")


def does_something(nodes: list[ast.expr]) -> bool:
    """Whether it matters when expressions are evaluated: something is called in them."""
    parts = (part for node in nodes for part in ast.walk(node))
    return any(isinstance(part, (ast.Call, ast.Await, ast.NamedExpr)) for part in parts)


# Where things stand


def opening(module: Module, call: ast.Call) -> int:
    """Just behind the parenthesis that opens the arguments."""
    found = OPENING.match(module.text, module.span(call.func).end)
    if not found:
        raise Unsure(f"{where(module, call)}: something stands between the name and its arguments")
    return found.end()


def skip_filling(module: Module, offset: int) -> int:
    """The first character that is neither white space nor part of a comment."""
    found = FILLING.match(module.text, offset)
    return found.end() if found else offset


def outer_start(module: Module, call: ast.Call, argument: ast.expr) -> int:
    """Where an argument begins, with the parentheses around it."""
    start, opened = module.span(argument).start, opening(module, call)
    before = module.text[opened:start].rstrip()
    while before.endswith("("):
        start = opened + len(before) - 1
        before = before[:-1].rstrip()
    return start


def has_last_comma(module: Module, call: ast.Call) -> bool:
    return module.text[: module.span(call).end - 1].rstrip().endswith(",")


def is_decorator(use: Use) -> bool:
    return use.node in getattr(use.module.parent(use.node), "decorator_list", [])


def is_annotation(use: Use) -> bool:
    """Whether the name only says what something is; the new class is a base of the old one."""
    child: ast.AST = use.node
    for outer in use.module.ancestors(use.node):
        if isinstance(outer, (ast.arg, ast.AnnAssign)):
            return child is outer.annotation
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return child is outer.returns
        if not isinstance(outer, (ast.BinOp, ast.Subscript, ast.Tuple)):
            return False
        child = outer
    return False


def quoted(module: Module, value: str) -> str:
    """A text of the table in the quotes that the file prefers."""
    return value.replace('"', "'") if module.text.count("'") > module.text.count('"') else value
