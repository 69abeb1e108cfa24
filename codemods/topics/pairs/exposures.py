"""Ways for an attribute to leave its class that do not name it: pickling, `asdict`, arguments by place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.module import Module, position
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.pairs.annotations import meaning
from fullgraph.codemods.topics.pairs.owners import Family, decorator_name, words
from fullgraph.codemods.topics.pairs.spills import spilled
from fullgraph.codemods.topics.pairs.uses import Use, escape, placed

ASKS = {"isinstance", "issubclass", "typing.cast"}
ANSWERS = (ast.Return, ast.IfExp, ast.NamedExpr, ast.Lambda)
HANDED_ON = (ast.Call, ast.keyword, ast.arguments, ast.Assign, ast.Dict, *ANSWERS)
GATHERED = (ast.Tuple, ast.List, ast.Set)
REPLACE = {"dataclasses.replace", "copy.replace"}
HOOKS = {"__getstate__", "__setstate__", "__reduce__", "__reduce_ex__", "__getattribute__", "__iter__", "__dict__"}
KNOWN_DECORATORS = {"dataclasses.dataclass", "typing.final"}


def exposures(project: Project, family: Family, name: str) -> Iterator[Use]:
    """Ways for the dict to leave that do not name it: unusual bases, positional arguments, `asdict`, pickling."""
    for module, base in family.strange:
        yield escape(module, base, f"what the base class {module.code(base)} does with it is not known")
    for module, node in family.members:
        yield from unusual_class(module, node)
    yield from spilled(project, family, name)
    modules = {module.path: module for member in family.names for module in project.modules_mentioning(member)}
    for module in modules.values() if family.is_dataclass else ():
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


def built_by_place(module: Module, family: Family, name: str) -> Iterator[Use]:
    """Calls of a dataclass that may fill the field by its place, and the class handed on as a value."""
    arguments = [argument_names(family, *member) for member in family.members]
    place = min((names.index(name) for names in arguments if name in names), default=1 << 30)
    for node in sorted(class_mentions(module, family), key=position):
        yield from built_here(module, node, family, name, place)
    for call in module.nodes(ast.Call):
        if meaning(module, call.func) in REPLACE:
            if any(word.arg is None for word in call.keywords) and family.has_instance(module, call.args[0]):
                yield escape(module, call, "it may be given by this call")
        elif may_construct(module, call, family) and not family.project_class(module, call.func):
            yield from checked_call(module, call, family, name, place)


def class_mentions(module: Module, family: Family) -> Iterator[ast.expr]:
    """Where the classes of a family are read by name, in no special order."""
    for node in module.unordered(ast.Name, ast.Attribute):
        found = family.project_class(module, node) if isinstance(node.ctx, ast.Load) else None
        if found and found[1] in family:
            yield node


def built_here(module: Module, node: ast.expr, family: Family, name: str, place: int) -> Iterator[Use]:
    parent = module.parent(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        yield from checked_call(module, parent, family, name, place)
        return
    while isinstance(parent, GATHERED):
        parent = module.parent(parent)
    is_asked = isinstance(parent, ast.Call) and meaning(module, parent.func) in ASKS
    is_default = isinstance(parent, ast.keyword) and parent.arg == "default_factory"
    is_started = isinstance(parent, ast.Attribute) and parent.attr in ("__init__", "__new__")
    if is_started or (isinstance(parent, HANDED_ON) and not is_asked and not is_default):
        yield escape(module, node, "the class is handed on, and may be called with it")


def checked_call(module: Module, call: ast.Call, family: Family, name: str, place: int) -> Iterator[Use]:
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if starred or len(call.args) > place:
        yield escape(module, call, "it may be given by its place in this call")
    for word in call.keywords:
        if word.arg is None and not hands_on_others(family.project, module, word.value, name):
            yield escape(module, call, f"it may be among `**{module.code(word.value)}` in this call")


def hands_on_others(project: Project, module: Module, words: ast.expr, name: str) -> bool:
    """Whether `**words` are those of a plain function all of whose calls are seen, and none of them gives this one."""
    function = module.enclosing(words, ast.FunctionDef)
    if function is None or not isinstance(words, ast.Name) or function.decorator_list:
        return False
    is_own = function.args.kwarg is not None and function.args.kwarg.arg == words.id
    if not is_own or len(module.scopes.names(function, words.id)) != 1:
        return False
    others = project.modules_mentioning(function.name)
    return all(gives_others(other, node, name) for other in others for node in mentions(other, function.name))


def mentions(module: Module, name: str) -> list[ast.expr]:
    named = module.unordered(ast.Name, ast.Attribute)
    return [node for node in named if name in (getattr(node, "id", ""), getattr(node, "attr", ""))]


def gives_others(module: Module, function: ast.expr, name: str) -> bool:
    call = module.parent(function)
    return (
        isinstance(call, ast.Call) and call.func is function and all(w.arg not in (None, name) for w in call.keywords)
    )


def argument_names(family: Family, module: Module, node: ast.ClassDef) -> list[str]:
    """The arguments of a dataclass by their places; with several bases only its own, which then come too early."""
    base = family.project_class(module, node.bases[0]) if len(node.bases) == 1 else None
    inherited = argument_names(family, *base) if base and base[1] in family else []
    fields = (item for item in node.body if isinstance(item, ast.AnnAssign) and is_argument(item))
    own = [item.target.id for item in fields if isinstance(item.target, ast.Name)]
    is_one = any(decorator_name(module, decorator) == "dataclasses.dataclass" for decorator in node.decorator_list)
    return list(dict.fromkeys([*inherited, *own])) if is_one else inherited


def is_argument(item: ast.AnnAssign) -> bool:
    words_of_field = item.value.keywords if isinstance(item.value, ast.Call) else []
    return "ClassVar" not in words(item.annotation) and not any(word.arg == "init" for word in words_of_field)


def may_construct(module: Module, call: ast.Call, family: Family) -> bool:
    """Whether a call makes an instance, of a class that may not be named: `cls(...)`, `type(x)(...)`."""
    found = family.project_class(module, call.func)
    if found or meaning(module, call.func) in REPLACE:
        return found is None or found[1] in family
    if module.code(call.func) in ("cls", "super().__init__"):
        return module.enclosing(call, ast.ClassDef) in family
    made = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "__class__" else None
    if isinstance(call.func, ast.Call) and meaning(module, call.func.func) == "type" and call.func.args:
        made = call.func.args[0]
    return made is not None and family.has_instance(module, made)
