"""By what objects are known: variables, and attributes by name."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module

Token = tuple[ast.AST | None, str]
"""A variable as (scope, name); an attribute of whatever object as (None, name)."""

ANYTHING: Token = (None, "")
"""Something that has no name here: an attribute chosen at run time, or whatever unknown code reads."""

PARTS = ".*"
"""Behind the name of an argument: parts of it, which what was given for it may share with others."""


def variable(module: Module, name: ast.Name) -> Token:
    return module.scopes.of(name), name.id
