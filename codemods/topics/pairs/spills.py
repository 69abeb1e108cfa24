"""Ways for a whole object to be taken apart, written out or shown, and with it the dict that it holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.pairs.annotations import meaning
from fullgraph.codemods.topics.pairs.owners import Family
from fullgraph.codemods.topics.pairs.uses import Use, escape, placed

SPILLS = {
    "dataclasses.asdict",
    "dataclasses.astuple",
    "inspect.getmembers",
    "vars",
    "pickle.dump",
    "pickle.dumps",
    "torch.save",
    "eval",
    "exec",
}
BY_NAME = {"getattr", "setattr", "delattr"}
SHOWS = {"print", "repr", "str", "format"}


def spilled(project: Project, family: Family, name: str) -> Iterator[Use]:
    """Every place that takes apart an instance, or an object of the project that holds one."""
    is_shown = family.is_dataclass and not any(hides(*member, name) for member in family.members)
    for kin in (family, *holders(project, family)):
        modules = {module.path: module for name in kin.names for module in project.modules_mentioning(name)}
        for module in modules.values():
            yield from taken_apart(module, kin)
            yield from taken_by_name(module, kin)
            if kin.is_dataclass and is_shown:
                yield from shown(module, kin)


def holders(project: Project, family: Family) -> list[Family]:
    """The classes, outside the family, with a field or attribute that is seen to hold an instance."""
    modules = {module.path: module for name in family.names for module in project.modules_mentioning(name)}
    classes = [(module, node) for module in modules.values() for node in module.nodes(ast.ClassDef)]
    found = [one for one in classes if one[1] not in family and any(held(*one, family))]
    return [Family(project, module, node) for module, node in found]


def held(module: Module, node: ast.ClassDef, family: Family) -> Iterator[bool]:
    for inner in family.project.worked_out(("settings in", node), lambda: settings_in(node)):
        if isinstance(inner, ast.AnnAssign):
            yield family.says(inner.annotation)
        elif isinstance(inner.targets[0], ast.Attribute):
            yield family.has_instance(module, inner.value)


def settings_in(node: ast.ClassDef) -> list[ast.AnnAssign | ast.Assign]:
    return [inner for inner in ast.walk(node) if isinstance(inner, (ast.AnnAssign, ast.Assign))]


def taken_apart(module: Module, family: Family) -> Iterator[Use]:
    """`asdict`, `vars`, `__dict__`, pickling, of something that is seen to be an instance."""
    for call in module.nodes(ast.Call):
        if meaning(module, call.func) in SPILLS and any(mentions_instance(module, a, family) for a in call.args):
            yield escape(module, call, "the whole object is taken apart or written out")
    for node in module.nodes(ast.Attribute):
        if node.attr == "__dict__" and family.has_instance(module, node.value):
            yield escape(module, node, "the whole object is taken apart")
    for pattern in module.nodes(ast.MatchClass):
        found = family.project_class(module, pattern.cls)
        if pattern.patterns and found and found[1] in family:
            yield escape(module, placed(ast.Name("case"), pattern), "a pattern takes attributes by their place")


def taken_by_name(module: Module, family: Family) -> Iterator[Use]:
    """`getattr` and its like, with a name that is worked out while the program runs."""
    for call in module.nodes(ast.Call):
        is_open = len(call.args) > 1 and not isinstance(call.args[1], ast.Constant)
        if is_open and meaning(module, call.func) in BY_NAME and family.has_instance(module, call.args[0]):
            yield escape(module, call, "an attribute is taken by a name that is not seen")


def hides(module: Module, node: ast.ClassDef, name: str) -> bool:
    """Whether a class keeps the field out of what is printed of it."""
    bound = module.scopes.bound.get(node, {})
    fields = [binding.value for binding in bound.get(name, []) if binding.value]
    has_own = "__repr__" in bound or "__str__" in bound
    return has_own or any("repr=False" in module.code(part) for part in (*node.decorator_list, *fields))


def shown(module: Module, family: Family) -> Iterator[Use]:
    """A dataclass prints all its fields, keys included."""
    for call in module.nodes(ast.Call):
        if meaning(module, call.func) in SHOWS and any(family.has_instance(module, part) for part in call.args):
            yield escape(module, call, "the whole object is printed")
    for part in module.nodes(ast.FormattedValue):
        if family.has_instance(module, part.value):
            yield escape(module, part.value, "the whole object is printed")


def mentions_instance(module: Module, argument: ast.AST, family: Family) -> bool:
    """Whether an instance itself, not one of its attributes, is somewhere in the argument."""
    for node in ast.walk(argument):
        parent = module.parent(node)
        is_step = isinstance(parent, ast.Attribute) or (isinstance(parent, ast.comprehension) and parent.iter is node)
        if isinstance(node, (ast.Name, ast.Attribute)) and not is_step and family.has_instance(module, node):
            return True
    return False
