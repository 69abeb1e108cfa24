"""What a project compiles with torch.compile, and which calls compiled code reaches. Static: by names only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeGuard

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project, holds_word
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.definitions import GETTER, Definitions
from fullgraph.codemods.syntax.disabled import is_disabled
from fullgraph.codemods.syntax.places import Place, only_function

COMPILERS = {"torch.compile", "torch._dynamo.optimize", "torch._dynamo.optimize_assert"}
IS_COMPILING = {"torch.compiler.is_compiling", "torch.compiler.is_dynamo_compiling", "torch._dynamo.is_compiling"}
REQUEST = re.compile(
    rb"torch\.compile\(|(?<!\bre)\.compile\(\s*(?:\)|\w+\s*=[^=]|\*\*)|@[\w.]+\.compile[ \t]*[#\r\n\\]|"
    rb"(?:partial\(|^)\s*[\w.]+(?<!\bre)\.compile,|dynamo\.optimize(?:_assert)?\(|"
    rb"import\b.*\b(?:compile|optimize|optimize_assert)\b"
)
WINDOW = 80
IMPLICIT = {"forward", "__call__", "__init__"}
"""Functions that are called without being named."""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of a file, as people write it."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Region(CodeLine):
    """One place that asks for compilation. `fullgraph` is what it passes under that name; empty when it may break."""

    fullgraph: str = ""


@dataclass(frozen=True, slots=True)
class ReachedCall(CodeLine):
    """A call that stands in compiled code."""

    region: Region


@dataclass
class CompiledCode:
    """The answer for one project, by path and symbol. Calls are followed when somebody asks about one.

    `unseen` are the regions of which it cannot be said what they compile.
    """

    names: Definitions
    entries: dict[tuple[str, str], Region] = field(default_factory=dict)
    unseen: list[Region] = field(default_factory=list)
    begins: list[tuple[tuple[Module, ast.AST], Region]] = field(default_factory=list)

    @cached_property
    def calls(self) -> dict[tuple[str, str], list[ReachedCall]]:
        found: dict[tuple[str, str], list[ReachedCall]] = {}
        reading = Reading(self.names)
        for entry, region in self.begins:
            follow(reading, entry, region, found)
        return found

    def calls_of(self, module: Module, function: Function) -> list[ReachedCall]:
        """Every call of a function from compiled code, each line once, `fullgraph` ones before the others."""
        if function.name not in IMPLICIT and self.is_named_once(function.name):
            return []
        found = self.calls.get((module.path, module.symbol(function)), [])
        by_line = {(call.path, call.line): call for call in sorted(found, key=lambda call: bool(call.region.fullgraph))}
        return [by_line[place] for place in sorted(by_line)]

    def is_named_once(self, name: str) -> bool:
        """Whether nothing but its definition names a function: then nobody calls it."""
        word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
        return len(self.names.project.matches(word)) < 2

    def entry_of(self, module: Module, function: Function) -> Region | None:
        """The region that compiles this very function, if one does."""
        return self.entries.get((module.path, module.symbol(function)))


def compiled_code(project: Project) -> CompiledCode:
    """What the project compiles; worked out once for each project, and only from files that speak of compiling."""
    return project.worked_out(CompiledCode, lambda: explore(project))


def explore(project: Project) -> CompiledCode:
    answer = CompiledCode(Definitions(project))
    for module in modules_that_compile(project):
        for region, target in regions(module):
            entry = entry_point(answer.names, module, target)
            if entry is not None:
                answer.begins.append((entry, region))
            elif not is_method(target):
                answer.unseen.append(region)
    for (home, node), region in answer.begins:
        if isinstance(node, FUNCTIONS):
            answer.entries[home.path, home.symbol(node)] = region
    return answer


def is_method(target: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether the request was `x.compile()`: on an unknown `x` that may be anybody's method."""
    return isinstance(target, ast.Attribute) and target.attr == "compile"


def modules_that_compile(project: Project) -> Iterator[Module]:
    """The files that may ask torch for compilation, by path."""
    for path, raw in sorted(project.texts()):
        if may_compile(path, raw):
            with suppress(SourceError):
                yield project.module(path)


def may_compile(path: str, raw: bytes) -> bool:
    """Whether a file may ask torch for compilation; `re.compile` alone does not count, nor does talk of it."""
    if b"torch" not in raw or not (holds_word(raw, b"compile") or holds_word(raw, b"optimize")):
        return False
    return b"import torch as " in raw or path.endswith(".ipynb") or requests(raw)


def compiling_notes(path: str, raw: bytes) -> str:
    """What the answer takes from a file that is not parsed for it: whether it would have to be, and its getters."""
    getters = sorted({found[1].decode(errors="replace") for found in GETTER.finditer(raw)})
    return " ".join(["compiles" if may_compile(path, raw) else "", *getters]).strip()


def requests(raw: bytes) -> bool:
    """Whether code may ask for compilation, by the lines that have the words."""
    places = (found.start() for word in (b"compile", b"optimize") for found in re.finditer(word, raw))
    return any(is_request(raw, place) for place in places)


def is_request(raw: bytes, place: int) -> bool:
    """Whether a word is used as in a request, and is not seen to stand in a comment or a string."""
    start = max(raw.rfind(b"\n", 0, place), raw.rfind(b"\r", 0, place)) + 1
    head = raw[start:place]
    is_quoted = head.count(b'"') % 2 or head.count(b"'") % 2
    if is_quoted or any(mark in head for mark in (b"#", b"`", b">>>")):
        return False
    return REQUEST.search(raw[start : place + WINDOW]) is not None


