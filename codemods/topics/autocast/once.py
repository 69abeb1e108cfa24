"""Where a condition is decided once."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.autocast.callers import in_callers
from fullgraph.codemods.topics.autocast.constant import check_pure, is_settled
from fullgraph.codemods.topics.autocast.constructors import in_constructor
from fullgraph.codemods.topics.autocast.homes import Home, local_home


def home_of(project: Project, module: Module, decision: ast.expr) -> Home | None:
    """The innermost place where it stays as it is; None for one that is not asked again, or may answer differently."""
    if not is_settled(project, module, decision):
        return None
    home = local_home(project, module, decision)
    home = home or in_constructor(project, module, decision) or in_callers(project, module, decision)
    if home is not None:
        check_pure(project, module, decision)
    return home
