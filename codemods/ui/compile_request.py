"""How a project compiles a class or a function: the arguments of its own torch.compile, fit for elsewhere."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import PurePosixPath

from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.compiled import Asked, asked_in, entry_point, is_method, modules_that_compile
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import Definition, where
from fullgraph.validate.drafting.library import Library
from fullgraph.validate.drafting.makers import quoted
from fullgraph.validate.drafting.subject import Subject
from fullgraph.validate.harness.callers import keys_of, known_keys
from fullgraph.validate.harness.compose import Request
from fullgraph.validate.harness.config import Config

NAMES = ("mode", "backend", "dynamic", "fullgraph", "options")
USUAL_MODE = '"reduce-overhead"'
NOWHERE = "Guessed: the project nowhere shows how it compiles this."


def find_request(subject: Subject, project: Project, library: Library, config: Config | None) -> Request:
    """The project's own request for the subject; the only one whose target nobody can follow; else the usual mode.

    Of several, one in code that others import comes before one in a program or a test.
    """
    names = Definitions(project)
    asked = [(module, one) for module in modules_that_compile(project) for one in asked_in(module)]
    asked.sort(key=lambda pair: is_program(pair[0]))
    found = [(pair, compiled_by(names, pair[0], pair[1].target)) for pair in asked]
    unclear = [pair for pair, what in found if what is None]
    for (module, one), what in found:
        if is_subject(what, subject, library) if what else is_named_after(one.target, subject):
            return read_request(module, one, names, library, config, "As in")
    if len(unclear) == 1 and not names_another(unclear[0][1].target, project):
        return read_request(*unclear[0], names, library, config, "Guessed, after the only request that can be meant:")
    return Request({"mode": USUAL_MODE}, comment=NOWHERE)


def is_program(module: Module) -> bool:
    """Whether a file is run, by people or by pytest, rather than imported."""
    return "__main__" in module.text or PurePosixPath(module.path).name.startswith("test_")


def compiled_by(names: Definitions, module: Module, target: ast.AST) -> Definition | None:
    """The class of the object that is compiled, or the function."""
    held = names.instance(module, target.value if is_method(target) else target)
    return held or entry_point(names, module, target)  # type: ignore[return-value]


def is_subject(found: Definition, subject: Subject, library: Library) -> bool:
    """Whether it is what the harness calls, or the class that it builds: a base, a subclass or a method of it too."""
    module, node = found
    other = library.find(f"{module.name}.{module.symbol(node)}")
    if other is None or subject.owner is None or subject.method:
        return other is not None and other.node is subject.function.node
    if not other.is_class:
        own = library.member(subject.owner, other.name.rpartition(".")[2])
        return own is not None and own.node is other.node
    pairs = ((other, subject.owner), (subject.owner, other))
    return any(one.node is base.node for derived, base in pairs for one in library.bases(derived))


def is_named_after(target: ast.AST, subject: Subject) -> bool:
    """`self.lens_net` is named after LensNet."""
    return subject.owner is not None and subject.owner.name.lower() in words_of(target)


def names_another(target: ast.AST, project: Project) -> bool:
    """Whether a class of the project is what a target is named after."""
    classes = "|".join(map(re.escape, words_of(target))).encode()
    return bool(classes) and bool(project.matches(re.compile(rb"(?im)^class (?:%b)\b" % classes)))


def words_of(target: ast.AST) -> set[str]:
    """The names in an expression, as if they were one word each."""
    nodes = [node for node in ast.walk(target) if isinstance(node, (ast.Name, ast.Attribute))]
    return {(node.id if isinstance(node, ast.Name) else node.attr).replace("_", "").lower() for node in nodes}


def read_request(
    module: Module, asked: Asked, names: Definitions, library: Library, config: Config | None, how: str
) -> Request:
    request = Request(comment=f"{how} {where(module, asked.node)}.")
    for word in getattr(asked.settings, "keywords", []):
        if word.arg in NAMES:
            is_known = config and known_keys(keys_of(word.value), config)
            value = word.value if is_known else default_behind(names, module, word.value)
            request = with_option(request, word.arg, value, module, library, config)
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
        return replace(request, options={**request.options, name: quoted(ast.literal_eval(node))})
    if constant is not None and "." not in constant.name:
        imports = (*request.imports, (constant.module.name, constant.name))
        return replace(request, options={**request.options, name: constant.name}, imports=imports)
    if config and keys:
        return replace(request, options={**request.options, name: config.access(keys)})
    options = {**request.options, "mode": USUAL_MODE} if name == "mode" else request.options
    instead = f", taken for {USUAL_MODE}" if name == "mode" else ", left out"
    comment = f"{request.comment} Guessed: its {name}={shown} cannot be read from outside{instead}."
    return replace(request, options=options, comment=comment)


def default_behind(names: Definitions, module: Module, node: ast.expr) -> ast.expr:
    """For `cfg.mode`, where `cfg` is of a class of the project that says so: the default there, if it is plain."""
    held = names.instance(module, node.value) if isinstance(node, ast.Attribute) else None
    for field in getattr(held[1], "body", ()) if held else ():
        if isinstance(field, ast.AnnAssign) and ast.unparse(field.target) == node.attr and field.value:  # type: ignore[attr-defined]
            return field.value if is_literal(field.value) else node
    return node


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
