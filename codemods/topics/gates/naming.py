"""What the flag of a compiled callable is called: by the name that it is kept under, unique in the project."""

from __future__ import annotations

import ast
import re

from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.topics.compile_requests.naming import base_name, choose_names, kept_by, snake, text_given_to
from fullgraph.codemods.topics.compile_requests.requests import Form, Request, requests_of
from fullgraph.codemods.topics.compile_requests.wrappers import GATED, last_name, wrapper_of

UNNAMED = ("forward", "__call__")
IMPLICIT = re.compile(r"\.(?:forward|__call__)$")
COMPILED = re.compile(r"^_*compiled?_|_compiled?$")


def flags_of(project: Project, prefix: str) -> dict[Request, str]:
    """A flag for every request, as `demand`; the variables of the environment have the prefix before it."""

    def written(request: Request) -> str:
        return text_given_to(wrapper_of(request, GATED)).removeprefix(prefix).lower()

    return project.worked_out((flags_of, prefix), lambda: choose_names(requests_of(project), candidates, written))


def candidates(request: Request) -> list[str]:
    """`demand`; `controller_demand` by the class, the function or the file around it; then by the whole path."""
    module, short = request.module, short_name(request)
    inner = request.target if request.form is Form.DECORATOR else request.node
    owner = module.enclosing(inner, ast.ClassDef) or module.enclosing(inner, *FUNCTIONS)
    place = snake(owner.name) if owner else module.name.rpartition(".")[2] or "main"
    return [short, f"{place}_{short}", f"{module.name.replace('.', '_')}_{place}_{short}"]


def short_name(request: Request) -> str:
    """`demand` for `self.demand = ...`; what is called without being named lends its owner's name."""
    name = IMPLICIT.sub("", long_name(request))
    if name in UNNAMED and (owner := request.module.enclosing(request.node, ast.ClassDef)):
        name = owner.name
    word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    if re.fullmatch(r"compiled?", word) and (target := last_name(request.target)):
        word = target
    return snake(COMPILED.sub("", word) or word) or "model"


def long_name(request: Request) -> str:
    """Its own name; for what is imported and kept nowhere, the last part of that."""
    imported = "" if request.form is Form.DECORATOR else request.module.resolve(request.target) or ""
    return base_name(request) if kept_by(request) or not imported else imported.rpartition(".")[2]
