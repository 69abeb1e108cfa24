"""Import once, at the top of the file, what a hot function imports at every call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from fullgraph.codemods.codemod import Codemod, Unsure
from fullgraph.codemods.model import Finding, SourceError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.placing import insert_before
from fullgraph.codemods.topics.inner_imports.checks import (
    IMPORTS,
    Import,
    check_names,
    check_place,
    check_replaced,
    check_same,
)
from fullgraph.codemods.topics.inner_imports.heat import STEP, loop_around, outer_loop, why_hot
from fullgraph.codemods.topics.inner_imports.moving import move, take_out
from fullgraph.codemods.topics.inner_imports.origins import OptionalError, doubt_about, modules_of, own_paths
from fullgraph.codemods.topics.inner_imports.screen import NEAR, PUBLIC, STANDARD, WORK, inner_imports


class MoveImportToTop(Codemod):
    """Move imports out of hot functions and loops to the top of the file, or of the function where it may be missing.

    Hot is what stands in a loop, a `forward` or a `..._step`; and tensor code that is called in a loop or from such a
    function, followed by names through the project (there only imports of the standard library and of torch). The
    import is sorted in among those of its kind, or joins the one of the same module; where the file has
    it already, the inner one goes. A block that does nothing else gets `pass`.

    Measured on Python 3.11 and torch 2.13: an inner import costs a call 0.07 us (`import math`) to 0.6 us (`from math
    import log`), 0.2 to 0.3 us for `torch.nn.functional`; three times that on a busy machine. It breaks no graph, and
    compiled code is not faster without it.

    The standard library, and what the file or `import torch` loads anyway, is safe. Unsafe, because it is loaded
    earlier than before: other modules of packages that the file imports at its top, packages that a file does which
    this one imports, and modules of the project that nothing has imported by then. Any other package may be missing:
    its import stays in the function, and goes to its top if it stands in a loop.

    Left alone:
    - imports in a `try`, a `with` or under a condition: optional, or for one platform
    - modules of the project that import this file in turn, or whose top level does more than define
    - packages that importing the file does not load so far, and `torch.distributed`: they may be missing
    - modules that are not there on every platform or in every Python
    - imports with a comment above them, or one that gives a reason (circular, lazy, optional ...)
    - names that mean something else at the top of the file, hide a builtin that is used there, or are bound twice;
      files with `import *`
    - names that are never used: imported for what the import does
    - names that a test replaces, in a module that it exchanges
    - names that are bound again as the program runs (`sys.stdout`, a counter), or that not every Python has
    - files that set `sys.path` or `os.environ` before they import
    - functions that look at their own names (`locals`), or that a decorator may run elsewhere (`ray.remote`)
    - statements that share their line with others
    """

    on_request: ClassVar[bool] = True
    claim: ClassVar[str] = "an import in a hot function is looked up again at every call."
    why: ClassVar[str] = (
        "An import inside a function is looked up again at every call: 0.07 to 0.6 us each (Python 3.11). "
        "torch.compile traces it without a break, so compiled code gains nothing."
    )

    def hits(self, raw: bytes) -> Iterator[int]:
        return inner_imports(raw)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        movable: list[tuple[Import, str, str]] = []
        for node in module.nodes(*IMPORTS):
            if not is_candidate(module, project, node) or not (why := why_hot(project, module, node)):
                continue
            try:
                movable.append((node, why, judge(module, project, node)))
            except OptionalError as optional:
                yield self.lift(module, node, tell(module, [node], why), str(optional))
            except (Unsure, SourceError) as unsure:
                yield module.finding(self.name, node, tell(module, [node], why), left_alone=str(unsure))
        for group in together(module, movable):
            yield self.write(module, group)

    def lift(self, module: Module, node: Import, message: str, reason: str) -> Finding:
        """An import that must stay in its function goes to the top of that, or before the loop."""
        loop, function = outer_loop(module, node), module.enclosing(node, *FUNCTIONS)
        if loop is None or function is None:
            return module.finding(self.name, node, message, left_alone=reason)
        try:
            place = function_top(module, function, loop)
            edits = (take_out(module, [node]), insert_before(module, place, [ast.unparse(node)]))
        except Unsure as unsure:
            return module.finding(self.name, node, message, left_alone=str(unsure))
        caveat = "it is imported even if the loop has no round"
        return module.finding(self.name, node, message, edits=edits, caveat=caveat)

    def write(self, module: Module, group: list[tuple[Import, str, str]]) -> Finding:
        nodes, why = [node for node, _, _ in group], group[0][1]
        message = tell(module, nodes, why)
        try:
            edits = move(module, nodes)
        except Unsure as unsure:
            return module.finding(self.name, nodes[0], message, left_alone=str(unsure))
        caveat = "; ".join(dict.fromkeys(doubt for _, _, doubt in group if doubt))
        return module.finding(self.name, nodes[0], message, edits=edits, caveat=caveat)


def function_top(module: Module, function: Function, loop: ast.stmt) -> ast.stmt:
    """The first statement of a function, if nothing can leave it before the loop; else the loop."""
    body = function.body[ast.get_docstring(function) is not None :]
    before = body[: body.index(loop)] if loop in body else [function]
    leaves = any(isinstance(node, (ast.Return, ast.Raise)) for one in before for node in ast.walk(one))
    return loop if leaves or loop not in body else body[0]


def is_candidate(module: Module, project: Project, node: Import) -> bool:
    """Whether it is worth asking if an import runs often: that can mean to read other files."""
    function: Function | None = module.enclosing(node, *FUNCTIONS)
    if function is not None and STEP.fullmatch(function.name):
        return True
    if function is not None and function.name.startswith("test"):
        return False
    if loop_around(module, node):
        return True
    if function is None or function is not module.parent(node):
        return False
    start = module.span(function).start
    end = min(module.span(function).end, module.span(node).end + NEAR)
    text = module.text[start:end].replace("\r", "\n").encode(errors="replace")
    return WORK.search(text) is not None and all(
        (dotted.partition(".")[0].encode() in STANDARD or PUBLIC.fullmatch(dotted.encode()))
        and not own_paths(module, project, dotted, names)
        for dotted, names in modules_of(module, node)
    )


def judge(module: Module, project: Project, node: Import) -> str:
    """What the move may change; Unsure where the import must stay."""
    check_place(module, node)
    check_names(module, node)
    check_replaced(module, project, node)
    check_same(module, project, node)
    return doubt_about(module, project, node)


def together(module: Module, movable: list[tuple[Import, str, str]]) -> Iterator[list[tuple[Import, str, str]]]:
    """The imports in groups that follow each other line by line."""
    group: list[tuple[Import, str, str]] = []
    for item in movable:
        if group and not follows(module, group[-1][0], item[0]):
            yield group
            group = []
        group.append(item)
    if group:
        yield group


def follows(module: Module, first: Import, second: Import) -> bool:
    return module.parent(first) is module.parent(second) and second.lineno == (first.end_lineno or 0) + 1


def tell(module: Module, nodes: list[Import], why: str) -> str:
    texts = " and ".join(f"`{ast.unparse(node)}`" for node in nodes)
    return f"{texts} {'stand' if nodes[1:] else 'stands'} in hot code: {why}"
