"""Where the two switches of a gate come from: the environment, a dataclass that holds the config, or arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS, argument_names
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import Definition, Place, only_class, where
from fullgraph.codemods.syntax.signatures.constructor import Setting, add_parameters, is_dataclass, require_settings
from fullgraph.codemods.syntax.signatures.statement import rewrite_signature
from fullgraph.codemods.topics.compile_requests.requests import Form, Request
from fullgraph.codemods.topics.gates.flags_by_hand import WORD, flag_by_hand

Source = Literal["environment", "config", "argument"]


@dataclass(frozen=True)
class Switches:
    """The keywords of `gated` that say what is on, and the edits that make what they read."""

    keywords: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()


def switches(request: Request, project: Project, name: str, source: Source, config: str) -> Switches:
    """Environment variables need nothing but their name."""
    if source == "environment":
        return Switches()
    if request.form is Form.DECORATOR:
        raise Unsure(f"{where(request.module, request.node)}: a decorator has neither config nor arguments at hand")
    fields = [Setting(field, default="True", is_stored=False) for field in (name, f"{name}_inference")]
    if source == "argument":
        return Switches(keywords(fields), add_arguments(request, project, fields))
    own = None if config else field_by_hand(request, Definitions(project))
    if own:
        fields = [replace(fields[0], name=own.attr), replace(fields[1], name=f"{own.attr}_inference")]
    holder, (home, owner) = config_at(request, project, request.module.code(own.value) if own else config)
    stored = [replace(field, is_stored=True) for field in (fields[1:] if own else fields)]
    return Switches(keywords(fields, f"{holder}."), require_settings(home, project, owner, stored))


def field_by_hand(request: Request, names: Definitions) -> ast.Attribute | None:
    """The `cfg.compile_x` on which the request hangs already: the config that has it is the one that is meant."""
    flag = flag_by_hand(request)
    for node in ast.walk(flag) if flag else ():
        is_told = isinstance(node, ast.Attribute) and WORD.search(node.attr) is not None
        if is_told and isinstance(node, ast.Attribute) and dataclass_of(names.instance(request.module, node.value)):
            return node
    return None


def keywords(fields: list[Setting], holder: str = "") -> tuple[str, ...]:
    return tuple(f"{word}={holder}{item.name}" for word, item in zip(("training", "inference"), fields, strict=True))


def config_at(request: Request, project: Project, config: str) -> tuple[str, Place[ast.ClassDef]]:
    """The expression that holds the config where compiling is asked for, and its dataclass."""
    module = request.module
    found = dict(configs_at(request, project, config))
    if len(found) == 1:
        return next(iter(found.items()))
    place = where(module, request.node)
    if found:
        several = " and ".join(f"`{name}`" for name in sorted(found))
        raise Unsure(f"{place}: {several} hold dataclasses; the option `config` says which one is meant")
    wanted = f"`{config}` is not seen to be" if config else "no argument is"
    raise Unsure(f"{place}: {wanted} a dataclass of this project there")


def configs_at(request: Request, project: Project, config: str) -> Iterator[tuple[str, Place[ast.ClassDef]]]:
    """The arguments of the function around that are dataclasses; or the expression that the user named."""
    module, names = request.module, Definitions(project)
    function = module.enclosing(request.node, *FUNCTIONS)
    if function is None:
        return
    for node in ast.walk(function):
        kind: Definition | None = None
        if isinstance(node, ast.arg) and node.annotation and node.arg == (config or node.arg):
            kind = names.denoted(module, node.annotation)
        elif isinstance(node, (ast.Name, ast.Attribute)) and module.code(node) == config:
            kind = names.instance(module, node)
        if owner := dataclass_of(kind):
            yield node.arg if isinstance(node, ast.arg) else config, owner


def dataclass_of(found: Definition | None) -> Place[ast.ClassDef] | None:
    owner = only_class(found)
    return owner if owner and is_dataclass(*owner) else None


def add_arguments(request: Request, project: Project, fields: list[Setting]) -> tuple[Edit, ...]:
    """Two more arguments of the function around, on by default."""
    module = request.module
    function = module.enclosing(request.node, *FUNCTIONS, ast.Lambda)
    place = where(module, request.node)
    if not isinstance(function, ast.FunctionDef):
        raise Unsure(f"{place}: there is no plain function around it that could take arguments")
    owner = module.parent(function)
    if isinstance(owner, ast.ClassDef) and function.name == "__init__":
        return require_settings(module, project, owner, fields)
    taken = argument_names(function) & {field.name for field in fields}
    if taken or function.args.kwarg:
        raise Unsure(f"{where(module, function)}: {function.name} may take `{fields[0].name}` already")
    if not argument_names(function):
        raise Unsure(f"{where(module, function)}: {function.name} takes no arguments yet")
    given = [field.parameter for field in fields]
    try:
        return rewrite_signature(module, function, lambda node: add_parameters(module, function, node, given))
    except ValueError as error:
        raise Unsure(str(error)) from error
