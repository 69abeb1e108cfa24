"""From a name to what the project defines under it: functions, classes, methods, through imports and re-exports."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.model import SourceError
from codemods.module import Module
from codemods.project import Project
from codemods.topics.keys.bindings import FUNCTIONS, bindings_of, module_level, variable_of
from codemods.topics.keys.loops import element_of

Function = (ast.FunctionDef, ast.AsyncFunctionDef)
HARMLESS = ("torch.no_grad", "torch.inference_mode", "torch.compile", "torch.compiler.disable")


@dataclass(frozen=True)
class Place:
    """A node together with the module that it stands in."""

    module: Module
    node: ast.AST

    def __str__(self) -> str:
        return where(self.module, self.node)


def where(module: Module, node: ast.AST) -> str:
    return f"{module.path}:{module.line(module.span(node).start)}"


def is_builtin(module: Module, node: ast.AST, *names: str) -> bool:
    """Whether the node is one of these builtins, and the module gives the name no other meaning."""
    if not (isinstance(node, ast.Name) and node.id in names):
        return False
    return node.id not in module.imports.meanings and not variable_of(module, node) and not defines(module, node.id)


def defines(module: Module, name: str) -> bool:
    bindings = bindings_of(module)
    return (module.tree, name) in bindings.by_scope or name in bindings.shared


def definition(project: Project, module: Module, node: ast.AST) -> Place | None:
    """The statement at the top level of some module of the project that a name or `a.b.c` stands for."""
    if isinstance(node, ast.Name) and variable_of(module, node) is None:
        found = module_level(module, node.id)
        if found is not None and not isinstance(found, (ast.Import, ast.ImportFrom)):
            return Place(module, module.statement(found))
    dotted = module.resolve(node)
    return exported(project, dotted) if dotted else None


def exported(project: Project, dotted: str, hops: int = 5) -> Place | None:
    """The same for a full dotted name, followed through modules that only hand it on."""
    origin, _, name = dotted.rpartition(".")
    path = project.path_of(origin)
    if path is None or not hops:
        return None
    try:
        module = project.module(path)
    except SourceError:
        return None
    found = module_level(module, name)
    if found is None:
        return None
    if isinstance(found, (ast.Import, ast.ImportFrom)):
        onward = module.resolve(ast.Name(name))
        return exported(project, onward, hops - 1) if onward and onward != dotted else None
    return Place(module, module.statement(found))


def called_function(project: Project, module: Module, call: ast.Call) -> Place | None:
    """The project's function that answers a call, or the method, if no class overrides it."""
    found = definition(project, module, call.func)
    if found is None and isinstance(call.func, ast.Attribute):
        owner = class_of(project, module, call.func.value)
        found = method_of(owner, call.func.attr) if owner else None
    return found if found and isinstance(found.node, Function) else None


def method_of(owner: Place, name: str) -> Place | None:
    """The method that a class itself defines under this name."""
    assert isinstance(owner.node, ast.ClassDef)
    own = [node for node in owner.node.body if isinstance(node, Function) and node.name == name]
    return Place(owner.module, own[0]) if len(own) == 1 else None


def override_of(project: Project, method: Place) -> str:
    """Where another function of the same name could be what a call of this method runs."""
    assert isinstance(method.node, Function)
    name = method.node.name
    if not isinstance(method.module.parent(method.node), ast.ClassDef):
        return ""
    for path in project.mentions(name):
        try:
            module = project.module(path)
        except SourceError as error:
            return str(error)
        others = [node for node in module.nodes(*Function) if node.name == name and node is not method.node]
        stores = [node for node in module.nodes(ast.Attribute) if node.attr == name and not is_read(node)]
        if others or stores:
            return where(module, [*others, *stores][0])
    return ""


