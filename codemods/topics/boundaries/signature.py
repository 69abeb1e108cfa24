"""What a boundary takes and hands on: the parameters of the function that is compiled, where that is known."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS, attribute_settings
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import Definition, Place, only_function
from fullgraph.codemods.topics.boundaries.requests import Compiled, Request

KEEP = ("keep", "keep_output", "kept_beyond_the_step")


@dataclass(frozen=True)
class Signature:
    """Parameters as declared, and as they are handed on; `keep` is a name that none of them has."""

    parameters: tuple[str, ...]
    arguments: tuple[str, ...]
    returns: str
    keep: str
    has_keyword_only: bool
    needs_any: bool = False

    def with_keep(self, annotated: bool) -> tuple[str, ...]:
        """The parameters and one more, which says whether the output outlives the step."""
        more = f"{self.keep}: bool = True" if annotated else f"{self.keep}=True"
        if self.parameters and self.parameters[-1].startswith("**"):
            return (*self.parameters[:-1], *([] if self.has_keyword_only else ["*"]), more, self.parameters[-1])
        return (*self.parameters, *([] if self.has_keyword_only else ["*"]), more)


def wrapped(project: Project, compiled: Compiled) -> Place[Function] | None:
    """The function that runs when the callable is called, if all of its requests agree."""
    found = {runs(project, compiled, request) for request in compiled.requests}
    return found.pop() if len(found) == 1 else None


def runs(project: Project, compiled: Compiled, request: Request) -> Place[Function] | None:
    module, target = compiled.module, request.target
    if isinstance(target, FUNCTIONS):
        return Place(module, target)
    names = Definitions(project, sure=True)
    if function := only_function(names.denoted(module, target)):
        return None if isinstance(function.module.parent(function.node), ast.ClassDef) else function
    return only_function(names.member(class_of(names, compiled, request), "forward"))


def kind_of(project: Project, compiled: Compiled) -> Definition | None:
    """The class of the module that is compiled, if all requests agree."""
    names = Definitions(project, sure=True)
    found = {class_of(names, compiled, request) for request in compiled.requests}
    return found.pop() if len(found) == 1 else None


def class_of(names: Definitions, compiled: Compiled, request: Request) -> Definition | None:
    kinds = [names.instance(compiled.module, value) for value in values_of(compiled, request, request.target)]
    return kinds[0] if kinds and all(kind == kinds[0] for kind in kinds) else None


def values_of(compiled: Compiled, request: Request, target: ast.AST) -> list[ast.expr]:
    """What is compiled; of a callable that is compiled under its own name, what was assigned to it before."""
    if not isinstance(target, ast.expr):
        return []
    module = compiled.module
    if isinstance(target, ast.Attribute) and compiled.kind == "attribute" and target.attr == compiled.name:
        assert isinstance(compiled.owner, ast.ClassDef)
        given = [item.value for item in attribute_settings(compiled.owner, compiled.name)]
    elif isinstance(target, ast.Name) and compiled.kind != "attribute" and target.id == compiled.name:
        given = [binding.value for binding in module.scopes.bindings(target)]
    else:
        return [target]
    others = [value for value in given if value is None or not holds_request(compiled, value)]
    return [value for value in others if value is not None] if None not in others else []


def holds_request(compiled: Compiled, value: ast.AST) -> bool:
    inner = list(ast.walk(value))
    return any(request.node in inner for request in compiled.requests)


def signature_of(home: Module, line: int, function: Definition | None, is_bound: bool) -> Signature | None:
    """The signature as it can be written in the home module at a line; None where it cannot."""
    if function is None or not isinstance(function.node, FUNCTIONS):
        return None
    node, given = function.node, function.node.args
    defaults = [item for item in (*given.defaults, *given.kw_defaults) if item is not None]
    if not all(is_constant(item) for item in defaults):
        return None
    spell = Spelling(home, function.module, line)
    return write_signature(spell, node, is_bound)


def write_signature(spell: Spelling, node: Function, is_bound: bool) -> Signature:
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    parameters = [spell.parameter(item, default) for item, default in zip(plain, defaults, strict=True)]
    if given.posonlyargs:
        parameters.insert(len(given.posonlyargs), "/")
    parameters = parameters[1:] if is_bound else parameters
    parameters = parameters[1:] if parameters[:1] == ["/"] else parameters
    arguments = [item.arg for item in (plain[1:] if is_bound else plain)]
    if given.vararg:
        parameters.append(f"*{spell.parameter(given.vararg, None)}")
        arguments.append(f"*{given.vararg.arg}")
    elif given.kwonlyargs:
        parameters.append("*")
    for item, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        parameters.append(spell.parameter(item, default))
        arguments.append(f"{item.arg}={item.arg}")
    if given.kwarg:
        parameters.append(f"**{spell.parameter(given.kwarg, None)}")
        arguments.append(f"**{given.kwarg.arg}")
    taken = {item.arg for item in ast.walk(given) if isinstance(item, ast.arg)}
    keep = next(name for name in (*KEEP, "keep_it_beyond_the_step") if name not in taken)
    returns = spell.annotation(node.returns) if node.returns else ""
    has_keyword_only = bool(given.vararg or given.kwonlyargs)
    return Signature(tuple(parameters), tuple(arguments), returns, keep, has_keyword_only)


def any_signature(annotated: bool, taken: set[str]) -> Signature:
    """Takes whatever comes; `taken` are names that are known to come."""
    keep = next(name for name in (*KEEP, "keep_it_beyond_the_step") if name not in taken)
    kind = ": Any" if annotated else ""
    parameters = (f"*args{kind}", f"**kwargs{kind}")
    return Signature(parameters, ("*args", "**kwargs"), "Any" if annotated else "", keep, True, annotated)


def is_constant(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


@dataclass(frozen=True)
class Spelling:
    """How to write in one module, at a line, what stands in another."""

    home: Module
    origin: Module
    line: int

    def parameter(self, item: ast.arg, default: ast.expr | None) -> str:
        annotation = self.annotation(item.annotation) if item.annotation else ""
        declared = f"{item.arg}: {annotation}" if annotation else item.arg
        if default is None:
            return declared
        gap = " = " if annotation else "="
        return f"{declared}{gap}{self.origin.code(default)}"

    def annotation(self, node: ast.expr) -> str:
        """The annotation in words of the home module; empty where it has none for it."""
        text = self.origin.code(node)
        if (
            "\n" in text
            or "\r" in text
            or any(isinstance(item, ast.Constant) and isinstance(item.value, str) for item in ast.walk(node))
        ):
            return ""
        start = self.origin.span(node).start
        for name in reversed(self.dotted_names(node)):
            spelled = self.name(name)
            if not spelled:
                return ""
            span = self.origin.span(name)
            text = text[: span.start - start] + spelled + text[span.end - start :]
        if self.home is not self.origin and "|" in text and not self.is_lazy:
            return ""
        return text

    def dotted_names(self, node: ast.AST) -> list[ast.expr]:
        if isinstance(node, (ast.Name, ast.Attribute)):
            return [node]
        return [name for child in ast.iter_child_nodes(node) for name in self.dotted_names(child)]

    def name(self, node: ast.expr) -> str:
        dotted = self.origin.resolve(node)
        if dotted is not None:
            return self.home.imports.spelling(dotted) or ""
        if not isinstance(node, ast.Name):
            return ""
        bindings = self.origin.scopes.within(self.origin.tree, node.id)
        if not bindings:
            return node.id if not self.home.scopes.binders(node.id) else ""
        if self.home is not self.origin:
            return self.home.imports.spelling(f"{self.origin.name}.{node.id}") or ""
        is_above = all(getattr(item.node, "lineno", 0) < self.line for item in bindings)
        return node.id if self.is_lazy or is_above else ""

    @property
    def is_lazy(self) -> bool:
        """Whether annotations are not evaluated in the home module."""
        return "annotations" in self.home.imports.meanings
