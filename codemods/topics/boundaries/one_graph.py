"""The check that what a boundary runs compiles in one graph, on inputs that are made up."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import Place, only_class, only_function
from fullgraph.codemods.topics.boundaries.forms import TENSOR
from fullgraph.codemods.topics.boundaries.requests import Compiled
from fullgraph.codemods.topics.boundaries.signature import kind_of, wrapped
from fullgraph.codemods.topics.regression_tests.file import Check, identifier
from fullgraph.codemods.topics.regression_tests.graphs import compiles_in_one_graph

SIZE = "SIZE = 4"
MADE_UP = {"int": "SIZE", "float": "0.5", "bool": "True"}
DEEP = 3

Made = tuple[str, tuple[str, ...]]
"""An expression, and the imports that it needs."""
Wanted = tuple[str, ast.expr | None]
"""A parameter and its annotation."""

PLAIN = '''
def plain(compiled: Any) -> Any:
    """Return what runs when nothing is compiled."""
    inner = getattr(compiled, "_orig_mod", compiled)
    inner = getattr(inner, "_torchdynamo_orig_callable", inner)
    return inner.forward if isinstance(inner, torch.nn.Module) else inner
'''

MAKE_UP = '''
def make_up(
    make: Callable[[], Any], call: Callable[[Any, torch.Tensor], Any]
) -> tuple[Any, torch.Tensor]:
    """Make the callable, and find an input that it takes.

    Everything that has a size has the same. Where nothing fits, the test is skipped,
    until it is given an input that does.
    """
    shapes = [(2, SIZE), (2, SIZE, SIZE), (2, SIZE, SIZE, SIZE), (SIZE,)]
    refused = "nothing was tried"
    for shape in shapes:
        for kind in (torch.float32, torch.int64):
            x = torch.ones(shape, dtype=kind)
            try:
                run = make()
                call(run, x)
            except Exception as error:
                refused = f"{type(error).__name__}: {error}"
            else:
                return run, x
    pytest.skip(f"no input that is made up fits; put one here that does ({refused})")
'''

EXAMPLE = '''
def make_{name}() -> Any:
    """Make what runs as `{told}`."""
    return {make}


def call_{name}(run: Any, x: torch.Tensor) -> Any:
    """Call it with what is made up."""
    return run({given})
'''


def one_graph(project: Project, compiled: Compiled) -> list[Check]:
    """The check, where the callable can be reached or made, and its arguments made up; else none."""
    function = wrapped(project, compiled)
    given = arguments_for(function) if function else None
    made = make_callable(project, compiled) if given is not None else None
    if made is None:
        return []
    make, imports = made
    name = identifier(compiled.name)
    check = compiles_in_one_graph(name, [f"run, x = make_up(make_{name}, call_{name})"], "run", given or "", imports)
    example = EXAMPLE.format(name=name, told=compiled.name, make=make, given=given)
    needed = ("from collections.abc import Callable", "from typing import Any")
    return [Check(check.body, (*check.imports, *needed), (SIZE, *check.shared, PLAIN, MAKE_UP, example))]


def make_callable(project: Project, compiled: Compiled) -> Made | None:
    """What is compiled: a global by its name, a method of an instance, a module by its class."""
    module = compiled.module
    if compiled.kind == "global":
        package, _, last = module.name.rpartition(".")
        return f"plain({last}.{compiled.name})", (f"from {package} import {last}" if package else f"import {last}",)
    kind = only_class(Place(module, compiled.owner) if compiled.kind == "method" else kind_of(project, compiled))
    drafted = draft(project, kind) if kind else None
    if kind is None or drafted is None:
        return None
    text, imports = drafted
    is_method = compiled.kind == "method"
    return f"plain({kind.node.name}.{compiled.name}).__get__({text})" if is_method else f"plain({text})", imports


def draft(project: Project, kind: Place[ast.ClassDef], depth: int = 0) -> Made | None:
    """A call that makes an instance, with every size alike; None if it needs more than numbers and records of them."""
    module, node = kind
    if depth > DEEP or node not in module.tree.body or not module.name:
        return None
    home, wanted = constructor_of(project, kind)
    made = [value_for(project, home, annotation, depth) for _, annotation in wanted]
    if None in made:
        return None
    known = [value for value in made if value]
    text = ", ".join(f"{name}={value[0]}" for (name, _), value in zip(wanted, known, strict=True))
    imports = [line for _, lines in known for line in lines]
    return f"{node.name}({text})", (f"from {module.name} import {node.name}", *imports)


def constructor_of(project: Project, kind: Place[ast.ClassDef]) -> tuple[Module, list[Wanted]]:
    """The parameters without a default, and the module whose words their annotations are."""
    method = only_function(Definitions(project).member(kind, "__init__"))
    if method is not None:
        return method.module, parameters_of(method.node)[1:]
    fields = [item for item in kind.node.body if isinstance(item, ast.AnnAssign) and item.value is None]
    is_record = any("dataclass" in ast.unparse(item) for item in kind.node.decorator_list)
    return kind.module, [(ast.unparse(item.target), item.annotation) for item in fields] if is_record else []


def value_for(project: Project, module: Module, annotation: ast.expr | None, depth: int) -> Made | None:
    """A number, or a record of numbers. What has no annotation is taken for a size."""
    name = ast.unparse(annotation) if annotation is not None else "int"
    if name in MADE_UP:
        return MADE_UP[name], ()
    kind = only_class(Definitions(project).denoted(module, annotation)) if annotation is not None else None
    return draft(project, kind, depth + 1) if kind else None


def arguments_for(function: Place[Function]) -> str | None:
    """The arguments of a call: `x` for every tensor; None if a parameter is neither that nor a number."""
    module, node = function
    is_method = isinstance(module.parent(node), ast.ClassDef)
    given = []
    by_name = {item.arg for item in node.args.kwonlyargs}
    for name, annotation in parameters_of(node)[is_method:]:
        text = MADE_UP.get(ast.unparse(annotation)) if annotation is not None else "x"
        if text is None and not is_tensor(module, annotation):
            return None
        given.append(f"{name}={text or 'x'}" if name in by_name else text or "x")
    return ", ".join(given)


def is_tensor(module: Module, annotation: ast.expr | None) -> bool:
    """Whether an annotation is, or allows, a tensor."""
    sides = [annotation]
    while isinstance(sides[-1], ast.BinOp):
        last = sides.pop()
        sides += [last.right, last.left]  # type: ignore[union-attr]
    return any(side is not None and module.resolve(side) in TENSOR for side in sides)


def parameters_of(function: Function) -> list[Wanted]:
    """The parameters without a default, each with its annotation."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    plain = plain[: len(plain) - len(given.defaults)]
    named = [item for item, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is None]
    return [(item.arg, item.annotation) for item in (*plain, *named)]
