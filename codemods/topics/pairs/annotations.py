"""What a type annotation says, however it is spelled: `Dict`, `dict`, in quotes, through an alias."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.pairs.shapes import Many, Pair, Shape, Table, Whole

DICTS = {
    "dict",
    "typing.Dict",
    "typing.DefaultDict",
    "typing.OrderedDict",
    "typing.Mapping",
    "typing.MutableMapping",
    "collections.defaultdict",
    "collections.OrderedDict",
    "collections.abc.Mapping",
    "collections.abc.MutableMapping",
}
TUPLES = {"tuple", "typing.Tuple"}
ABSTRACT = ("Sequence", "MutableSequence", "Iterable", "Iterator", "Collection", "Set", "MutableSet")
COLLECTIONS = {
    *("list", "set", "frozenset", "typing.List", "typing.FrozenSet"),
    *(f"{home}.{name}" for home in ("typing", "collections.abc") for name in ABSTRACT),
}
QUALIFIERS = {"typing.ClassVar", "typing.Final", "typing_extensions.Final"}


def meaning(module: Module, node: ast.AST) -> str | None:
    """The full name of a type or function: by its import, or as it stands for a builtin that nothing rebinds."""
    if isinstance(node, ast.Name) and not module.scopes.bindings(node):
        return node.id
    return module.resolve(node)


def unquoted(node: ast.expr) -> ast.expr | None:
    """The expression that an annotation in quotes stands for; itself when there are no quotes."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return node
    try:
        return ast.parse(node.value, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def arguments(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def shape_said(module: Module, node: ast.expr | None, project: Project, depth: int = 0) -> Shape | None:
    """The shape that an annotation promises; of a sign it says nothing."""
    node = unquoted(node) if node else None
    if node is None or depth > 8:
        return None
    if isinstance(node, ast.Subscript):
        return generic_said(module, node, project, depth)
    if meaning(module, node) == "int":
        return Whole()
    aliased = alias_of(module, node, project)
    return shape_said(aliased[0], aliased[1], project, depth + 1) if aliased else None


def generic_said(module: Module, node: ast.Subscript, project: Project, depth: int) -> Shape | None:
    origin = meaning(module, node.value)
    parts = arguments(node)

    def said(part: ast.expr) -> Shape | None:
        return shape_said(module, part, project, depth + 1)

    if origin in TUPLES and len(parts) == 2:
        variadic = isinstance(parts[1], ast.Constant) and parts[1].value is ...
        return Many(said(parts[0])) if variadic else Pair(said(parts[0]), said(parts[1]))
    if origin in COLLECTIONS and len(parts) == 1:
        return Many(said(parts[0]))
    if origin in DICTS and len(parts) == 2:
        return Table(said(parts[0]))
    if origin in QUALIFIERS and len(parts) == 1:
        return said(parts[0])
    return None


def alias_of(module: Module, node: ast.AST, project: Project) -> tuple[Module, ast.expr] | None:
    """What a type alias such as `Pair = tuple[int, int]` stands for, with the module that says so."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        found = global_value(module, node, project)
        if found and isinstance(found[2], (ast.Subscript, ast.Name, ast.Attribute)):
            return found[0], found[2]
    return None


def global_value(
    module: Module, node: ast.AST, project: Project, depth: int = 0
) -> tuple[Module, str, ast.expr] | None:
    """The module, name and value behind a global that is assigned exactly once in the project, imports followed."""
    from fullgraph.codemods.model import SourceError

    if isinstance(node, ast.Name):
        bindings = module.scopes.bound.get(module.tree, {}).get(node.id, [])
        if len(bindings) == 1 and bindings[0].how == "assign" and not bindings[0].path and bindings[0].value:
            at_top = module.parent(module.statement(bindings[0].node)) is module.tree
            return (module, node.id, bindings[0].value) if at_top else None
    dotted = module.resolve(node)
    home, _, name = (dotted or "").rpartition(".")
    path = project.path_of(home) if home else None
    if path is None or depth > 4:
        return None
    try:
        return global_value(project.module(path), ast.Name(name), project, depth + 1)
    except SourceError:
        return None


def pair_table(module: Module, node: ast.expr | None, project: Project) -> tuple[ast.Subscript, bool] | None:
    """The `dict[tuple[int, int], V]` in an annotation, and whether it is the annotation itself (or its ClassVar)."""
    node = unquoted(node) if node else None
    if node is None:
        return None
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and meaning(module, part.value) in DICTS:
            said = shape_said(module, part, project)
            if said == Table(Pair(Whole(), Whole())):
                bare = node
                while isinstance(bare, ast.Subscript) and meaning(module, bare.value) in QUALIFIERS:
                    bare = bare.slice
                return part, bare is part
    return None


def is_none_by_default(module: Module, node: ast.AST) -> bool:
    """Whether this is an argument such as `pair: tuple[int, int] = None`, whose annotation says too much."""
    signature = module.parent(node) if isinstance(node, ast.arg) else None
    if not isinstance(signature, ast.arguments):
        return False
    placed = [*signature.posonlyargs, *signature.args]
    with_default = [*placed[len(placed) - len(signature.defaults) :], *signature.kwonlyargs]
    for argument, default in zip(with_default, [*signature.defaults, *signature.kw_defaults], strict=True):
        if argument is node:
            return isinstance(default, ast.Constant) and default.value is None
    return False
