"""One parsed file: its tree, where each node stands in the text, and what its names mean."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import Any, TypeVar, overload

from fullgraph.codemods.imports import Imports
from fullgraph.codemods.model import Edit, Finding, Safety, Since, Span
from fullgraph.codemods.parse import parse
from fullgraph.codemods.scopes import Scopes
from fullgraph.codemods.source import Source

NEWLINE = re.compile(r"\r\n|\r|\n")
NODE = TypeVar("NODE", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


PLAIN = {
    *("ctx", "op", "ops", "id", "attr", "kind", "name", "asname", "level", "module", "type_comment", "simple"),
    *("is_async", "conversion", "arg", "rest", "kwd_attrs"),
}
"""Fields that never hold a node with a place in the text."""


class ChildFields(dict[type[ast.AST], tuple[str, ...]]):
    """For each class of nodes the fields that hold nodes. Operators and contexts do not count: they stand nowhere."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        is_leaf = kind in (ast.Constant, ast.Global, ast.Nonlocal, ast.MatchSingleton)
        self[kind] = () if is_leaf else tuple(field for field in kind._fields if field not in PLAIN)
        return self[kind]


CHILDREN = ChildFields()


class Module:
    """The text and the tree of one file. Never changed: a codemod says what to do with `replace` and `insert`."""

    def __init__(self, source: Source, name: str = "", tree: ast.Module | None = None) -> None:
        self.source = source
        self.path = source.path
        self.text = source.text
        self.name = name
        self.tree, self.parsed = (tree, source.parsed) if tree else parse(source)

    # Where things stand

    @cached_property
    def line_starts(self) -> list[int]:
        return [0, *(newline.end() for newline in NEWLINE.finditer(self.text))]

    def offset(self, line: int, column: int) -> int:
        """The character at an `ast` position: a line counted from 1 and a column in UTF-8 bytes."""
        start = self.line_starts[line - 1]
        if self.parsed.isascii():
            return start + column
        line_text = self.parsed[start : start + column]
        if line_text.isascii():
            return start + column
        return start + len(line_text.encode()[:column].decode())

    def line(self, offset: int) -> int:
        return bisect_right(self.line_starts, offset)

    def line_start(self, offset: int) -> int:
        return self.line_starts[self.line(offset) - 1]

    def line_end(self, offset: int) -> int:
        """Just behind the line break of the line that holds this character."""
        line = self.line(offset)
        return self.line_starts[line] if line < len(self.line_starts) else len(self.text)

    def span(self, node: ast.AST) -> Span:
        """The node's own characters; decorators and enclosing parentheses are not among them."""
        where = node  # one name for the many node classes that have positions
        return Span(
            self.offset(where.lineno, where.col_offset),  # type: ignore[attr-defined]
            self.offset(where.end_lineno, where.end_col_offset),  # type: ignore[attr-defined]
        )

    @cached_property
    def _blanked(self) -> list[Span]:
        """Where the text is not what `ast` read. Blanks between two such characters of a line belong to it."""
        if self.text == self.parsed:
            return []
        found: list[Span] = []
        for at, (mine, read) in enumerate(zip(self.text, self.parsed, strict=True)):
            if mine != read and found and not self.text[found[-1].end : at].strip(" \t\f"):
                found[-1] = Span(found[-1].start, at + 1)
            elif mine != read:
                found.append(Span(at, at + 1))
        return found

    def is_blanked(self, span: Span) -> bool:
        """Whether an edit there would touch what `ast` was not shown: IPython's lines, or newer syntax."""
        return any(blanked.overlaps(span) for blanked in self._blanked)

    def code(self, node: ast.AST) -> str:
        span = self.span(node)
        return self.text[span.start : span.end]

    def indent(self, node: ast.AST) -> str:
        """The white space before the line on which the node begins; it counts from the last form feed on."""
        start = self.line_start(self.span(node).start)
        line = self.text[start : self.line_end(start)]
        return line[: len(line) - len(line.lstrip(" \t\f"))].rpartition("\f")[2]

    def begins_line(self, node: ast.AST) -> bool:
        """Whether nothing but white space stands before the node on its line."""
        start = self.span(node).start
        return not self.text[self.line_start(start) : start].strip()

    @cached_property
    def indent_unit(self) -> str:
        """One level of indentation as this file writes it."""
        for scope in self.nodes(ast.FunctionDef, ast.ClassDef, ast.If, ast.For, ast.With):
            inner = scope.body[0]
            if self.begins_line(inner) and len(self.indent(inner)) > len(self.indent(scope)):
                return self.indent(inner)[len(self.indent(scope)) :]
        return "    "

    # The tree

    @cached_property
    def _index(self) -> tuple[dict[type[ast.AST], list[ast.AST]], dict[ast.AST, ast.AST]]:
        by_type: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        parents: dict[ast.AST, ast.AST] = {}
        todo: list[ast.AST] = [self.tree]
        for node in todo:
            kind = node.__class__
            by_type[kind].append(node)
            for field in CHILDREN[kind]:
                value = getattr(node, field)
                if value.__class__ is list:
                    for child in value:
                        if child is not None:
                            parents[child] = node
                            todo.append(child)
                elif value is not None:
                    parents[value] = node
                    todo.append(value)
        return by_type, parents

    @cached_property
    def _sorted(self) -> dict[type[ast.AST], list[Any]]:
        """The nodes of each type that has been asked for, in the order of the text."""
        return {}

    @overload
    def nodes(self, kind: type[NODE], /) -> list[NODE]: ...
    @overload
    def nodes(self, *kinds: type[ast.AST]) -> list[Any]: ...
    def nodes(self, *kinds: type[ast.AST]) -> list[Any]:
        """All nodes of these types, in the order of the text."""
        for kind in kinds:
            if kind not in self._sorted:
                self._sorted[kind] = sorted(self._index[0].get(kind, []), key=position)
        if len(kinds) == 1:
            return list(self._sorted[kinds[0]])
        return sorted((node for kind in kinds for node in self._sorted[kind]), key=position)

    @overload
    def unordered(self, kind: type[NODE], /) -> list[NODE]: ...
    @overload
    def unordered(self, *kinds: type[ast.AST]) -> list[Any]: ...
    def unordered(self, *kinds: type[ast.AST]) -> list[Any]:
        """As `nodes`, for those who need no order: sorting takes longer than finding."""
        return [node for kind in kinds for node in self._index[0].get(kind, ())]

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._index[1].get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around this one, innermost first."""
        parent = self.parent(node)
        while parent is not None:
            yield parent
            parent = self.parent(parent)

    @overload
    def enclosing(self, node: ast.AST, kind: type[NODE], /) -> NODE | None: ...
    @overload
    def enclosing(self, node: ast.AST, *kinds: type[ast.AST]) -> Any: ...
    def enclosing(self, node: ast.AST, *kinds: type[ast.AST]) -> Any:
        """The innermost node of these types around this one."""
        return next((outer for outer in self.ancestors(node) if isinstance(outer, kinds)), None)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The smallest statement that holds the node, or the node itself."""
        if isinstance(node, ast.stmt):
            return node
        found = self.enclosing(node, ast.stmt)
        assert found is not None, "every expression stands in a statement"
        return found

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements of the body, `else` or `finally` that holds this one."""
        parent = self.parent(statement)
        blocks = [getattr(parent, field, []) for field in ("body", "orelse", "finalbody")]
        return next((block for block in blocks if statement in block), [statement])

    def symbol(self, node: ast.AST) -> str:
        """`Class.method` around or at this node; `<module>` at the top level."""
        scopes = [node, *self.ancestors(node)]
        return ".".join(scope.name for scope in reversed(scopes) if isinstance(scope, Scope)) or "<module>"

    # What names mean

    @cached_property
    def imports(self) -> Imports:
        return Imports(self)

    @cached_property
    def scopes(self) -> Scopes:
        return Scopes(self)

    def resolve(self, node: ast.AST) -> str | None:
        """`torch.compiler.disable` for however this file spells it; None when the name could mean something else."""
        return self.imports.resolve(node)

    # What a codemod says

    def replace(self, where: ast.AST | Span, new_text: str) -> Edit:
        """An edit of this file; `\\n` in the new text becomes the line ending that is used there."""
        span = where if isinstance(where, Span) else self.span(where)
        return Edit(self.path, span, new_text.replace("\n", self.newline_at(span.start)))

    def insert(self, offset: int, new_text: str) -> Edit:
        return self.replace(Span(offset, offset), new_text)

    def newline_at(self, offset: int) -> str:
        """The line ending that follows, else the file's last one, else `\\n`."""
        following = NEWLINE.search(self.text, offset)
        return following.group() if following else (NEWLINE.findall(self.text) or ["\n"])[-1]

    def finding(
        self,
        codemod: str,
        node: ast.AST,
        message: str,
        *,
        edits: tuple[Edit, ...] = (),
        caveat: str = "",
        left_alone: str = "",
        notes: tuple[str, ...] = (),
        since: Since | None = None,
    ) -> Finding:
        """A finding at this node. A `caveat` makes it unsafe; without edits, `left_alone` must say why."""
        span = self.span(node)
        return Finding(
            codemod=codemod,
            path=self.path,
            span=span,
            symbol=self.symbol(node),
            message=message,
            edits=edits,
            safety=Safety.UNSAFE if caveat else Safety.SAFE,
            caveat=caveat,
            left_alone=left_alone,
            notes=notes,
            since=since,
            line=self.line(span.start),
            column=span.start - self.line_start(span.start) + 1,
            last_line=self.line(max(span.start, span.end - 1)),
        )


def children(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes right below one that stand somewhere in the text; as `ast.iter_child_nodes`, in half the time."""
    for field in CHILDREN[node.__class__]:
        value = getattr(node, field, None)
        if value.__class__ is list:
            yield from (child for child in value if child is not None)
        elif value is not None:
            yield value


def position(node: Any) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
