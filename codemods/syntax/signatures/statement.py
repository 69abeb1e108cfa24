"""Rewrite one statement with LibCST, and say so in the smallest edits."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from codemods.difference import replacements
from codemods.model import Edit, Span
from codemods.module import NEWLINE, Module

if TYPE_CHECKING:
    import libcst as cst


def rewrite_statement(module: Module, node: ast.stmt, change: Callable[[Any], cst.CSTNode]) -> tuple[Edit, ...]:
    """The edits that turn the statement into what `change` makes of its LibCST node. Decorators are not part of it.

    Only this statement is parsed. A text that LibCST would not give back unchanged is an error.
    """
    import libcst as cst

    span = module.span(node)
    text = module.text[span.start : span.end]
    tree = cst.parse_module(text)
    if tree.code != text:
        raise ValueError(f"{module.path}:{node.lineno}: LibCST does not give this statement back as it is")
    changed = tree.with_changes(body=[change(tree.body[0])]).code
    pieces = (
        (Span(span.start + where.start, span.start + where.end), new) for where, new in replacements(text, changed)
    )
    return tuple(module.replace(where, NEWLINE.sub("\n", new)) for where, new in pieces)


def add_parameter(function: cst.FunctionDef, text: str) -> cst.FunctionDef:
    """The function with one more parameter: last, but before `**kwargs`, and by keyword only where that has begun.

    `text` is the parameter with its annotation and default. It is laid out like the parameter before it, which
    keeps its comment. The function must have a parameter already.
    """
    import libcst as cst

    template = cst.ensure_type(cst.parse_statement(f"def f({text}): ..."), cst.FunctionDef)
    parameters = function.params
    group = "params" if isinstance(parameters.star_arg, cst.MaybeSentinel) else "kwonly_params"
    last, place = last_parameter(parameters)
    old, new = part(last, template.params.params[0], function)
    added: list[cst.Param] = [*getattr(parameters, group)]
    if place == group:
        added[-1] = old
    elif place == "posonly_params":
        parameters = parameters.with_changes(posonly_ind=old)
    else:
        parameters = parameters.with_changes(**{place: old})
    return function.with_changes(params=parameters.with_changes(**{group: [*added, new]}))


def break_parameters(function: cst.FunctionDef, indent: str, unit: str) -> cst.FunctionDef:
    """The function with its parameters, which stand on one line, on a line of their own between the parentheses."""
    import libcst as cst

    def line(indentation: str) -> cst.ParenthesizedWhitespace:
        return cst.ParenthesizedWhitespace(last_line=cst.SimpleWhitespace(indentation))

    parameters = function.params
    last, place = last_parameter(parameters)
    if isinstance(parameters.star_kwarg, cst.Param):
        last, place = parameters.star_kwarg, "star_kwarg"
    closed = last.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_param=line(indent))
    old = getattr(parameters, place)
    new = [*old[:-1], closed] if isinstance(old, (list, tuple)) else closed
    return function.with_changes(
        whitespace_before_params=line(indent + unit), params=parameters.with_changes(**{place: new})
    )


def last_parameter(parameters: cst.Parameters) -> tuple[Any, str]:
    """The parameter, `/` or `*args` that ends the list (`**kwargs` apart), and the field that holds it."""
    import libcst as cst

    if parameters.kwonly_params:
        return parameters.kwonly_params[-1], "kwonly_params"
    if isinstance(parameters.star_arg, cst.Param):
        return parameters.star_arg, "star_arg"
    if parameters.params:
        return parameters.params[-1], "params"
    return parameters.posonly_ind, "posonly_params"


def part(last: Any, new: cst.Param, function: cst.FunctionDef) -> tuple[Any, cst.Param]:
    """The last parameter and the new one behind it, with the commas and white space that each of them gets."""
    import libcst as cst

    comma = last.comma if isinstance(last.comma, cst.Comma) else None
    if function.params.star_kwarg:
        return last, new.with_changes(comma=without_comment(comma))
    field = "whitespace_after_param" if hasattr(last, "whitespace_after_param") else "whitespace_after"
    behind = comma.whitespace_after if comma else getattr(last, field)
    line = line_of_its_own(last, function)
    between: Any = cst.SimpleWhitespace(" ")
    if line is not None and isinstance(behind, cst.ParenthesizedWhitespace):
        between = behind.with_changes(indent=line.indent, last_line=line.last_line)
        behind = without_comment(behind)
    old = last.with_changes(**{"comma": cst.Comma(whitespace_after=between), field: cst.SimpleWhitespace("")})
    if comma:
        return old, new.with_changes(comma=cst.Comma(whitespace_after=behind))
    return old, new.with_changes(whitespace_after_param=behind)


def line_of_its_own(last: Any, function: cst.FunctionDef) -> cst.ParenthesizedWhitespace | None:
    """The line break and indent before the last parameter, if it begins a line."""
    import libcst as cst

    parameters = function.params
    ordered: list[Any] = [*parameters.posonly_params, parameters.posonly_ind, *parameters.params]
    ordered += [parameters.star_arg, *parameters.kwonly_params]
    listed: list[Any] = [item for item in ordered if isinstance(item, cst.CSTNode)]
    index = next(index for index, item in enumerate(listed) if item is last)
    comma = listed[index - 1].comma if index else None
    before = comma.whitespace_after if isinstance(comma, cst.Comma) else function.whitespace_before_params
    return before if isinstance(before, cst.ParenthesizedWhitespace) else None


def without_comment(node: Any) -> Any:
    """A comma or the white space behind it, with the line break but without comments and empty lines."""
    import libcst as cst

    if isinstance(node, cst.Comma):
        return node.with_changes(whitespace_after=without_comment(node.whitespace_after))
    if isinstance(node, cst.ParenthesizedWhitespace):
        first = node.first_line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
        return node.with_changes(first_line=first, empty_lines=[])
    return node
