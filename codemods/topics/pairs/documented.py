"""The other way: the dict keeps its pairs, says so, and its accessors stay out of compiled code."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import is_test
from fullgraph.codemods.syntax.disabled import disable, is_disabled
from fullgraph.codemods.syntax.places import CONSTRUCTORS
from fullgraph.codemods.topics.pairs.dicts import PairDict
from fullgraph.codemods.topics.pairs.uses import Use

COMMENT = "# Keyed by pairs of ints: not to be touched in compiled code."


def document(found: PairDict, uses: list[Use]) -> tuple[list[Edit], list[str]]:
    """The comment and the decorators that are still missing, and which accessors cannot be decorated."""
    edits = comment_edits(found)
    refused: list[str] = []
    for module, function in accessors(uses):
        try:
            edits += [edit for edit in disable(module, function) if edit not in edits]
        except Unsure as reason:
            refused.append(str(reason))
    return edits, refused


def comment_edits(found: PairDict) -> list[Edit]:
    module = found.module
    statement = module.statement(found.node)
    start = module.line_start(module.span(statement).start)
    above = module.text[module.line_start(start - 1) : start] if start else ""
    if above.strip() == COMMENT or not module.begins_line(statement):
        return []
    return [module.insert(start, f"{module.indent(statement)}{COMMENT}\n")]


def accessors(uses: list[Use]) -> list[tuple[Module, Function]]:
    """The functions that use the dict, each once: no constructors, which make it, no tests, nothing disabled."""
    found: dict[ast.AST, tuple[Module, Function]] = {}
    for use in uses:
        function = use.module.enclosing(use.node, ast.FunctionDef, ast.AsyncFunctionDef)
        if function is None or function.name in CONSTRUCTORS or is_test(use.module.path):
            continue
        if not is_disabled(use.module, function):
            found[function] = (use.module, function)
    return list(found.values())
