"""Ask a query once where a loop asks it again and again."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
from fullgraph.codemods.model import Edit, Finding
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import names_within
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.places import CONSTRUCTORS
from fullgraph.codemods.syntax.placing import insert_before
from fullgraph.codemods.topics.queries.asking import Queries
from fullgraph.codemods.topics.queries.naming import name_answer
from fullgraph.codemods.topics.queries.order import run_between
from fullgraph.codemods.topics.queries.passes import Pass, changes_in_loops, is_counted, pass_of
from fullgraph.codemods.topics.queries.repeats import Repeat, Repeats
from fullgraph.codemods.topics.queries.screen import places_asking_twice


@dataclass(frozen=True)
class CacheLoopQueriesOptions(Options):
    pure: str = option("", "functions and methods, separated by commas, that only read: has_active,is_occupied")


class CacheLoopQueries(Codemod):
    """Ask a query once where loops ask it again.

    A query is a function or method of the project whose name asks (`is_...`, `has_...`, `can_...`, `should_...`), or
    that the option `pure` names, and that only reads: its body is followed through the project, and so is what
    subclasses have in its place.

    What one pass over a collection asks twice about its item is asked once: the first answer gets a variable, unless
    one holds it already. What several passes over the same collection ask is asked before the first:
    `occupied = [host.is_occupied(slot) for slot in range(n)]`, or as a dict by item; unsafe where it cannot be seen
    that the collection can be read once more and its items can be keys.

    Only if nothing that may run in between can change the answer: names bound anew, attributes set, items stored,
    tensors changed in place, all of it through the functions that are called. Behind such a change the query is asked
    again, and the finding names the line. It is never asked where it was not asked before.

    Measured on torch 2.13, for a query that reads a tensor (`bool(self.active[slot])`): half the host reads, 20 > 10 in
    one pass and 24 > 12 over two. A compiled function keeps its 3 graph breaks in one pass; over two, where the query
    itself breaks the graph, the new comprehension is one more place to break, 2 > 3. On a CPU the time is the same.

    Left alone:
    - what a method, an assignment or an in-place operation changes before it is asked again
    - code in between that cannot be followed, and an `await` or `yield`, where other code runs
    - an item that is bound again, and a collection that changes or can be read only once
    - a function that does more than reading, also in a subclass, and one that cannot be seen, unless declared
    - something declared whose object is written to in between
    - a question that may be skipped, and a first pass that does not ask about each item, may end early or is in a `try`
    - an answer that is handed on and could be changed: each use must get its own
    - queries in lambdas, functions and generators, which ask later
    - constructors, unless the codemod is named (`--select`, a ticket): they run once
    - the same question for all items, loops at import time, scripted functions, files without torch: not even reported
    """

    needles: ClassVar[tuple[bytes, ...]] = (b"torch",)
    claim: ClassVar[str] = "loops over slots ask the same question again and again; the answers can be cached."
    why: ClassVar[str] = (
        "A query that reads a tensor waits for the device each time it is asked. Asked once, it does so half as often "
        "(host reads 20 > 10); a query that only looks into a dict saves its call."
    )

    options: CacheLoopQueriesOptions

    @property
    def pure(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.options.pure.split(",") if name.strip())

    def hits(self, raw: bytes) -> Iterator[int]:
        return places_asking_twice(raw, self.pure)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        queries = Queries(project, self.pure)
        for function in filter(self.asks_twice(module), module.nodes(*FUNCTIONS)):
            if function.name in CONSTRUCTORS and not self.is_asked:
                continue
            repeats = list(Repeats(module, queries, function).found())
            taken = names_within(function) if repeats else set()
            if can_hold_more(module, function, taken):
                yield from (self.report(module, repeat, taken) for repeat in repeats)

    def asks_twice(self, module: Module) -> Callable[[Function], bool]:
        """Whether a function may ask something twice, as far as its text tells."""
        hits = sorted(self.hits(module.text.encode(errors="surrogatepass")))

        def has_hit(function: Function) -> bool:
            span = module.span(function)
            return bisect_left(hits, span.start) < bisect_left(hits, span.end)

        return has_hit if module.text.isascii() else lambda function: True

    def report(self, module: Module, repeat: Repeat, taken: set[str]) -> Finding:
        message = describe(module, repeat)
        if repeat.reason:
            return module.finding(self.name, repeat.first, message, left_alone=repeat.reason)
        try:
            edits = ask_before(module, repeat, taken) if repeat.over else ask_first(module, repeat, taken)
        except Unsure as unsure:
            return module.finding(self.name, repeat.first, message, left_alone=str(unsure))
        notes = tuple(f"asked again behind {reason}" for reason in dict.fromkeys(repeat.again))
        return module.finding(self.name, repeat.first, message, edits=edits, caveat=repeat.caveat, notes=notes)


def can_hold_more(module: Module, function: Function, names: set[str]) -> bool:
    """Whether a function may get another variable: not if it looks at its own, or is compiled by its text."""
    decorators = (item.func if isinstance(item, ast.Call) else item for item in function.decorator_list)
    dotted = {module.resolve(decorator) or "" for decorator in decorators}
    is_read = any(name.startswith(("torch.jit.", "triton.", "numba.")) for name in dotted)
    return not is_read and not names & {"locals", "vars", "eval", "exec", "dir"}


def describe(module: Module, repeat: Repeat) -> str:
    """What is asked, how often, and where again."""
    code = spelled(module, repeat.first)
    lines = ", ".join(dict.fromkeys(str(use.lineno) for use in repeat.uses if use is not repeat.first))
    if repeat.over:
        return f"`{code}` is asked in each pass over `{spelled(module, repeat.over.iterable)}`, again in line {lines}"
    loop = changes_in_loops(module, repeat.first)
    over = f" over `{spelled(module, loop.iter)}`" if loop else ""
    return f"`{code}` is asked {len(repeat.uses)} times in one pass{over}, again in line {lines}"


def spelled(module: Module, node: ast.AST) -> str:
    """The code of an expression on one line."""
    code = module.code(node)
    if "\n" not in code and "\r" not in code:
        return code
    joined = re.sub(r"(?<=[(\[])\s+|\s+(?=[)\].])", "", code)
    return re.sub(r",(?=[)\]])", "", re.sub(r"\s+", " ", joined))


def check_text(module: Module, *nodes: ast.AST) -> None:
    """Unsure if a piece of code over several lines cannot be put on one."""
    for node in nodes:
        code = module.code(node)
        if "\n" in code.replace("\r", "\n") and re.search(r"[#\"'\\]", code):
            raise Unsure(f"{module.path}:{node.lineno}: a comment or a string stands in it")  # type: ignore[attr-defined]


def ask_first(module: Module, repeat: Repeat, taken: set[str]) -> tuple[Edit, ...]:
    """The first answer in a variable, and the variable wherever it is asked again."""
    check_text(module, *repeat.uses)
    first, *later = repeat.uses
    if name := held_by(module, repeat):
        return tuple(module.replace(use, name) for use in later)
    name = name_answer(first, taken)
    taken.add(name)
    line = insert_above(module, module.statement(first), f"{name} = {spelled(module, first)}")
    return (line, *(module.replace(use, name) for use in repeat.uses))


def insert_above(module: Module, statement: ast.stmt, line: str) -> Edit:
    """A new line before a statement and the comments that belong to it."""
    indent, start = module.indent(statement), module.line_start(module.span(statement).start)
    top = start
    while top and module.text[(above := module.line_start(top - 1)) : top].startswith(f"{indent}#"):
        top = above
    if top == start or not module.begins_line(statement):
        return insert_before(module, statement, [line])
    return module.insert(top + len(indent), f"{line}\n{indent}")


def held_by(module: Module, repeat: Repeat) -> str:
    """The variable that holds the first answer already, up to its last use."""
    parent = module.parent(repeat.first)
    targets = parent.targets if isinstance(parent, ast.Assign) else [getattr(parent, "target", None)]
    is_bound = isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and parent.value is repeat.first
    target = targets[0]
    if not is_bound or len(targets) != 1 or not isinstance(target, ast.Name):
        return ""
    if not isinstance(module.scopes.of(target), Function) or is_set_elsewhere(module, target):
        return ""
    block = module.block(module.statement(repeat.first))
    for use in repeat.uses[1:]:
        for part in run_between(module, block, repeat.first, use):
            if any(is_rebound(node, target) for node in ast.walk(part)):
                return ""
    return target.id


def is_set_elsewhere(module: Module, target: ast.Name) -> bool:
    """Whether functions inside or around may bind the variable: what calls them does not show it."""
    return any(target.id in node.names for node in module.nodes(ast.Nonlocal))


def is_rebound(node: ast.AST, target: ast.Name) -> bool:
    is_name = isinstance(node, ast.Name) and node.id == target.id and not isinstance(node.ctx, ast.Load)
    other = getattr(node, "name", None) == target.id or getattr(node, "rest", None) == target.id
    return node is not target and (is_name or other)


def ask_before(module: Module, repeat: Repeat, taken: set[str]) -> tuple[Edit, ...]:
    """All answers before the first pass, and a look-up wherever one is asked for."""
    one = repeat.over
    assert one is not None
    check_text(module, one.iterable, *repeat.uses)
    name = name_answer(repeat.first, taken)
    taken.add(name)
    line = f"{name} = {answers(module, one, repeat.first)}"
    edits = [insert_above(module, one.statement, line)]
    for use in repeat.uses:
        own = pass_of(module, use)
        assert own is not None
        edits.append(module.replace(use, f"{name}[{own.target.id}]"))
    return tuple(edits)


def answers(module: Module, one: Pass, call: ast.Call) -> str:
    asked, over = spelled(module, call), spelled(module, one.iterable)
    if is_counted(module, one.iterable):
        return f"[{asked} for {one.target.id} in {over}]"
    return f"{{{one.target.id}: {asked} for {one.target.id} in {over}}}"