def regions(module: Module) -> Iterator[tuple[Region, ast.AST]]:
    """Each request to compile, with the expression or the function that it is about."""
    for asked in asked_in(module):
        yield Region(module.path, asked.node.lineno, fullgraph_of(module, asked.settings)), asked.target


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to compile as it is written: a decorator or a call, what it is about, and who passes its settings."""

    node: ast.expr
    target: ast.AST
    settings: ast.expr

    @property
    def compiled_in_place(self) -> ast.expr | None:
        """The `x` of `x.compile()`."""
        is_own = self.target is getattr(self.node, "func", None)
        return self.target.value if is_own and isinstance(self.target, ast.Attribute) else None


def asked_in(module: Module) -> Iterator[Asked]:
    """Every request with a target, decorators first. `x.compile()` is one whatever `x` is: its target is the method."""
    for function in module.nodes(*FUNCTIONS):
        for decorator in function.decorator_list:
            if asks_to_compile(module, decorator):
                yield Asked(decorator, function, decorator)
    for call in module.nodes(ast.Call):
        if (target := target_of(module, call)) is not None:
            yield Asked(call, target, call.func if isinstance(call.func, ast.Call) else call)


def asks_to_compile(module: Module, node: ast.AST) -> bool:
    """Whether it is `torch.compile`, `torch.compile(...)` without a target, or a `partial` of it."""
    if isinstance(node, ast.Call):
        is_partial = module.resolve(node.func) == "functools.partial" and bool(node.args)
        node = node.args[0] if is_partial else node.func
    return module.resolve(node) in COMPILERS


def target_of(module: Module, call: ast.Call) -> ast.AST | None:
    """What a call compiles: the `f` of `torch.compile(f)` and `torch.compile(...)(f)`; `f.compile` of `f.compile()`.

    `torch.compile(f)(x)` calls what the inner call has compiled, and compiles nothing itself.
    """
    dotted = module.resolve(call.func)
    if dotted == "torch.compile":
        named = [keyword.value for keyword in call.keywords if keyword.arg == "model"]
        given = next(iter([*call.args, *named]), None)
        return None if isinstance(given, ast.Constant) and given.value is None else given
    if isinstance(call.func, ast.Call) and asks_to_compile(module, call.func):
        return call.args[0] if call.args and target_of(module, call.func) is None else None
    if dotted is None and isinstance(call.func, ast.Attribute) and call.func.attr == "compile":
        return call.func
    return None


def fullgraph_of(module: Module, call: ast.AST) -> str:
    """What is passed as `fullgraph` (`nopython` of old), as written; empty for False and for nothing."""
    if module.resolve(getattr(call, "func", call)) == "torch._dynamo.optimize_assert":
        return "True"
    for keyword in getattr(call, "keywords", []):
        if keyword.arg in ("fullgraph", "nopython"):
            is_false = isinstance(keyword.value, ast.Constant) and not keyword.value.value
            return "" if is_false else module.code(keyword.value)
    return ""


def entry_point(names: Definitions, module: Module, target: ast.AST) -> tuple[Module, ast.AST] | None:
    """The function where compiled code begins: the target itself, or `forward` of the module that it is."""
    if isinstance(target, (*FUNCTIONS, ast.Lambda)):
        return module, target
    if is_method(target):
        kind = names.instance(module, target.value)
        return None if names.member(kind, "compile") else only_function(names.member(kind, "forward"))
    found = only_function(names.denoted(module, target))
    return found or only_function(names.member(names.instance(module, target), "forward"))


@dataclass(frozen=True, slots=True)
class Step:
    """A line of a function on which it runs another one of the project, and whether compiled code goes on in there."""

    line: int
    callee: Place[Function]
    key: tuple[str, str]
    is_entered: bool


@dataclass(frozen=True)
class Reading:
    """The steps of each function that was met: several regions often reach the same ones."""

    names: Definitions
    met: dict[ast.AST, list[Step]] = field(default_factory=dict)

    def steps(self, module: Module, function: ast.AST) -> list[Step]:
        if function not in self.met:
            self.met[function] = list(self._read(module, function))
        return self.met[function]

    def _read(self, module: Module, function: ast.AST) -> Iterator[Step]:
        names = self.names
        for node in traced_nodes(module, function):
            callee = names.called(module, node) if isinstance(node, ast.Call) else names.read(module, node)
            if callee is not None:
                key = callee.module.path, callee.module.symbol(callee.node)
                yield Step(getattr(node, "lineno", 0), callee, key, not is_disabled(*callee))


def follow(
    reading: Reading,
    entry: tuple[Module, ast.AST],
    region: Region,
    calls: dict[tuple[str, str], list[ReachedCall]],
) -> None:
    """Note every call that the entry reaches, through the project's own functions; disabled ones are not entered."""
    todo, seen = [entry], {entry[1]}
    for module, function in todo:
        for step in reading.steps(module, function):
            calls.setdefault(step.key, []).append(ReachedCall(module.path, step.line, region))
            if step.is_entered and step.callee.node not in seen:
                seen.add(step.callee.node)
                todo.append(step.callee)


def traced_nodes(module: Module, function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function that run when it is compiled: not its decorators, nor what `is_compiling` shuts out."""
    body = getattr(function, "body", [])
    todo: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, ast.If) and (shut := shut_out(module, node)) is not None:
            todo += [node.test, *(node.orelse if shut is node.body else node.body)]
        else:
            todo += ast.iter_child_nodes(node)


def shut_out(module: Module, node: ast.If) -> list[ast.stmt] | None:
    """The branch that compiled code never takes."""
    test, branch = node.test, node.orelse
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, branch = test.operand, node.body
    asks = isinstance(test, ast.Call) and module.resolve(test.func) in IS_COMPILING
    return branch if asks else None
