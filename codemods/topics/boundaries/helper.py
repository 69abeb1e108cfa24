"""The text of a boundary: it begins a step, calls, and copies what comes out."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import (
    imported_module,
    insert_import,
    insert_line_after,
    is_bound_otherwise,
    last_setup,
    leading_imports,
)
from fullgraph.codemods.model import Edit
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.signatures.width import shown_width, width_of
from fullgraph.codemods.topics.boundaries.forms import A_TENSOR, UNKNOWN, Form, form_of
from fullgraph.codemods.topics.boundaries.layers import gives_tensor, torch_class
from fullgraph.codemods.topics.boundaries.requests import Compiled
from fullgraph.codemods.topics.boundaries.signature import any_signature, signature_of, wrapped
from fullgraph.codemods.topics.boundaries.steps import TEXT, place_of_steps, trains
from fullgraph.codemods.topics.boundaries.uses import MARK, uses_of
from fullgraph.codemods.topics.boundaries.wrappers import is_given_plainly

Copies = Literal["always", "where asked", "never"]


@dataclass(frozen=True)
class Boundary:
    """What is known about a boundary before it is written; `copies` says whether its calls keep what comes out."""

    compiled: Compiled
    name: str
    copies: Copies
    homes: tuple[str, ...]
    """Every file that compiles something: they share one notion of a step."""

    @property
    def is_mixed(self) -> bool:
        return self.copies == "where asked"


class Helper:
    """One boundary as text, with the edits that it needs elsewhere: imports, and the file of steps."""

    def __init__(self, project: Project, boundary: Boundary, anchor: ast.stmt) -> None:
        self.project, self.boundary = project, boundary
        self.compiled, self.module = boundary.compiled, boundary.compiled.module
        self.edits: list[Edit] = []
        self.indent = self.module.indent(anchor)
        self.unit = self.module.indent_unit
        self.is_method = self.compiled.kind in ("attribute", "method")
        function = wrapped(project, self.compiled)
        is_plain = is_given_plainly(project, self.compiled, function)
        self.form = UNKNOWN if not is_plain else form_of(project, function) if function else self.form_of_layers()
        is_bound = function is not None and isinstance(function.module.parent(function.node), ast.ClassDef)
        known = signature_of(self.module, anchor.lineno, function, is_bound) if is_plain else None
        self.signature = known or any_signature(self.is_annotated, self.given_names())
        if self.signature.needs_any:
            self.require("typing", "Any")
        self.waits = trains(project)

    def given_names(self) -> set[str]:
        """The keywords that calls pass: what is not declared may be called anything."""
        calls = uses_of(self.project, self.compiled).calls
        return {keyword.arg or "" for call in calls for keyword in call.node.keywords}

    def form_of_layers(self) -> Form:
        """A layer of torch's own has no forward in the project."""
        targets = [request.target for request in self.compiled.requests]
        names = Definitions(self.project)
        known = [isinstance(item, ast.expr) and gives_tensor(torch_class(names, self.module, item)) for item in targets]
        return A_TENSOR if all(known) else UNKNOWN

    @property
    def is_annotated(self) -> bool:
        functions = self.module.nodes(ast.FunctionDef, ast.AsyncFunctionDef)
        return any(function.returns is not None for function in functions)

    @property
    def text(self) -> str:
        lines = [*self.heading(), *(self.unit + line if line else "" for line in self.body())]
        return "\n".join(self.indent + line if line else "" for line in lines)

    # What it needs

    def require(self, dotted: str, name: str | None = None) -> str:
        spelling, edits = self.module.imports.require(dotted, name)
        if edits and is_bound_otherwise(self.module, spelling):
            raise Unsure(f"the name {spelling!r} means something else in {self.module.path}")
        for edit in edits:
            self.add(edit)
        return spelling

    def require_steps(self) -> str:
        """How to write the file of steps here; it is created where it is not there yet."""
        path = place_of_steps(self.project, list(self.boundary.homes))
        for edit in self.project.new_file(path, TEXT):
            self.add(edit)
        package, _, name = self.project.module_name(path).rpartition(".")
        if package and not self.module.imports.spelling(f"{package}.{name}") and self.is_relative(package):
            self.add(insert_import(self.module, f"from . import {name}", package))
            return name
        if package or self.module.imports.spelling(name):
            return self.require(package or name, name if package else None)
        self.add(self.import_neighbour(name))
        return name

    def import_neighbour(self, name: str) -> Edit:
        """`import name` for a file next to this one, below all other imports, in the block of its kind."""
        block = leading_imports(self.module, last_setup(self.module))
        if not block:
            return insert_import(self.module, f"import {name}", name)
        is_own = self.project.path_of(imported_module(block[-1], self.module)) is not None
        return insert_line_after(self.module, block[-1], f"import {name}" if is_own else f"\nimport {name}")

    def add(self, edit: Edit) -> None:
        if edit not in self.edits:
            self.edits.append(edit)

    def is_relative(self, package: str) -> bool:
        """Whether the module imports its neighbours with a dot, and none of them by `from . import`."""
        nodes = [node for node in self.module.tree.body if isinstance(node, ast.ImportFrom) and node.level == 1]
        is_neighbour = self.module.name.rpartition(".")[0] == package
        return is_neighbour and bool(nodes) and all(node.module for node in nodes)

    # The lines

    def heading(self) -> list[str]:
        annotated = self.is_annotated
        given = self.signature.with_keep(annotated) if self.boundary.is_mixed else self.signature.parameters
        parameters = ("self", *given) if self.is_method else given
        returns = f" -> {self.signature.returns}" if self.signature.returns else ""
        return self.fold(f"def {self.boundary.name}(", parameters, f"){returns}:", self.indent)

    def body(self) -> list[str]:
        name = self.compiled.name
        keep = f"with `{self.signature.keep}`, " if self.boundary.is_mixed else ""
        lives = "outlives the step" if self.boundary.copies != "never" else "lives until the next step"
        docstring = f'"""Run `{name}` as a step of its own; {keep}what it returns {lives}."""'
        clones_any_form = not self.form.is_known and self.boundary.copies != "never"
        steps = self.require_steps() if self.waits or clones_any_form else ""
        begin = f"{steps}.begin_step()" if self.waits else f"{self.spell_mark()}()"
        called = f"self.{name}" if self.is_method else name
        before, after = (f"{steps}.expect_backward({called}(", "))") if self.waits else (f"{called}(", ")")
        return [docstring, begin, *self.copying(before, after, steps)]

    def spell_mark(self) -> str:
        spelling = self.module.imports.spelling(MARK)
        return spelling or f"{self.require('torch')}{MARK.removeprefix('torch')}"

    def copying(self, before: str, after: str, steps: str) -> list[str]:
        """The lines that call and return a copy: at once where the output is named but once."""
        given, inner = self.signature.arguments, self.indent + self.unit
        if self.boundary.copies == "never":
            return self.fold(f"return {before}", given, after, inner)
        if self.form.what == "tensor" and not self.boundary.is_mixed:
            return self.fold(f"return {before}", given, f"{after}.clone()", inner)
        if not self.form.is_known and not self.boundary.is_mixed:
            return self.fold(f"return {steps}.clone_tensors({before}", given, f"{after})", inner)
        taken = {argument.lstrip("*").partition("=")[0] for argument in given}
        name = next(name for name in ("output", "outputs", "result", "made", "returned_by_it") if name not in taken)
        lines = self.fold(f"{name} = {before}", given, after, inner)
        keep = self.signature.keep
        if self.form.what in ("tensor", "unknown") or not self.form.is_known:
            copied = f"{name}.clone()" if self.form.what == "tensor" else f"{steps}.clone_tensors({name})"
            return [*lines, f"return {copied} if {keep} else {name}"]
        if self.boundary.is_mixed:
            lines += [f"if not {keep}:", f"{self.unit}return {name}"]
        return [*lines, *self.copy_parts(self.form, name, inner)]

    def copy_parts(self, form: Form, name: str, inner: str) -> list[str]:
        replace = self.require("dataclasses", "replace") if has_dataclass(form) else ""
        whole = f"return {form.copy(name, replace)}"
        if form.what == "tuple" and len(form.parts) > 1:
            whole = "return " + form.copy(name, replace)[1:-1]
        if shown_width(self.module, inner + whole) <= width_of(self.module) or form.what in ("plain", "dict"):
            return [whole]
        if form.what == "tuple":
            parts = [part.copy(f"{name}[{number}]", replace) for number, part in enumerate(form.parts)]
            return ["return (", *(f"{self.unit}{part}," for part in parts), ")"]
        pairs = zip(form.names, form.parts, strict=True)
        parts = [f"{n}={part.copy(f'{name}.{n}', replace)}" for n, part in pairs if part.what != "plain"]
        opening, first = (
            (f"return {name}._replace(", []) if form.what == "namedtuple" else (f"return {replace}(", [name])
        )
        return self.fold(opening, [*first, *parts], ")", inner)

    def fold(self, opening: str, items: Sequence[str], closing: str, indent: str) -> list[str]:
        """One line, or three, or one for each item, as the width of the file allows."""
        whole, inner, width = f"{opening}{', '.join(items)}{closing}", ", ".join(items), width_of(self.module)
        if shown_width(self.module, indent + whole) <= width or not items:
            return [whole]
        if shown_width(self.module, indent + self.unit + inner) <= width:
            return [opening, self.unit + inner, closing]
        return [opening, *(f"{self.unit}{item}," for item in items), closing]


def has_dataclass(form: Form) -> bool:
    return form.what == "dataclass" or any(has_dataclass(part) for part in form.parts)


def name_boundary(project: Project, compiled: Compiled) -> str:
    """A name that the project does not use."""
    bare = compiled.name.strip("_") or "compiled"
    for name in (f"_run_{bare}", f"_run_compiled_{bare}"):
        if not project.mentions(name):
            return name
    raise Unsure(
        f"{compiled.where}: the project uses the names _run_{bare} and _run_compiled_{bare} for something else"
    )
