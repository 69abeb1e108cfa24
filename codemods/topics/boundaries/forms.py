"""The form of what a compiled callable gives: a tensor, a tuple, a dict, a record; and how to write a copy of it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import own_nodes
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import Place, only_class
from fullgraph.codemods.syntax.tensors.infer import Tensors
from fullgraph.codemods.topics.boundaries.layers import gives_tensor, torch_class

TENSOR = {"torch.Tensor", "torch.FloatTensor", "torch.LongTensor"}
PLAIN = {"int", "float", "bool", "str", "None"}
What = Literal["tensor", "plain", "tuple", "dict", "dataclass", "namedtuple", "object", "unknown"]


@dataclass(frozen=True)
class Form:
    """What a value is made of; `names` are the fields of a record, `kind` its class by module and name."""

    what: What
    parts: tuple[Form, ...] = ()
    names: tuple[str, ...] = ()
    kind: tuple[str, str] = ("", "")

    @property
    def is_known(self) -> bool:
        return self.what not in ("object", "unknown") and all(part.is_known for part in self.parts)

    @property
    def objects(self) -> list[str]:
        """The classes within that are no records: nobody knows how to copy the tensors of their instances."""
        own = [self.kind[1]] if self.what == "object" else []
        return [*own, *(name for part in self.parts for name in part.objects)]

    def copy(self, text: str, replace: str = "replace") -> str:
        """The expression that copies every tensor of the value that `text` stands for. Only for known forms."""
        if self.what in ("tensor", "plain"):
            return f"{text}.clone()" if self.what == "tensor" else text
        if self.what == "tuple":
            parts = ", ".join(part.copy(f"{text}[{number}]", replace) for number, part in enumerate(self.parts))
            return f"({parts},)" if len(self.parts) == 1 else f"({parts})"
        if self.what == "dict":
            return f"{{name: {self.parts[0].copy('value', replace)} for name, value in {text}.items()}}"
        pairs = zip(self.names, self.parts, strict=True)
        given = ", ".join(f"{n}={part.copy(f'{text}.{n}', replace)}" for n, part in pairs if part.what != "plain")
        return f"{text}._replace({given})" if self.what == "namedtuple" else f"{replace}({text}, {given})"


A_TENSOR, A_PLAIN, UNKNOWN = Form("tensor"), Form("plain"), Form("unknown")


def form_of(project: Project, function: Place[Function] | None) -> Form:
    """What a function returns: by its annotation, else by all of its returns."""
    if function is None or is_generator(function.node):
        return UNKNOWN
    module, node = function
    if node.returns is not None:
        return annotated(project, module, node.returns)
    returns = [item for item in own_nodes(node) if isinstance(item, ast.Return)]
    forms = {returned(project, module, item.value) for item in returns}
    return forms.pop() if len(forms) == 1 else UNKNOWN


def is_generator(function: Function) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(function))


def annotated(project: Project, module: Module, node: ast.expr, depth: int = 0) -> Form:
    """What an annotation says."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return UNKNOWN if depth else annotated_text(project, module, node.value)
    if module.resolve(node) in TENSOR:
        return A_TENSOR
    if isinstance(node, ast.Constant) and node.value is None:
        return A_PLAIN
    if isinstance(node, ast.Name) and node.id in PLAIN and not module.scopes.bindings(node):
        return A_PLAIN
    if isinstance(node, ast.Subscript):
        return annotated_container(project, module, node, depth)
    kind = only_class(Definitions(project, sure=True).denoted(module, node)) if depth < 3 else None
    return record(project, kind, depth) if kind else UNKNOWN


def annotated_text(project: Project, module: Module, text: str) -> Form:
    """An annotation in quotes, if it is the name of something."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return UNKNOWN
    return A_TENSOR if module.resolve(node) in TENSOR else UNKNOWN


def annotated_container(project: Project, module: Module, node: ast.Subscript, depth: int) -> Form:
    name = str(module.resolve(node.value) or getattr(node.value, "id", "")).rpartition(".")[2]
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name.lower() == "tuple" and not any(getattr(item, "value", None) is ... for item in items):
        return Form("tuple", tuple(annotated(project, module, item, depth + 1) for item in items))
    if name.lower() == "dict" and len(items) == 2:
        return Form("dict", (annotated(project, module, items[1], depth + 1),))
    return UNKNOWN


def record(project: Project, kind: Place[ast.ClassDef], depth: int) -> Form:
    """A dataclass or NamedTuple of the project whose fields are all its own and plainly written."""
    module, node = kind
    decorators = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    is_dataclass = [module.resolve(item) for item in decorators] == ["dataclasses.dataclass"] and not node.bases
    is_tuple = [module.resolve(base) for base in node.bases] == ["typing.NamedTuple"] and not decorators
    if not decorators and all(getattr(base, "id", "") == "object" for base in node.bases):
        return Form("object", kind=(module.name, node.name))
    fields = [item for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)]
    is_plain = all(item.value is None or isinstance(item.value, ast.Constant) for item in fields)
    defined = {getattr(item, "name", "") for item in node.body}
    if not (is_dataclass or is_tuple) or not fields or not is_plain or defined & {"__post_init__", "__init__"}:
        return UNKNOWN
    names = tuple(item.target.id for item in fields if isinstance(item.target, ast.Name))
    parts = tuple(annotated(project, module, item.annotation, depth + 1) for item in fields)
    return Form("namedtuple" if is_tuple else "dataclass", parts, names, (module.name, node.name))


def returned(project: Project, module: Module, node: ast.expr | None) -> Form:
    """What a returned expression is, as far as the text proves it."""
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return A_PLAIN
    if isinstance(node, ast.Tuple) and not any(isinstance(item, ast.Starred) for item in node.elts):
        return Form("tuple", tuple(returned(project, module, item) for item in node.elts))
    if isinstance(node, ast.Dict) and node.values and None not in node.keys:
        forms = {returned(project, module, value) for value in node.values}
        return Form("dict", (forms.pop(),)) if len(forms) == 1 else UNKNOWN
    if isinstance(node, ast.Call):
        kind = only_class(Definitions(project, sure=True).denoted(module, node.func))
        if kind is not None:
            return record(project, kind, 0)
        if gives_tensor(torch_class(Definitions(project), module, node.func)):
            return A_TENSOR
    tensors = project.worked_out(Form, lambda: Tensors(project))
    return A_TENSOR if tensors.known(module, node).is_tensor else UNKNOWN
