"""How a project compiles a class or a function: the arguments of its own torch.compile, fit for elsewhere."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from codemods.module import Module
from codemods.project import Project
from codemods.syntax.compiled import Asked, asked_in, entry_point, is_method, modules_that_compile
from codemods.syntax.definitions import Definitions
from codemods.syntax.places import Definition, where
from validate.drafting.library import Library
from validate.drafting.subject import Subject
from validate.harness.callers import keys_of, known_keys
from validate.harness.compose import Request
from validate.harness.config import Config

NAMES = ("mode", "backend", "dynamic", "fullgraph", "options")
USUAL_MODE = '"reduce-overhead"'
NOWHERE = "Guessed: the project nowhere shows how it compiles this."


def find_request(subject: Subject, project: Project, library: Library, config: Config | None) -> Request:
    """The project's own request for the subject; the only one whose target nobody can follow; else the usual mode."""
    names = Definitions(project)
    unclear = []
    for module in modules_that_compile(project):
        for asked in asked_in(module):
            found = compiled_by(names, module, asked.target)
            if found is None:
                unclear.append((module, asked))
            elif is_subject(found, subject, project):
                return read_request(module, asked, library, config, "As in")
    if len(unclear) == 1:
        return read_request(*unclear[0], library, config, "Guessed, after the only request that can be meant:")
    return Request({"mode": USUAL_MODE}, comment=NOWHERE)


def compiled_by(names: Definitions, module: Module, target: ast.AST) -> Definition | None:
    """The class of the object that is compiled, or the function."""
    held = names.instance(module, target.value if is_method(target) else target)
    return held or entry_point(names, module, target)  # type: ignore[return-value]


def is_subject(found: Definition, subject: Subject, project: Project) -> bool:
    """Whether it is the class that the harness builds, or the function that it calls."""
    module, node = found
    wanted = subject.owner if isinstance(node, ast.ClassDef) and not subject.method else subject.function
    path = project.path_of(wanted.module.name) if wanted else None
    return wanted is not None and path == module.path and wanted.node.lineno == node.lineno  # type: ignore[attr-defined]


def read_request(module: Module, asked: Asked, library: Library, config: Config | None, how: str) -> Request:
    request = Request(comment=f"{how} {where(module, asked.node)}.")
    for word in getattr(asked.settings, "keywords", []):
        if word.arg in NAMES:
            request = with_option(request, word.arg, word.value, module, library, config)
        elif word.arg is None:
            request = replace(request, comment=f"{request.comment} What it passes with ** is left out.")
    return request


def with_option(
    request: Request, name: str, node: ast.expr, module: Module, library: Library, config: Config | None
) -> Request:
    """One argument: a constant, a constant of some module, a part of the config; or the usual one, and a comment."""
    shown = ast.unparse(node)
    home = library.module(module.name)
    dotted = home.dotted(node) if home and isinstance(node, (ast.Name, ast.Attribute)) else ""
    constant = library.find(dotted) if dotted else None
    keys = known_keys(keys_of(node), config) if config else ()
    if is_literal(node):
        return replace(request, options={**request.options, name: module.code(node)})
    if constant is not None and "." not in constant.name:
        imports = (*request.imports, (constant.module.name, constant.name))
        return replace(request, options={**request.options, name: constant.name}, imports=imports)
    if config and keys:
        return replace(request, options={**request.options, name: config.access(keys)})
    options = {**request.options, "mode": USUAL_MODE} if name == "mode" else request.options
    instead = f", taken for {USUAL_MODE}" if name == "mode" else ", left out"
    comment = f"{request.comment} Guessed: its {name}={shown} cannot be read from outside{instead}."
    return replace(request, options=options, comment=comment)


def is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True


def with_mode(request: Request, mode: str | None) -> Request:
    """The mode of the command line wins; torch takes either a mode or options."""
    if not mode:
        return request
    kept = {name: text for name, text in request.options.items() if name not in ("mode", "options")}
    comment = (
        "" if request.comment == NOWHERE else re.sub(r" Guessed: its mode=.*", " The mode was chosen.", request.comment)
    )
    return replace(request, options={"mode": f'"{mode}"', **kept}, comment=comment)
