"""Functions that were compiled so often that torch gave up."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Codemod, Unsure
from fullgraph.codemods.model import Finding, Site
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.compile_settings.requests import Request, functions_at
from fullgraph.codemods.topics.compile_settings.sizes import changing_sizes, write_marks

LIMIT = "GB0039"
OTHERWISE = (
    "by default, sizes that change are compiled once more and never again (torch 2.13), so something else changes; "
    "the report names it. Where it is a size, torch._dynamo.mark_dynamic(x, 0) before the first call saves that one"
)
MARKED = "sizes of 0 and 1 are still compiled for themselves; kernels for any size may be slower than those for one"
COMPARED = (
    "torch 2.13, for 12 sizes: 8 recompiles and then the limit with dynamic=False, 1 recompile with dynamic=None, none "
    "with a mark or with dynamic=True, which leaves every other size open too"
)
CAVEAT = "this helps if sizes are what changes; kernels for any size may be slower than those for one"


def judge_limit(codemod: Codemod, project: Project, request: Request) -> Finding | None:
    """What is compiled here was seen to reach the limit: with `dynamic=False` every new size is compiled anew."""
    sites = [site for site in codemod.sites or () if site.id == LIMIT and is_entry(project, request, site)]
    if not sites:
        return None
    message = f"the limit of recompiles was reached in {sites[0].path}:{sites[0].line}"
    find, node, why = request.module.finding, request.asked.node, OTHERWISE
    try:
        if sizes := changing_sizes(guard for site in sites for guard in site.guards):
            marks = write_marks(project, request, sizes)
            told = ", ".join(f"size {dimension} of {name}" for name, dimension in sizes)
            message = f"{message}: {told} changes from call to call"
            return find(codemod.name, node, message, edits=marks, caveat=MARKED, notes=(COMPARED,)) if marks else None
    except Unsure as unsure:
        why = f"{unsure}; {OTHERWISE}"
    value = dynamic_false(request)
    if value is None:
        return find(codemod.name, node, message, left_alone=why)
    edit = request.module.replace(value, "None")
    return find(codemod.name, node, message, edits=(edit,), caveat=CAVEAT, notes=(COMPARED,))


def is_entry(project: Project, request: Request, site: Site) -> bool:
    """Whether a site is in the very function that the request compiles."""
    inside = [function for _, function in functions_at(project, {(site.path, site.line)})]
    return request.entry is not None and request.entry[1] in inside


def dynamic_false(request: Request) -> ast.Constant | None:
    """The `False` of `dynamic=False`, if the request passes that."""
    for keyword in getattr(request.asked.settings, "keywords", []):
        is_false = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        if keyword.arg == "dynamic" and is_false and isinstance(keyword.value, ast.Constant):
            return keyword.value
    return None
