"""The check as a careful engineer would write it: for compiled code beside what there is for eager code."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import is_bound_otherwise
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.signatures.width import shown_width, width_of
from fullgraph.codemods.topics.checks.conditions import Condition
from fullgraph.codemods.topics.checks.forms import Check, is_elif, nth_elif
from fullgraph.codemods.topics.checks.messages import Message

COMPILING = "torch.compiler.is_compiling"
LONG_TEXT = ('"""', "'''")


@dataclass(frozen=True)
class Written:
    """What compiled code asks, one line of questions for each link of the check."""

    condition: Condition
    message: Message


def write(module: Module, check: Check, asked: list[Written]) -> tuple[Edit, ...]:
    """The edits. Eager code keeps its statement, character for character."""
    torch, imports = spell_torch(module, check)
    compiling = module.imports.spelling(COMPILING) or f"{torch}.compiler.is_compiling"
    supposed = dict.fromkeys(pair for one in asked for pair in one.condition.supposed)
    types = [f"isinstance({name}, {f'{torch}.Tensor' if kind == 'Tensor' else kind})" for name, kind in supposed]
    guard = " and ".join([f"{compiling}()", *asked[0].condition.guards, *types])
    if not isinstance(check.statement, ast.If):
        return (*imports, *in_branches(module, check.statement, guard, torch, asked))
    if check.rest:
        return (*imports, *beside(module, check, guard, torch, asked))
    return (*imports, ahead(module, check.statement, guard, torch, asked))


def ahead(module: Module, node: ast.If, guard: str, torch: str, asked: list[Written]) -> Edit:
    """Compiled code gets the first branch, and the old `if` is an `elif`."""
    check_has_line(module, node)
    indent = module.indent(node)
    word = "elif" if is_elif(module, node) else "if"
    start = module.span(node).start
    lines = assertions(module, indent + module.indent_unit, torch, asked)
    return module.replace(Span(start, start + len(word)), f"{head(module, indent, word, guard)}\n{lines}{indent}elif")


def beside(module: Module, check: Check, guard: str, torch: str, asked: list[Written]) -> tuple[Edit, ...]:
    """Compiled code asks first and then goes on as if the checks were passed: other branches follow."""
    node = check.statement
    assert isinstance(node, ast.If)
    if is_elif(module, node):
        raise Unsure(f"{module.path}:{node.lineno}: an `elif` with other branches behind it")
    if any(one.condition.guards for one in asked):
        raise Unsure(f"{module.path}:{node.lineno}: a Python question in the test, and other branches behind it")
    check_has_line(module, node)
    indent = module.indent(node)
    lines = assertions(module, indent + module.indent_unit, torch, asked)
    start = module.span(node).start
    # The word `if` is replaced, not only preceded: a new import may have to be inserted at the same place.
    edits = [module.replace(Span(start, start + 2), f"{head(module, indent, 'if', guard)}\n{lines}{indent}if")]
    for number, link in enumerate(check.links):
        test = nth_elif(node, number).test if not link.passes_on else node.test
        edits += passing(module, test, guard, link.passes_on)
    return tuple(edits)


def passing(module: Module, test: ast.expr, guard: str, passes_on: bool) -> list[Edit]:
    """The test, answered for compiled code as if it was passed."""
    span = module.span(test)
    guard = f"({guard})" if " and " in guard else guard
    answer = f"{guard} or " if passes_on else f"not {guard} and "
    if isinstance(test, (ast.BoolOp, ast.IfExp, ast.Lambda)):
        return [module.insert(span.start, f"{answer}("), module.insert(span.end, ")")]
    return [module.insert(span.start, answer)]


