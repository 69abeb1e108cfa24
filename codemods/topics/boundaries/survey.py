"""All compiled callables of a project, and which of their calls give something that outlives its step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project, is_test
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.compiled import modules_that_compile
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.places import Place
from fullgraph.codemods.topics.boundaries.keeping import Watch
from fullgraph.codemods.topics.boundaries.outputs import is_without_grad
from fullgraph.codemods.topics.boundaries.requests import (
    IMPLICIT,
    Compiled,
    compiled_callables,
    is_switched_on,
    unnamed_requests,
)
from fullgraph.codemods.topics.boundaries.screen import GIVEN, may_use_graphs
from fullgraph.codemods.topics.boundaries.steps import trains
from fullgraph.codemods.topics.boundaries.stores import Keeping
from fullgraph.codemods.topics.boundaries.uses import set_traced_apart, uses_of
from fullgraph.codemods.topics.boundaries.values import Outputs, Site

LEVELS = 3
MOST_FILES = 40
"""A name that more files mention than this is not followed to its callers."""

Walked = tuple[Module, ast.AST]


@dataclass
class Survey:
    """The answer for one project."""

    callables: list[Compiled]
    unnamed: list[str]
    """Where something is compiled whose calls nobody can find."""
    watch: Watch
    by_callable: dict[Compiled, list[Keeping]] = field(default_factory=dict)

    def outlives(self, site: ast.Call) -> bool:
        """Whether the output of a call is kept beyond its step, or goes where nobody sees."""
        is_kept = any(call is site for call, _ in self.watch.keepings)
        return is_kept or site in self.watch.unsure or site not in self.watch.walked

    def may_wait(self, project: Project, compiled: Compiled) -> bool:
        """Whether a call of it may leave a backward pass to be awaited, as far as the calls are seen."""
        uses = uses_of(project, compiled)
        calls = [self.watch.sites[call.node] for call in uses.calls]
        return bool(uses.doubts) or any(site.has_backward for site in calls) or compiled in self.by_callable


def survey(project: Project, everything: bool, always: bool) -> Survey:
    """What outlives its step; worked out once for each project. `everything`: without CUDA graphs too.

    `always`: what is traced in other compiled code is set apart even if nothing is kept.
    """
    return project.worked_out((Survey, everything, always), lambda: explore(project, everything, always))


def explore(project: Project, everything: bool, always: bool) -> Survey:
    modules = list(modules_that_compile(project) if everything else modules_with_graphs(project))
    callables = [one for module in modules for one in compiled_callables(module, project)]
    found = [one for one in callables if everything or one.has_graphs]
    unnamed = [line for module in modules for line in unnamed_requests(module, project)]
    watch = watch_all(project, found)
    if watch.keepings or always:
        for compiled in found:
            set_traced_apart(project, uses_of(project, compiled))
        watch = watch_all(project, found)
    answer = Survey(found, unnamed, watch)
    for keeping in watch.keepings.values():
        answer.by_callable.setdefault(keeping.site.compiled, []).append(keeping)
    return answer


def modules_with_graphs(project: Project) -> Iterator[Module]:
    """The files that may ask for CUDA graphs. One that switches them on for all makes every request count."""
    if is_switched_on(project):
        yield from modules_that_compile(project)
        return
    for path in dict.fromkeys(path for path, _ in project.matches(GIVEN)):
        try:
            if may_use_graphs(project.read(path)):
                yield project.module(path)
        except SourceError:
            continue


def watch_all(project: Project, callables: list[Compiled]) -> Watch:
    watch = Watch(Definitions(project), {site.call: site for one in callables for site in sites(project, one)})
    follow(project, watch)
    return watch


def sites(project: Project, compiled: Compiled) -> Iterator[Site]:
    """The direct calls, each with whether a backward pass may follow."""
    for module, call in uses_of(project, compiled).calls:
        yield Site(compiled, module, call, trains(project) and not is_without_grad(module, call))


def follow(project: Project, watch: Watch) -> None:
    """Walk every function that calls, and those who are handed the outputs, a few levels up."""
    todo: list[Walked] = [walked for site in watch.sites.values() if (walked := around(site.module, site.call))]
    seen: set[ast.AST] = set()
    for _ in range(LEVELS):
        callers: list[Walked] = []
        for module, function in todo:
            if function not in seen and not is_test(module.path):
                seen.add(function)
                passed = watch.passing(module, function, {}, 0)
                if passed.returned:
                    callers += hand_on(project, watch, module, function, passed.returned)
        todo = callers
    for module, function in todo:
        watch.doubt(watch.passing(module, function, {}, 0).returned, f"{module.path}:{getattr(function, 'lineno', 1)}")


def around(module: Module, node: ast.AST) -> Walked | None:
    """The function, or module, whose statements run a node; None for lambdas and class bodies."""
    scope = module.enclosing(node, *FUNCTIONS, ast.Lambda, ast.ClassDef, ast.Module)
    return (module, scope) if isinstance(scope, (*FUNCTIONS, ast.Module)) else None


def hand_on(project: Project, watch: Watch, module: Module, function: ast.AST, returned: Outputs) -> Iterator[Walked]:
    """The functions that call one; where none is seen, or one may be, the outputs go where nobody sees."""
    is_seen = False
    watch.giving.setdefault(getattr(function, "name", ""), []).append(Place(module, function))
    for home, call in calls_named(project, module, function):
        callee = watch.names.called(home, call) if isinstance(call, ast.Call) else watch.names.read(home, call)
        is_it = callee is not None and any(one.node is function for one in (callee, *watch.overriding(callee)))
        if is_it:
            is_seen = True
            if walked := around(home, call):
                yield walked
            else:
                watch.doubt(returned, f"{home.path}:{call.lineno}")
        elif callee is None and is_of_unknown(home, call, getattr(function, "name", "")):
            watch.doubt(returned, f"{home.path}:{call.lineno}")
    if not is_seen:
        watch.doubt(returned, f"{module.path}:{getattr(function, 'lineno', 1)}")


def is_of_unknown(module: Module, node: ast.Call | ast.Attribute, name: str) -> bool:
    """Whether a call by this name may be of a function, for all that is known of the object."""
    return isinstance(node, ast.Call) and last_name(node) == name and not module.resolve(node.func)


def calls_named(
    project: Project, module: Module, function: ast.AST
) -> Iterator[tuple[Module, ast.Call | ast.Attribute]]:
    """The calls that may be of a function, by its name, and reads of a getter; what calls an object has any name."""
    name = getattr(function, "name", "")
    owner = module.parent(function)
    is_implicit = name in IMPLICIT and isinstance(owner, ast.ClassDef)
    paths = project.mentions(owner.name if is_implicit and isinstance(owner, ast.ClassDef) else name)
    for path in paths if len(paths) <= MOST_FILES else ():
        try:
            home = project.module(path)
        except SourceError:
            continue
        if not is_test(path):
            yield from ((home, call) for call in home.nodes(ast.Call) if is_implicit or last_name(call) == name)
            if is_getter(function):
                yield from ((home, node) for node in home.nodes(ast.Attribute) if node.attr == name)


def is_getter(function: ast.AST) -> bool:
    return any(ast.unparse(item).endswith("property") for item in getattr(function, "decorator_list", []))
