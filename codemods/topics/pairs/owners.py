"""The classes of a project: who derives from whom, and is this expression one of their instances?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.module import Module, position
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import Binding
from fullgraph.codemods.topics.pairs.annotations import meaning

PLAIN_BASES = {"object", "abc.ABC", "typing.Generic"}
ELEMENTS = {"list", "tuple", "sorted", "reversed", "enumerate", "zip", "iter", "next", "set"}
COPIES = {"dataclasses.replace", "copy.replace", "copy.copy", "copy.deepcopy"}
TOO_MANY = 60
Class = tuple[Module, ast.ClassDef]


class Family:
    """A class with its bases and subclasses in the project, known by their names."""

    def __init__(self, project: Project, module: Module, node: ast.ClassDef) -> None:
        self.project = project
        self.members: list[Class] = [(module, node)]
        self.strange: list[tuple[Module, ast.expr]] = []
        self._attributes: dict[str, bool] = {}
        self._functions: dict[str, bool] = {}
        for member in self.members:
            self._add_bases(*member)
            self._add_subclasses(*member)
        self.names = {node.name for _, node in self.members}

    def __contains__(self, node: object) -> bool:
        return any(node is member for _, member in self.members)

    @property
    def is_dataclass(self) -> bool:
        return any(decorator_name(m, d) == "dataclasses.dataclass" for m, c in self.members for d in c.decorator_list)

    def _add(self, module: Module, node: ast.ClassDef) -> None:
        if node not in self:
            self.members.append((module, node))

    def _add_bases(self, module: Module, node: ast.ClassDef) -> None:
        for base in node.bases:
            plain = base.value if isinstance(base, ast.Subscript) else base
            if found := self.project_class(module, plain):
                self._add(*found)
            elif not is_plain_base(meaning(module, plain)):
                self.strange.append((module, base))

    def _add_subclasses(self, module: Module, node: ast.ClassDef) -> None:
        for other in self.project.modules_mentioning(node.name):
            for candidate in other.nodes(ast.ClassDef):
                for base in candidate.bases:
                    plain = base.value if isinstance(base, ast.Subscript) else base
                    found = self.project_class(other, plain)
                    if found and found[1] is node:
                        self._add(other, candidate)

    def project_class(self, module: Module, node: ast.AST) -> Class | None:
        """The class of the project that a name stands for here, re-exports followed."""
        return self.project.worked_out(("class that", node), lambda: self._project_class(module, node))

    def _project_class(self, module: Module, node: ast.AST) -> Class | None:
        if isinstance(node, ast.Name) and not module.resolve(node):
            bindings = module.scopes.bindings(node)
            if bindings:
                found = bindings[0].node if len(bindings) == 1 else None
                return (module, found) if isinstance(found, ast.ClassDef) else None
            origin = by_star(self.project, module, node.id)
        else:
            origin = canonical(self.project, module.resolve(node) or "")
        path = self.project.path_of(origin.rpartition(".")[0])
        if path is None:
            return None
        home = self.project.module(path)
        bindings = home.scopes.bound.get(home.tree, {}).get(origin.rpartition(".")[2], [])
        classes = [binding.node for binding in bindings if isinstance(binding.node, ast.ClassDef)]
        return (home, classes[0]) if len(classes) == 1 else None

    # Instances

    def owns_self(self, module: Module, name: ast.Name) -> bool:
        """Whether this is the first argument of a method of the family."""
        scope = module.scopes.of(name)
        if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)) or module.parent(scope) not in self:
            return False
        arguments = [*scope.args.posonlyargs, *scope.args.args]
        return bool(arguments) and arguments[0].arg == name.id and len(module.scopes.bindings(name)) == 1

    def has_instance(self, module: Module, node: ast.AST, depth: int = 0) -> bool:
        """Whether the expression is seen to be an instance, or a collection of instances."""
        if depth > 6:
            return False
        if isinstance(node, ast.Name):
            if self.owns_self(module, node):
                return True
            bindings = module.scopes.bindings(node)
            return bool(bindings) and all(self._binds_instance(module, binding, depth) for binding in bindings)
        if isinstance(node, (ast.Subscript, ast.Starred, ast.Await)):
            return self.has_instance(module, node.value, depth + 1)
        if isinstance(node, ast.Call):
            return self._makes_instance(module, node, depth)
        if isinstance(node, ast.Attribute):
            if node.attr not in self._attributes:
                self._attributes[node.attr] = False  # while it is worked out, it says nothing of itself
                self._attributes[node.attr] = all_true(self._attribute_says(node.attr, depth))
            return self._attributes[node.attr]
        if isinstance(node, (ast.List, ast.Tuple)):
            return any(self.has_instance(module, part, depth + 1) for part in node.elts)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self.has_instance(module, node.elt, depth + 1)
        return False

    def is_foreign(self, module: Module, node: ast.AST) -> bool:
        """Whether a name only ever holds what some class or function from outside the project made."""
        bindings = module.scopes.bindings(node) if isinstance(node, ast.Name) else []
        makers = [module.resolve(b.value.func) if isinstance(b.value, ast.Call) else None for b in bindings]
        return bool(makers) and all(maker and maker not in COPIES and not self._is_ours(maker) for maker in makers)

    def _is_ours(self, dotted: str) -> bool:
        parts = dotted.split(".")
        return any(self.project.path_of(".".join(parts[:length])) for length in range(1, len(parts)))

    def says(self, annotation: ast.expr | None) -> bool:
        """Whether an annotation names a class of the family."""
        return annotation is not None and not self.names.isdisjoint(words(annotation))

    def _binds_instance(self, module: Module, binding: Binding, depth: int) -> bool:
        if self.says(binding.annotation):
            return True
        return binding.value is not None and self.has_instance(module, binding.value, depth + 1)

    def _makes_instance(self, module: Module, call: ast.Call, depth: int) -> bool:
        found = self.project_class(module, call.func)
        if found and found[1] in self:
            return True
        name = meaning(module, call.func)
        if name in ELEMENTS or name in COPIES:
            return any(self.has_instance(module, argument, depth + 1) for argument in call.args)
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("values", "items", "get", "pop", "copy"):
            return self.has_instance(module, call.func.value, depth + 1)
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if called not in self._functions:
            self._functions[called] = all_true(self._returns(called))
        return self._functions[called]

    def _few_mentioning(self, name: str) -> list[Module]:
        """The modules that mention a name; none for a name that is all over the project."""
        many = not name or len(self.project.mentions(name)) > TOO_MANY
        return [] if many else self.project.modules_mentioning(name)

    def _returns(self, function: str) -> Iterator[bool]:
        """Of every function of this name: whether it says that it returns instances."""
        for module in self._few_mentioning(function):
            for node in module.nodes(ast.FunctionDef):
                if node.name == function:
                    yield self.says(node.returns)

    def _attribute_says(self, attribute: str, depth: int) -> Iterator[bool]:
        """Of every definition of an attribute of this name: whether it says that it holds instances."""
        for module in self._few_mentioning(attribute):
            for node in module.nodes(ast.ClassDef):
                for binding in module.scopes.bound.get(node, {}).get(attribute, []):
                    yield self.says(binding.annotation or getattr(binding.node, "returns", None))
            for target in module.nodes(ast.Attribute):
                if target.attr == attribute and isinstance(target.ctx, ast.Store):
                    statement = module.parent(target)
                    value = getattr(statement, "value", None)
                    said = isinstance(statement, ast.AnnAssign) and self.says(statement.annotation)
                    yield said or (value is not None and self.has_instance(module, value, depth + 1))


def all_true(answers: Iterator[bool]) -> bool:
    """Whether there is an answer, and none is no."""
    first = next(answers, False)
    return first and all(answers)


def is_plain_base(name: str | None) -> bool:
    """Whether a base class from outside the project leaves plain attributes alone."""
    return name is not None and (name in PLAIN_BASES or name.startswith("torch."))


def decorator_name(module: Module, decorator: ast.expr) -> str | None:
    return meaning(module, decorator.func if isinstance(decorator, ast.Call) else decorator)


def words(annotation: ast.expr) -> Iterator[str]:
    """The identifiers of an annotation, also of what stands in quotes."""
    import re

    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\w+", node.value)


def canonical(project: Project, dotted: str, depth: int = 0) -> str:
    """The name under which something is defined, when modules of the project import it from each other."""
    home, _, name = dotted.rpartition(".")
    path = project.path_of(home) if home else None
    if path is None or depth > 4:
        return dotted
    module = project.module(path)
    origin = module.resolve(ast.Name(name)) or by_star(project, module, name, depth)
    return canonical(project, origin, depth + 1) if origin and origin != dotted else dotted


def by_star(project: Project, module: Module, name: str, depth: int = 0) -> str:
    """Where a name comes from that a module does not define, but may have by `from elsewhere import *`."""
    if depth > 4 or defines(module, name):
        return ""
    stars = [node for node in module.unordered(ast.ImportFrom) if node.names[0].name == "*"]
    for node in sorted(stars, key=position):
        home = module.imports.origin(node)
        path = project.path_of(home) if home else None
        origin = canonical(project, f"{home}.{name}", depth + 1)
        if path and (origin != f"{home}.{name}" or defines(project.module(path), name)):
            return origin
    return ""


def defines(module: Module, name: str) -> bool:
    return name in module.scopes.bound.get(module.tree, {})
