"""Make consecutive statements of a function a function, or a method, of their own."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import statement_start
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.scopes import DEFINITIONS, names_within
from fullgraph.codemods.syntax.extraction.data_flow import DataFlow
from fullgraph.codemods.syntax.extraction.extractable import Exit, check_exits, check_extractable, nodes_of
from fullgraph.codemods.syntax.extraction.moved_text import Layout, moved, whole_lines
from fullgraph.codemods.syntax.extraction.owner import (
    Parameter,
    attribute_parameters,
    is_private,
    known_annotation,
    owner_of,
)
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.placing import insert_at
from fullgraph.codemods.syntax.signatures.docstrings import docstring_of

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Extraction:
    """Statements as a function: what it is given, what it returns, and the text on both sides.

    `owner`: the class that it becomes a method of. `replaced`: what is written otherwise in the moved lines.
    """

    module: Module
    function: Function
    statements: tuple[ast.stmt, ...]
    parameters: tuple[Parameter, ...]
    results: tuple[str, ...]
    exits: tuple[Exit, ...]
    owner: ast.ClassDef | None = None
    replaced: tuple[tuple[Span, str], ...] = ()

    @property
    def span(self) -> Span:
        return whole_lines(self.module, self.statements)

    @property
    def returns_value(self) -> bool:
        return any(isinstance(leave, ast.Return) and leave.value for leave in self.exits)

    @property
    def top(self) -> ast.stmt:
        """The statement above which a function can be defined: at the top level, or the method itself."""
        around = [self.function, *self.module.ancestors(self.function)]
        body = self.owner.body if self.owner else self.module.tree.body
        found = next(node for node in around if isinstance(node, ast.stmt) and node in body)
        same = (node for node in body if getattr(node, "name", "") == getattr(found, "name", None))
        return next(same) if isinstance(found, DEFINITIONS) else found

    def edits(self, name: str, decorator: str, doc: str, imports: Sequence[Edit] = ()) -> tuple[Edit, ...]:
        """The call in place of the statements, and the definition above the function, or class, that held them."""
        top = self.top
        if not self.module.begins_line(top):
            raise Unsure(f"{where(self.module, top)}: no room for a definition, as the line is shared")
        offset = self.module.line_start(statement_start(self.module, top))
        while offset and is_comment(self.module, offset, self.module.indent(top)):
            offset = self.module.line_start(offset - 1)
        text = self._definition(name, decorator, doc)
        apart = insert_at(self.module, offset, text, imports, blank=1 if self.owner else 2)
        return (*apart, self.module.replace(self.span, self._call(name)))

    # The two texts

    def _call(self, name: str) -> str:
        layout = Layout.of(self.module, self.module.indent(self.statements[0]))
        head = f"{', '.join(self.results)} = " if self.results else "return " if self.returns_value else ""
        given = [parameter.argument for parameter in self.parameters]
        receiver = f"{self.parameters[0].name}." if self.owner else ""
        return layout.bracketed(f"{head}{receiver}{name}(", given[1:] if self.owner else given, ")")

    def _definition(self, name: str, decorator: str, doc: str) -> str:
        layout = Layout.of(self.module, self.module.indent(self.top))
        taken = [parameter.declaration for parameter in self.parameters]
        header = layout.bracketed(f"def {name}(", taken, f"){self._returns()}:")
        inner = layout.indent + layout.unit
        body = moved(self.module, self.span, self.module.indent(self.statements[0]), inner, self._rewritten())
        lines = [f"{layout.indent}@{decorator}", header, f'{inner}"""{doc}"""', body]
        if self.results:
            lines.append(f"{inner}return {', '.join(self.results)}")
        return "\n".join(lines)

    def _rewritten(self) -> list[tuple[Span, str]]:
        leaves = f"return {', '.join(self.results)}" if self.results else "return"
        skipped = [leave for leave in self.exits if isinstance(leave, ast.Continue)]
        return [*self.replaced, *((self.module.span(leave), leaves) for leave in skipped)]

    def _returns(self) -> str:
        """The annotation of what is returned, where the function around has annotations and all types are known."""
        arguments = (node for node in ast.walk(self.function.args) if isinstance(node, ast.arg))
        if not self.function.returns and not any(node.annotation for node in arguments):
            return ""
        if self.returns_value:
            return f" -> {self.module.code(self.function.returns)}" if self.function.returns else ""
        known = [known_annotation(self.module, self.function, name) for name in self.results]
        if not known:
            return " -> None"
        text = known[0] if len(known) == 1 else f"tuple[{', '.join(known)}]"
        return f" -> {text}" if all(known) else ""


def is_comment(module: Module, offset: int, indent: str) -> bool:
    """Whether the line above is a comment with this indentation."""
    return module.text[module.line_start(offset - 1) : offset].startswith(f"{indent}#")


def extract(module: Module, statements: Sequence[ast.stmt]) -> Extraction:
    """The statements as a function of their own; Unsure, with the line, where they cannot be one.

    It takes what it needs. If it needs `self`, it takes the attributes, where these are set once and for all in
    `__init__`; else it is a method.
    """
    function = module.enclosing(statements[0], *FUNCTIONS)
    if function is None:
        raise Unsure(f"{where(module, statements[0])}: not in a function")
    if statements[0] is function.body[0] and docstring_of(function) is not None:
        raise Unsure(f"{where(module, statements[0])}: the docstring belongs to {function.name}")
    whole_lines(module, statements)
    check_extractable(module, statements)
    leaves = check_exits(module, function, statements)
    flow = DataFlow(module, function, statements)
    parameters = tuple(Parameter(name, name, known_annotation(module, function, name)) for name in flow.taken)
    found = Extraction(module, function, tuple(statements), parameters, flow.left, tuple(leaves))
    return with_owner(found)


def with_owner(found: Extraction) -> Extraction:
    """The same, as a function of `self`'s attributes or as a method, where it needs `self` or the class."""
    module, function = found.module, found.function
    owner = owner_of(module, function)
    private = next((node for node in nodes_of(found.statements) if is_private(module, node)), None)
    first = owner.name if owner else ""
    names = [parameter.name for parameter in found.parameters]
    at = names.index(first) if first in names else len(names)
    others = tuple(parameter for parameter in found.parameters if parameter.name != first)
    if private is None and len(others) == len(found.parameters):
        return found
    if owner is None:
        if private is None or not module.enclosing(function, ast.ClassDef):
            return found
        raise Unsure(f"{where(module, private)}: means something else outside the class")
    used = names_within(ast.Module(list(found.statements), []))
    by_attribute = attribute_parameters(module, owner, found.statements) if private is None else None
    if by_attribute is not None and not used & {parameter.name for parameter, _ in by_attribute}:
        parameters = tuple(dict.fromkeys(parameter for parameter, _ in by_attribute))
        spans = tuple((span, parameter.name) for parameter, span in by_attribute)
        return replace(found, parameters=(*others[:at], *parameters, *others[at:]), replaced=spans)
    if first in found.results:
        raise Unsure(f"{where(module, found.statements[0])}: sets {first}")
    return replace(found, parameters=(Parameter(first, first), *others), owner=owner.kind)