def in_branches(
    module: Module, node: ast.Assert | ast.Expr, guard: str, torch: str, asked: list[Written]
) -> tuple[Edit, ...]:
    """An `assert` or a call goes into the `else` of a new `if`."""
    check_has_line(module, node)
    indent, unit = module.indent(node), module.indent_unit
    code = module.code(node)
    behind = module.text[module.span(node).end : module.line_end(module.span(node).end)].strip()
    if any(quotes in code for quotes in LONG_TEXT) or "\\\n" in code or behind.startswith(";"):
        raise Unsure(f"{module.path}:{node.lineno}: the statement cannot be indented for sure")
    lines = assertions(module, indent + unit, torch, asked)
    start = f"{head(module, indent, 'if', guard)}\n{lines}{indent}else:\n{indent}{unit}"
    first, *others = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    moved = "\n".join([first, *(f"{unit}{line}" if line.strip() else line for line in others)])
    return (module.replace(node, start + moved),)


def head(module: Module, indent: str, word: str, guard: str) -> str:
    """The line of an `if`, or one for each question where that is too long."""
    if shown_width(module, f"{indent}{word} {guard}:") <= width_of(module):
        return f"{word} {guard}:"
    inner = indent + module.indent_unit
    asked = guard.replace(" and isinstance(", f"\n{inner}and isinstance(")
    return f"{word} (\n{inner}{asked}\n{indent}):"


def check_has_line(module: Module, node: ast.stmt) -> None:
    if not module.begins_line(node):
        raise Unsure(f"{module.path}:{node.lineno}: the statement shares its line with another")


def assertions(module: Module, indent: str, torch: str, asked: list[Written]) -> str:
    return "".join(assertion(module, indent, torch, one) for one in asked)


def assertion(module: Module, indent: str, torch: str, one: Written) -> str:
    """One call on one line, or with a line for each argument, and for each piece of a long message."""
    condition = one.condition.passed.text
    quote = "'" if module.text.count("'") > module.text.count('"') else '"'
    literal = one.message.literal or quoted(one.message.text, quote)
    line = f"{indent}{torch}._assert_async({condition}, {literal})"
    if shown_width(module, line) <= width_of(module):
        return f"{line}\n"
    inner = indent + module.indent_unit
    room = width_of(module) - len(inner.expandtabs(4)) - 4
    pieces = [literal]
    if not one.message.literal.isidentifier() and len(literal) > room + 1:
        pieces = [quoted(piece, quote) for piece in cut(one.message.text, room - 2)]
    return "\n".join([f"{indent}{torch}._assert_async(", f"{inner}{condition},", *lay(inner, pieces), f"{indent})", ""])


def lay(indent: str, pieces: list[str]) -> list[str]:
    return [f"{indent}{piece}" for piece in pieces[:-1]] + [f"{indent}{pieces[-1]},"]


def cut(text: str, room: int) -> list[str]:
    """A text in pieces that end with a blank."""
    pieces = textwrap.wrap(text, max(room, 20), drop_whitespace=False, break_long_words=False, expand_tabs=False)
    return pieces if "".join(pieces) == text else [text]


def quoted(text: str, quote: str) -> str:
    """A text as Python source; it holds no double quotes and no line breaks."""
    quote = '"' if "'" in text else quote
    return quote + "".join(char if char.isprintable() else repr(char)[1:-1] for char in text) + quote


def spell_torch(module: Module, check: Check) -> tuple[str, tuple[Edit, ...]]:
    """How this file writes torch there, with the import that it may need."""
    node = check.statement
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        return module.code(node.value.func.value), ()
    if spelling := module.imports.spelling("torch"):
        return spelling, ()
    if is_bound_otherwise(module, "torch") or module.imports.meanings.get("torch", {"torch"}) != {"torch"}:
        raise Unsure(f"{module.path}:{node.lineno}: the name torch is used for something else in this file")
    if not any(is_top(module, one) for one in module.tree.body):
        raise Unsure(f"{module.path}:{node.lineno}: torch is not imported for sure")
    return module.imports.require("torch")


def is_top(module: Module, node: ast.stmt) -> bool:
    """Whether a statement of the top level imports torch, or something of it."""
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] == "torch" for alias in node.names)
    return isinstance(node, ast.ImportFrom) and module.imports.origin(node).split(".")[0] == "torch"
