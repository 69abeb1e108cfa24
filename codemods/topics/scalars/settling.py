"""From forms to edits: all forms of one statement are written together, so that it is written twice at most."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.topics.scalars.guard import SIMPLE, guarded
from fullgraph.codemods.topics.scalars.repair import Form, Look, Repair


def settled(look: Look, repairs: Iterable[Repair]) -> Iterator[Repair]:
    """Each repair with its edits; those of one statement have the same."""
    found = list(repairs)
    statements: dict[ast.stmt, list[Form]] = {}
    for repair in found:
        if repair.form is not None:
            forms = statements.setdefault(look.module.statement(repair.form.part), [])
            forms += [repair.form] if repair.form not in forms else []  # one number may shape several tensors
    for repair in found:
        if repair.form is None:
            yield repair
        else:
            statement = look.module.statement(repair.form.part)
            yield written(look, repair, repair.form, statement, statements[statement])


def written(look: Look, repair: Repair, form: Form, statement: ast.stmt, forms: list[Form]) -> Repair:
    if all(other.is_exact for other in forms):
        torch, imports = look.module.imports.require("torch")
        needed = imports if f"{torch}." in form.text else ()
        return replace(repair, edits=(*needed, look.module.replace(form.part, form.text)))
    try:
        for other in forms:
            check_place(look, other.part, statement)
        check_apart(look, forms)
        conditions = dict.fromkeys(condition for other in forms for condition in other.conditions)
        swaps = [(other.part, other.text) for other in forms]
        return replace(repair, edits=guarded(look.module, statement, swaps, list(conditions)))
    except Unsure as unsure:
        return replace(repair, left_alone=f"{unsure}; {repair.remedy}")


def check_apart(look: Look, forms: list[Form]) -> None:
    """Unsure where one form would stand inside of another."""
    for form in forms:
        inside = [other for other in forms if other is not form and other.part in set(ast.walk(form.part))]
        if inside:
            raise Unsure(f"{look.where(form.part)}: {ast.unparse(inside[0].part)} stands in the middle of it")


def check_place(look: Look, node: ast.AST, statement: ast.stmt) -> None:
    """Unsure where a statement cannot be written twice, or the node need not run when it does."""
    if not isinstance(statement, SIMPLE):
        raise Unsure(f"{look.where(node)}: no place for a second form there")
    inner = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr, ast.Await, ast.Yield)
    if any(isinstance(part, (*inner, ast.YieldFrom)) for part in ast.walk(statement)):
        raise Unsure(f"{look.where(node)}: the statement holds a function or a loop of its own")
    if any(isinstance(outer, (ast.IfExp, ast.BoolOp)) for outer in look.module.ancestors(node)):
        raise Unsure(f"{look.where(node)}: it stands on one side of a condition")