def is_read(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def is_plain(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a call simply runs the body: no generator, no coroutine, no decorator that could do something else."""
    if isinstance(function, ast.AsyncFunctionDef):
        return False
    for decorator in function.decorator_list:
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        if module.resolve(name) not in HARMLESS and not is_builtin(module, name, "staticmethod", "classmethod"):
            return False
    return not any(module.enclosing(node, *FUNCTIONS) is function for node in ast.walk(function) if is_yield(node))


def is_yield(node: ast.AST) -> bool:
    return isinstance(node, (ast.Yield, ast.YieldFrom))


def class_of(project: Project, module: Module, node: ast.AST) -> Place | None:
    """The project's class of which an expression surely is an instance, by `self`, by annotations, by construction."""
    if isinstance(node, ast.Name) and (owner := class_of_self(module, node)):
        return owner
    annotation = annotation_of(project, module, node)
    if annotation is None:
        return None
    found = definition(project, annotation.module, annotation.node)
    return found if found and isinstance(found.node, ast.ClassDef) else None


def class_of_self(module: Module, name: ast.Name) -> Place | None:
    variable = variable_of(module, name)
    if variable is None or len(variable.bindings) != 1 or not isinstance(variable.scope, ast.FunctionDef):
        return None
    owner = module.parent(variable.scope)
    first = (variable.scope.args.posonlyargs + variable.scope.args.args)[:1]
    if isinstance(owner, ast.ClassDef) and first == list(variable.bindings) and not variable.scope.decorator_list:
        return Place(module, owner)
    return None


def annotation_of(project: Project, module: Module, node: ast.AST, hops: int = 6) -> Place | None:
    """The annotation that says what an expression is; the class itself where one is called."""
    if not hops:
        return None
    if isinstance(node, ast.Name):
        variable = variable_of(module, node)
        return binding_annotation(project, module, variable.bindings, hops) if variable else None
    if isinstance(node, ast.Call):
        found = definition(project, module, node.func)
        if found and isinstance(found.node, ast.ClassDef):
            return Place(module, node.func)
        if found and isinstance(found.node, ast.FunctionDef) and found.node.returns:
            return Place(found.module, found.node.returns)
    if isinstance(node, ast.Attribute):
        owner = class_of(project, module, node.value)
        return attribute_annotation(project, owner, node.attr, hops) if owner else None
    if isinstance(node, ast.Subscript):
        return item_annotation(annotation_of(project, module, node.value, hops - 1))
    return None


def binding_annotation(project: Project, module: Module, bindings: tuple[ast.AST, ...], hops: int) -> Place | None:
    if len(bindings) != 1:
        return None
    binding, parent = bindings[0], module.parent(bindings[0])
    if isinstance(binding, ast.arg):
        return Place(module, binding.annotation) if binding.annotation else None
    if isinstance(parent, ast.AnnAssign):
        return Place(module, parent.annotation)
    if isinstance(parent, ast.Assign) and parent.targets == [binding]:
        return annotation_of(project, module, parent.value, hops - 1)
    source = element_of(module, binding)
    return item_annotation(annotation_of(project, module, source, hops - 1)) if source else None


def attribute_annotation(project: Project, owner: Place, name: str, hops: int) -> Place | None:
    """What a class says of one attribute: a field's annotation, or the only assignment to it on `self`."""
    module = owner.module
    assert isinstance(owner.node, ast.ClassDef)
    for node in owner.node.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return Place(module, node.annotation)
    stores = [
        node
        for node in ast.walk(owner.node)
        if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)
    ]
    return binding_annotation(project, module, tuple(stores), hops)


def item_annotation(annotation: Place | None) -> Place | None:
    """`T` of `list[T]`, `Sequence[T]`, `tuple[T, ...]`."""
    if annotation is None or not isinstance(annotation.node, ast.Subscript):
        return None
    container, item = annotation.node.value, annotation.node.slice
    name = container.attr if isinstance(container, ast.Attribute) else getattr(container, "id", "")
    if name.lower() not in ("list", "sequence", "iterable", "tuple"):
        return None
    if isinstance(item, ast.Tuple):
        dots = len(item.elts) == 2 and isinstance(item.elts[1], ast.Constant) and item.elts[1].value is ...
        return Place(annotation.module, item.elts[0]) if dots else None
    return Place(annotation.module, item)
