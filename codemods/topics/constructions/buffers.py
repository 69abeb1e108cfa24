"""A constant tensor of a module's method becomes a buffer that `__init__` registers."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import COMPREHENSIONS
from fullgraph.codemods.syntax.assignments import FUNCTIONS, attribute_settings, own_nodes
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.heirs import heirs
from fullgraph.codemods.syntax.places import Place, where
from fullgraph.codemods.syntax.signatures.constructor import insert_after, is_init_call, shares_line
from fullgraph.codemods.topics.constructions.hot import Hot, hot_methods
from fullgraph.codemods.topics.constructions.naming import MODULE_NAMES, free_name, name_for, variable_of
from fullgraph.codemods.topics.constructions.reading import is_reading_layer
from fullgraph.codemods.topics.constructions.tensors import ConstantTensor, Device, is_device
from fullgraph.codemods.topics.constructions.writing import can_go, indented_like, joined, remove_line, text_without

WIDTH = 88
MOST_READS = 2
REPEATING = (*FUNCTIONS, *COMPREHENSIONS, ast.Lambda, ast.For, ast.AsyncFor, ast.While, ast.JoinedStr)
WATCHED = re.compile(rb"\bDistributedDataParallel\b|\.to_empty\(|\.(?:named_)?buffers\(")


@dataclass(frozen=True)
class Owner:
    """A class of modules, the method in which a tensor is made, and what the method calls `self`."""

    kind: ast.ClassDef
    method: Function
    me: str


def owner_of(hot: Hot, module: Module, node: ast.AST) -> Owner | None:
    """The module whose method makes a tensor anew; None elsewhere, and where the object is being set up."""
    method = module.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
    kind = module.parent(method) if method else None
    if not isinstance(kind, ast.ClassDef) or not hot.is_module(kind):
        return None
    if any(getattr(item, "id", "") in ("staticmethod", "classmethod") for item in method.decorator_list):
        return None
    arguments = [*method.args.posonlyargs, *method.args.args]
    me = arguments[0].arg if arguments else ""
    if not me or len(module.scopes.within(method, me)) != 1 or method.name not in hot_methods(kind):
        return None
    return Owner(kind, method, me)


class Registering:
    """Makes buffers of constant tensors, in one module; what is registered twice under one text is one buffer."""

    def __init__(self, project: Project, module: Module) -> None:
        self.project = project
        self.module = module
        self.names = Definitions(project)
        self._given: dict[ast.ClassDef, dict[str, str]] = {}

    def write(self, tensor: ConstantTensor, owner: Owner) -> tuple[Edit, ...]:
        """The edits that register the buffer and read it; Unsure where it has no place."""
        self.check_device(tensor)
        self.check_loading(owner.kind)
        head = self.super_call(owner.kind)
        self.check_names(tensor, head)
        text = joined(text_without(self.module, tensor.node, [device.span for device in tensor.devices]))
        name = self.name(tensor, owner, text)
        indent = self.module.indent(head)
        lines = self.annotation(owner, name, indent) + self.registration(tensor, owner, name, text, indent)
        return (insert_after(self.module, head, [lines]), *self.reads(tensor, owner, name))

    def check_device(self, tensor: ConstantTensor) -> None:
        asked = {self.module.code(device.node) for device in tensor.devices}
        if len(asked) > 1 or not all(is_device(device.node) for device in tensor.devices):
            raise Unsure(f"{where(self.module, tensor.node)}: it is asked for on {' and on '.join(sorted(asked))}")

    def check_loading(self, kind: ast.ClassDef) -> None:
        """Raise where transformers may load the module: it is built on meta, and only what is saved is filled in."""
        pretrained = self.project.mentions("PreTrainedModel")
        if pretrained and {self.module.path, *self.project.mentions(kind.name)} & set(pretrained):
            place = where(self.module, kind)
            raise Unsure(f"{place}: from_pretrained would leave a buffer that is not saved without its values")

    def check_names(self, tensor: ConstantTensor, head: ast.stmt) -> None:
        """What the expression names must mean the same in `__init__`."""
        for name in (node for node in ast.walk(tensor.node) if isinstance(node, ast.Name)):
            if self.module.scopes.lookup(self.module.scopes.around(head), name.id) is not self.module.scopes.of(name):
                devices = [part for device in tensor.devices for part in ast.walk(device.node)]
                if name not in devices:
                    raise Unsure(f"{where(self.module, head)}: {name.id} is something else in __init__")

    def super_call(self, kind: ast.ClassDef) -> ast.stmt:
        """The statement of `__init__` behind which buffers can be registered."""
        place = where(self.module, kind)
        found = [node for node in kind.body if getattr(node, "name", "") == "__init__"]
        if not found:
            raise Unsure(f"{place}: {kind.name} has no __init__ of its own that could register it")
        init = found[-1]
        if len(found) > 1 or not isinstance(init, ast.FunctionDef) or init.decorator_list:
            raise Unsure(f"{where(self.module, init)}: __init__ is not one plain function")
        calls = [node for node in init.body if isinstance(node, ast.Expr) and is_init_call(node)]
        if not calls or shares_line(self.module, calls[-1]) or not self.module.begins_line(calls[-1]):
            raise Unsure(f"{where(self.module, init)}: no line of its own calls nn.Module.__init__")
        for other, heir in heirs(self.project, kind):
            inner = next((node for node in heir.body if getattr(node, "name", "") == "__init__"), None)
            if inner and not any(reaches(node, kind.name) for node in ast.walk(inner)):
                raise Unsure(f"{where(other, heir)}: {heir.name} does not call {kind.name}.__init__")
        return calls[-1]

    # Names

    def name(self, tensor: ConstantTensor, owner: Owner, text: str) -> str:
        """One name for each text; the same constant in two methods is one buffer."""
        given = self._given.setdefault(owner.kind, {})
        if text not in given:
            wanted = name_for(self.module, tensor.node, tensor.factory).lstrip("_").lower() or "constant"
            if self.inherits_names(owner.kind):
                wanted = f"constant_{wanted}"
            given[text] = free_name(wanted, {*self.taken(owner.kind), *given.values()})
        return given[text]

    def inherits_names(self, kind: ast.ClassDef) -> bool:
        """Whether a base class that is not in the project has attributes of its own: `nn.Linear` has a `weight`."""
        family = list(self.names.lineage(Place(self.module, kind)))
        bases = {(home.resolve(base) or "").rpartition(".")[2] for home, one in family for base in one.bases}
        return not bases <= {"Module", *(one.name for _, one in family)}

    def taken(self, kind: ast.ClassDef) -> set[str]:
        """The attributes of the class, of its base classes and of those that inherit it."""
        family = [found.node for found in self.names.lineage(Place(self.module, kind))]
        family += [heir for _, heir in heirs(self.project, kind)]
        found = (node for one in family for node in ast.walk(one) if isinstance(node, ast.Attribute))
        attributes = {
            node.attr for node in found if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        }
        bound = {getattr(node, "name", "") for one in family for node in one.body}
        bound |= {node.id for one in family for node in own_nodes(one) if isinstance(node, ast.Name)}
        constants = (node.value for one in family for node in ast.walk(one) if isinstance(node, ast.Constant))
        return attributes | bound | {text for text in constants if isinstance(text, str)} | MODULE_NAMES

    # Lines

    def annotation(self, owner: Owner, name: str, indent: str) -> str:
        """`self.name: torch.Tensor`, where the class is typed: what `nn.Module` says of its attributes is less."""
        init = next(node for node in owner.kind.body if getattr(node, "name", "") == "__init__")
        spelling = self.module.imports.spelling("torch.Tensor")
        is_typed = isinstance(init, Function) and init.returns is not None
        return f"{self_of(init)}.{name}: {spelling}\n{indent}" if is_typed and spelling else ""

    def registration(self, tensor: ConstantTensor, owner: Owner, name: str, text: str, indent: str) -> str:
        init = next(node for node in owner.kind.body if getattr(node, "name", "") == "__init__")
        me, unit = self_of(init), self.module.indent_unit
        quote = "'" if self.module.text.count("'") > self.module.text.count('"') else '"'
        shown = f"{quote}{name}{quote}"
        torch = self.module.imports.spelling("torch") or "torch"
        plain = text.replace(f"{torch}.", "torch.")
        width = len(f"{indent}{me}.register_buffer({shown}, {plain}, persistent=False)".expandtabs(4))
        if "\n" not in text and width <= WIDTH:
            return f"{me}.register_buffer({shown}, {text}, persistent=False)"
        inner = indent + unit
        text = indented_like(self.module, tensor.node, text, inner)
        width = len(f"{inner}{shown}, {plain}, persistent=False".expandtabs(4))
        if "\n" not in text and width <= WIDTH:
            return f"{me}.register_buffer(\n{inner}{shown}, {text}, persistent=False\n{indent})"
        return f"{me}.register_buffer(\n{inner}{shown},\n{inner}{text},\n{inner}persistent=False,\n{indent})"

    def reads(self, tensor: ConstantTensor, owner: Owner, name: str) -> tuple[Edit, ...]:
        """The buffer is read where the tensor was made, or where the variable was that held it."""
        module, spelling = self.module, f"{owner.me}.{name}"
        variable = variable_of(module, tensor.node)
        statement = module.statement(tensor.node)
        mentions = module.scopes.names(module.scopes.of(variable), variable.id) if variable else []
        loads = [mention for mention in mentions if isinstance(mention.ctx, ast.Load)]
        is_short = 0 < len(loads) <= MOST_READS and all(self.can_read(owner, load) for load in loads)
        if variable is None or not is_short or not can_go(module, statement, loads):
            return (module.replace(tensor.node, spelling),)
        return (remove_line(module, statement), *(module.replace(load, spelling) for load in loads))

    def can_read(self, owner: Owner, load: ast.Name) -> bool:
        """Whether `self` means the same there, once for each call; positions in f-strings are not to be trusted."""
        return self.module.enclosing(load, *REPEATING) is owner.method

    # What must hold

    def caveat(self, tensor: ConstantTensor, owner: Owner) -> str:
        """What must hold for the buffer to be what the tensor was; empty if nothing is in doubt."""
        conditions = [self.place(tensor, owner)]
        if tensor.is_float:
            conditions.append("the module must not be cast (`.half()`, `.to(dtype)`), as a buffer is cast with it")
        if tensor.is_rounded and tensor.devices:
            conditions.append("it is computed where the module is made, and another device may round otherwise")
        if watcher := self.project.worked_out(WATCHED, lambda: first_watcher(self.project)):
            conditions.append(f"{watcher}, which must not mind one more buffer")
        return "; ".join(filter(None, conditions))

    def place(self, tensor: ConstantTensor, owner: Owner) -> str:
        if not tensor.devices:
            return "the tensor was made on the default device, a buffer is where its module is"
        for device in tensor.devices:
            if not self.is_own_device(device, owner):
                return f"`{self.module.code(device.node)}` must be the device that the module is on"
        return ""

    def is_own_device(self, device: Device, owner: Owner) -> bool:
        """Whether it is the device of a parameter of this module, or of what a layer with parameters made."""
        text = self.module.code(device.node)
        if places_itself(owner.kind):
            return False
        if re.fullmatch(
            rf"{owner.me}\.(?:\w+\.)?(?:weight|bias)\.device|next\({owner.me}\.parameters\(\)\)\.device", text
        ):
            return True
        value = device.node.value if isinstance(device.node, ast.Attribute) else None
        if not isinstance(value, ast.Name) or self.module.scopes.of(value) is not owner.method:
            return False
        bindings = self.module.scopes.bindings(value)
        return bool(bindings) and all(self.is_layer_output(owner, item.value) for item in bindings)

    def is_layer_output(self, owner: Owner, node: ast.expr | None) -> bool:
        func = node.func if isinstance(node, ast.Call) else None
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name) or func.value.id != owner.me:
            return False
        made = [setting.value for setting in attribute_settings(owner.kind, func.attr)]
        dotted = [self.module.resolve(value.func) or "" if isinstance(value, ast.Call) else "" for value in made]
        return bool(dotted) and all(is_reading_layer(name) and not name.endswith("Loss") for name in dotted)


def places_itself(kind: ast.ClassDef) -> bool:
    """Whether `__init__` may put parameters on a device of their own, where a buffer is not put too."""
    init = next((node for node in kind.body if getattr(node, "name", "") == "__init__"), kind)
    for node in ast.walk(init):
        if isinstance(node, ast.keyword) and node.arg in ("device", None):
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("to", "cuda"):
            return True
    return False


def reaches(node: ast.AST, name: str) -> bool:
    """Whether it is `super().__init__(...)`, or the call of the `__init__` of a class of this name."""
    if not isinstance(node, ast.Expr) or not is_init_call(node):
        return False
    owner = ast.unparse(node.value.func.value)  # type: ignore[attr-defined]
    return owner.startswith("super(") or owner.rpartition(".")[2] == name


def first_watcher(project: Project) -> str:
    """The first thing in a project that a buffer more may mean something to, with its file."""
    for path, match in project.matches(WATCHED):
        return f"{path} has `{match.group().decode().strip('.(')}`"
    return ""


def self_of(init: ast.AST) -> str:
    arguments = getattr(init, "args", None)
    return str([*arguments.posonlyargs, *arguments.args][0].arg) if arguments else "self"
