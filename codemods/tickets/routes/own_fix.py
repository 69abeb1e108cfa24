"""The ticket's own fix as edits, where there is only one way to read it."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

from fullgraph.codemods.model import Edit, SourceError, Span
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.source import decode
from fullgraph.codemods.tickets.model import CodeBlock, Ticket
from fullgraph.codemods.tickets.places.in_file import blocks_of
from fullgraph.codemods.tickets.places.model import Located, Spot
from fullgraph.codemods.tickets.places.quotes import Quote, find_quotes
from fullgraph.codemods.tickets.routes.model import OwnFix

EXACT = 0.995
LANGUAGES = ("", "python", "py", "python3", "suggestion", "diff")


def own_fix(ticket: Ticket, located: Located, project: Project) -> OwnFix:
    """What the ticket proposes, literally: its code in place of the code it quotes, or a decorator and a docstring."""
    fixes = [
        block
        for block in ticket.code_of("fix")
        if block.language in ("", "python", "py", "python3", "suggestion", "diff")
    ]
    if not fixes:
        return OwnFix(why_not="the ticket proposes no code")
    if len(fixes) > 1:
        return OwnFix(why_not=f"the ticket proposes {len(fixes)} pieces of code")
    if fixes[0].snippet is None:
        return OwnFix(why_not="the proposed code does not parse")
    if not located.spots:
        return OwnFix(why_not="the place was not found")
    try:
        found = added_to_function(fixes[0], located, project) or in_place(ticket, fixes[0], located, project)
        return checked(found, project)
    except SourceError as error:
        return OwnFix(why_not=str(error))


def checked(fix: OwnFix, project: Project) -> OwnFix:
    """The fix, if the result parses and is something else than what is there."""
    for path in sorted({edit.path for edit in fix.edits}):
        edits = [edit for edit in fix.edits if edit.path == path]
        after = project.source(path).splice(edits)
        Module(decode(path, after))
        if after == project.read(path):
            return OwnFix(why_not="the file says so already")
    return fix


# A decorator or a docstring for a function that stays as it is


def added_to_function(block: CodeBlock, located: Located, project: Project) -> OwnFix | None:
    """Edits for a fix that is only the head of a function: its decorators and docstring, and `...` for the rest."""
    assert block.snippet is not None
    heads = [node for node in block.snippet.tree().body if isinstance(node, Function)]
    if len(heads) != 1 or len(block.snippet.tree().body) != 1 or not is_only_head(heads[0]):
        return None
    for spot in located.spots:
        module = project.module(spot.path)
        targets = [node for node in module.nodes(*Function.__args__) if is_meant(module, node, heads[0], spot)]
        if len(targets) == 1:
            edits = tuple(head_edits(module, targets[0], heads[0]))
            return OwnFix(edits) if edits else OwnFix(why_not="the function has these already")
    return OwnFix(why_not=f"there is no function {heads[0].name} at the place, or more than one")


def is_only_head(node: Function) -> bool:
    """Whether a function is quoted for its decorators or its docstring alone."""
    rest = node.body[1:] if ast.get_docstring(node) is not None else node.body
    is_empty = all(isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in rest)
    return is_empty and bool(node.decorator_list or len(rest) < len(node.body))


def is_meant(module: Module, node: Function, head: Function, spot: Spot) -> bool:
    symbol = module.symbol(node)
    return node.name == head.name and (not spot.symbol or symbol == spot.symbol or symbol.startswith(f"{spot.symbol}."))


def head_edits(module: Module, node: Function, head: Function) -> list[Edit]:
    """Decorators that are missing, innermost, and the docstring in place of the one there."""
    indent = module.indent(node)
    there = {ast.unparse(each) for each in node.decorator_list}
    new = [text for each in head.decorator_list if (text := ast.unparse(each)) not in there]
    start = module.line_start(module.span(node).start)
    edits = [module.insert(start, "".join(f"{indent}@{text}\n" for text in new))] if new else []
    docstring = ast.get_docstring(head)
    if docstring is not None and docstring != ast.get_docstring(node):
        edits.append(docstring_edit(module, node, docstring))
    return edits


def docstring_edit(module: Module, node: Function, text: str) -> Edit:
    first = node.body[0]
    indent = module.indent(first) if module.begins_line(first) else module.indent(node) + module.indent_unit
    lines = textwrap.indent(text, indent).strip()
    quoted = f'"""{lines}"""' if "\n" not in text else f'"""{lines}\n{indent}"""'
    if ast.get_docstring(node) is not None:
        return module.replace(first, quoted)
    return module.insert(module.span(first).start, f"{quoted}\n{indent}")


# Code in place of the code that is quoted


def in_place(ticket: Ticket, block: CodeBlock, located: Located, project: Project) -> OwnFix:
    """Edits that put the fix where exactly the ticket's code block stands, in every spot."""
    assert block.snippet is not None
    if block.snippet.holes or block.snippet.added:
        return OwnFix(why_not="the proposed code leaves something out")
    before = [each for each in blocks_of(ticket) if each.snippet and not each.snippet.holes]
    if len(before) != 1:
        return OwnFix(why_not="the ticket does not quote, in one block and in full, the code to replace")
    edits: list[Edit] = []
    for path in dict.fromkeys(spot.path for spot in located.spots if spot.is_quoted):
        module = project.module(path)
        lines = {line for spot in located.spots if spot.path == path for line in spot.lines}
        for quote in find_quotes(module, before[0]):
            if set(quote.lines) <= lines and quote.score >= EXACT and (statements := in_a_row(module, quote)):
                edits.append(replace_statements(module, statements, block))
    return (
        OwnFix(tuple(edits)) if edits else OwnFix(why_not="the code that the ticket quotes is not what the file says")
    )


def in_a_row(module: Module, quote: Quote) -> list[ast.stmt]:
    """The statements that a quote stands for, if they follow each other in one block and fill their lines."""
    found = [node if isinstance(node, ast.stmt) else module.parent(node) for node in quote.nodes]
    statements = [node for node in found if isinstance(node, ast.stmt)]
    if len(statements) != len(quote.nodes) or any(isinstance(node, ast.ClassDef) for node in statements):
        return []
    block = module.block(statements[0])
    first = block.index(statements[0])
    return (
        statements if block[first : first + len(statements)] == statements and module.begins_line(block[first]) else []
    )


def replace_statements(module: Module, statements: Sequence[ast.stmt], block: CodeBlock) -> Edit:
    assert block.snippet is not None
    indent = module.indent(statements[0])
    text = textwrap.indent(textwrap.dedent(block.snippet.text).strip("\n"), indent)
    start, end = module.span(statements[0]).start, module.span(statements[-1]).end
    return Edit(module.path, Span(start, end), text.removeprefix(indent).replace("\n", module.newline_at(start)))
