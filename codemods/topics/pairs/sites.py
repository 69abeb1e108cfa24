"""Where one dict is mentioned: a local variable, a global of the project, or an attribute of its class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.pairs.annotations import meaning
from fullgraph.codemods.topics.pairs.exposures import exposures, may_construct
from fullgraph.codemods.topics.pairs.owners import Family, canonical
from fullgraph.codemods.topics.pairs.uses import Use, classify, contents, define, escape, placed, with_aliases


def local_uses(module: Module, scope: ast.AST, name: str) -> list[Use]:
    """All uses of a local variable, in nested functions too."""
    names = module.scopes.names(scope, name)
    uses = [classify(module, node) for node in names]
    for binding in module.scopes.bound[scope][name]:
        if binding.how != "assign" and not isinstance(binding.node, ast.Name):
            uses.append(escape(module, names[0], "it is an argument or a definition too"))
    for call in (node for node in ast.walk(scope) if isinstance(node, ast.Call)):
        if meaning(module, call.func) in ("locals", "eval", "exec"):
            uses.append(escape(module, call, "all local names are handed on"))
    return list(with_aliases(uses))


def global_uses(project: Project, module: Module, name: str) -> list[Use]:
    """All uses of a module's global, in every file that imports it."""
    dotted = f"{module.name}.{name}"
    uses = [classify(module, node) for node in module.scopes.names(module.tree, name)]
    for other in project.modules_mentioning(name):
        uses += named_in_strings(other, name)
        if other is not module:
            uses += [classify(other, node) for node in imported_mentions(project, other, name, dotted)]
            uses += unclear_imports(project, other, name, module)
    for binding in module.scopes.bound[module.tree][name]:
        if binding.how != "assign" and not isinstance(binding.node, ast.Name):
            uses.append(escape(module, module.scopes.names(module.tree, name)[0], "it is defined otherwise too"))
    return list(with_aliases(uses))


def imported_mentions(project: Project, module: Module, name: str, dotted: str) -> Iterator[ast.expr]:
    for node in module.nodes(ast.Name, ast.Attribute):
        if canonical(project, module.resolve(node) or "") == dotted:
            yield node


def unclear_imports(project: Project, module: Module, name: str, home: Module) -> Iterator[Use]:
    """Imports of the global whose further way cannot be followed."""
    dotted = f"{home.name}.{name}"
    for node in module.nodes(ast.ImportFrom):
        for alias in node.names:
            origin = canonical(project, f"{module.imports.origin(node)}.{alias.name}")
            bound = ast.Name(alias.asname or alias.name)
            same_end = module.imports.origin(node).split(".")[-1] == home.name.split(".")[-1]
            if alias.name == name and same_end and project.path_of(module.imports.origin(node)) is None:
                yield escape(module, placed(bound, node), "this may be it, under another module name")
            elif alias.name == "*" and canonical(project, f"{module.imports.origin(node)}.{name}") == dotted:
                yield escape(module, placed(bound, node), "it may come in by a star import")
            elif origin == dotted and not module.resolve(bound):
                yield escape(module, placed(bound, node), "its name means something else there too")
    for attribute in module.nodes(ast.Attribute):
        owner = (module.resolve(attribute) or "").rpartition(".")[0]
        same_end = owner.split(".")[-1] == home.name.split(".")[-1] and project.path_of(owner) is None
        if attribute.attr == name and (not owner or same_end):
            yield escape(module, attribute, "this may be it, reached in a way that cannot be followed")


def attribute_uses(project: Project, family: Family, name: str) -> list[Use]:
    """All uses of an attribute of a class, by its name, in every file of the project."""
    uses: list[Use] = []
    for module in project.modules_mentioning(name):
        uses += named_in_strings(module, name)
        for node in module.nodes(ast.ClassDef):
            uses += class_level(module, node, family, name)
        for attribute in module.nodes(ast.Attribute):
            if attribute.attr == name and not is_of_a_module(project, module, attribute, family):
                uses.append(classify(module, attribute))
                uses += owned_by_others(module, attribute, family)
        uses += handed_in(module, family, name)
    return [*with_aliases(uses), *exposures(project, family, name)]


def class_level(module: Module, node: ast.ClassDef, family: Family, name: str) -> Iterator[Use]:
    """What a class body says of the attribute. Another class with the same attribute makes every use unclear."""
    for binding in module.scopes.bound.get(node, {}).get(name, []):
        where = binding.node if isinstance(binding.node, ast.expr) else placed(ast.Name(name), binding.node)
        if node not in family:
            yield escape(module, where, f"class {node.name} has an attribute of the same name")
        elif binding.how == "assign" and not binding.path:
            yield define(module, where, binding.value, binding.annotation)
        else:
            yield escape(module, where, "it is defined in a way that cannot be followed")
    for mention in module.scopes.names(node, name):
        if isinstance(mention.ctx, ast.Load):
            yield escape(module, mention, "it is used in the class body")


def is_of_a_module(project: Project, module: Module, node: ast.Attribute, family: Family) -> bool:
    """Whether `x.name` reads a module's global rather than an attribute of the class."""
    return module.resolve(node) is not None and family.project_class(module, node.value) is None


def owned_by_others(module: Module, node: ast.Attribute, family: Family) -> Iterator[Use]:
    owner = module.enclosing(node, ast.ClassDef)
    is_self = isinstance(node.value, ast.Name) and node.value.id == "self"
    if family.is_foreign(module, node.value):
        yield escape(module, node, f"`{module.code(node.value)}` is of another kind and has such an attribute too")
    if isinstance(node.ctx, ast.Store) and is_self and owner and owner not in family:
        yield escape(module, node, f"class {owner.name} has an attribute of the same name")


def named_in_strings(module: Module, name: str) -> Iterator[Use]:
    """Strings by which the dict could be reached: `getattr(x, "name")`, `patch("pkg.Class.name")`, `__all__`."""
    for node in module.nodes(ast.Constant):
        if isinstance(node.value, str) and name in node.value and name in node.value.split("."):
            statement = module.enclosing(node, ast.Assign)
            if not (statement and module.code(statement).startswith("__slots__")):
                yield escape(module, node, "its name stands in a string")


def handed_in(module: Module, family: Family, name: str) -> Iterator[Use]:
    """A new dict given to the constructor by keyword is a definition; anything else is an escape."""
    for call in module.nodes(ast.Call):
        for word in call.keywords:
            if word.arg == name and family.is_dataclass and may_construct(module, call, family):
                built = contents(module, word.value)
                keys, values = built or ([], [])
                use = Use(module, word.value, "define", tuple(keys), tuple(values), writes=bool(keys))
                yield use if built else escape(module, word.value, "it comes from elsewhere")
    for pattern in module.nodes(ast.MatchClass):
        if name in pattern.kwd_attrs:
            yield escape(module, placed(ast.Name(name), pattern), "a pattern takes it")
