"""Ways for an attribute to leave its class that do not name it: pickling, `asdict`, arguments by place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codemods.module import Module
from codemods.project import Project
from codemods.topics.pairs.annotations import meaning
from codemods.topics.pairs.owners import Family, decorator_name
from codemods.topics.pairs.uses import Use, escape, placed

SPILLS = {
    "dataclasses.asdict",
    "dataclasses.astuple",
    "vars",
    "pickle.dump",
    "pickle.dumps",
    "torch.save",
    "eval",
    "exec",
}
ASKS = {"isinstance", "issubclass", "typing.cast"}
HANDED_ON = (ast.Call, ast.keyword, ast.Assign, ast.Dict, ast.Return, ast.IfExp, ast.NamedExpr)
HOOKS = {"__getstate__", "__setstate__", "__reduce__", "__reduce_ex__", "__getattribute__", "__iter__", "__dict__"}
KNOWN_DECORATORS = {"dataclasses.dataclass", "typing.final"}


def exposures(project: Project, family: Family, name: str) -> Iterator[Use]:
    """Ways for the dict to leave that do not name it: unusual bases, positional arguments, `asdict`, pickling."""
    for module, base in family.strange:
        yield escape(module, base, f"what the base class {module.code(base)} does with it is not known")
    for module, node in family.members:
        yield from unusual_class(module, node)
    modules = {module.path: module for member in family.names for module in project.modules_mentioning(member)}
    for module in modules.values():
        yield from spilled(module, family)
        if family.is_dataclass:
            yield from built_by_place(module, family, name)


def unusual_class(module: Module, node: ast.ClassDef) -> Iterator[Use]:
    for decorator in node.decorator_list:
        if decorator_name(module, decorator) not in KNOWN_DECORATORS:
            yield escape(module, decorator, "what the class decorator does with it is not known")
    for word in node.keywords:
        yield escape(module, word.value, "what the metaclass does with it is not known")
    for inner in ast.walk(node):
        hook = getattr(inner, "name", None) or getattr(inner, "attr", None)
        if hook in HOOKS and isinstance(inner, (ast.FunctionDef, ast.Attribute)):
            where = inner if isinstance(inner, ast.expr) else placed(ast.Name(str(hook)), inner)
            yield escape(module, where, f"`{hook}` hands out all attributes")


def spilled(module: Module, family: Family) -> Iterator[Use]:
    """`asdict`, `vars`, `__dict__`, pickling, of something that is seen to be an instance."""
    for call in module.nodes(ast.Call):
        if meaning(module, call.func) in SPILLS and any(mentions_instance(module, a, family) for a in call.args):
            yield escape(module, call, "the whole object is taken apart or written out")
    for node in module.nodes(ast.Attribute):
        if node.attr == "__dict__" and family.has_instance(module, node.value):
            yield escape(module, node, "the whole object is taken apart")


def mentions_instance(module: Module, argument: ast.AST, family: Family) -> bool:
    """Whether an instance itself, not one of its attributes, is somewhere in the argument."""
    for node in ast.walk(argument):
        parent = module.parent(node)
        is_step = isinstance(parent, ast.Attribute) or (isinstance(parent, ast.comprehension) and parent.iter is node)
        if isinstance(node, (ast.Name, ast.Attribute)) and not is_step and family.has_instance(module, node):
            return True
    return False


def built_by_place(module: Module, family: Family, name: str) -> Iterator[Use]:
    """Calls of a dataclass that may fill the field by its place, and the class handed on as a value."""
    place = min(field_place(node, name) for _, node in family.members)
    for node in module.nodes(ast.Name, ast.Attribute):
        found = family.project_class(module, node) if isinstance(node.ctx, ast.Load) else None
        if found and found[1] in family:
            yield from built_here(module, node, place)
    for call in module.nodes(ast.Call):
        if may_construct(module, call, family) and not family.project_class(module, call.func):
            owner = module.enclosing(call, ast.ClassDef)
            if owner in family and meaning(module, call.func) is None:
                yield from checked_call(module, call, place)


def built_here(module: Module, node: ast.expr, place: int) -> Iterator[Use]:
    parent = module.parent(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        yield from checked_call(module, parent, place)
        return
    is_asked = isinstance(parent, ast.Call) and meaning(module, parent.func) in ASKS
    is_default = isinstance(parent, ast.keyword) and parent.arg == "default_factory"
    if isinstance(parent, HANDED_ON) and not is_asked and not is_default:
        yield escape(module, node, "the class is handed on, and may be called with it")


def checked_call(module: Module, call: ast.Call, place: int) -> Iterator[Use]:
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if starred or len(call.args) > place or any(word.arg is None for word in call.keywords):
        yield escape(module, call, "it may be given by its place in this call")


def field_place(node: ast.ClassDef, name: str) -> int:
    """How many fields of this class stand before it; a great number if it is not a field here."""
    fields: Iterable[ast.AnnAssign] = (item for item in node.body if isinstance(item, ast.AnnAssign))
    names = [item.target.id for item in fields if isinstance(item.target, ast.Name)]
    return names.index(name) if name in names else 1 << 30


def may_construct(module: Module, call: ast.Call, family: Family) -> bool:
    found = family.project_class(module, call.func)
    if found:
        return found[1] in family
    named = module.code(call.func)
    return meaning(module, call.func) in ("dataclasses.replace", "copy.replace") or named in (
        "cls",
        "type(self)",
        "self.__class__",
        "super().__init__",
    )
