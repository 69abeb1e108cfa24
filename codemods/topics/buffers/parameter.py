"""The parameter that says where a class makes its tensors: its type, its place, and its entry in the docstring."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.signatures.argument_docs import document_parameter
from fullgraph.codemods.syntax.signatures.constructions import parameter_of, parameters_of
from fullgraph.codemods.syntax.signatures.constructor import Setting, require_settings
from fullgraph.codemods.topics.buffers.moves import keeps_given
from fullgraph.codemods.topics.buffers.owner import Buffers

OLD_NAMES = ("Optional", "Union", "List", "Dict", "Tuple")


def take_parameter(project: Project, buffers: Buffers, name: str, is_stored: bool) -> list[Edit]:
    """What lets the class take the device; nothing if it does already."""
    module, owner = buffers.module, buffers.owner
    if parameter_of(module, owner, name) is None:
        annotation, imports = annotation_of(buffers)
        setting = Setting(name, annotation, "None", is_stored=is_stored)
        return [*imports, *require_settings(module, project, owner, [setting]), *document(buffers, name)]
    if is_stored and not keeps_given(buffers, name):
        raise Unsure(f"{where(module, owner)}: {owner.name} takes `{name}`, and does not keep it as it is")
    return []


def document(buffers: Buffers, name: str) -> tuple[Edit, ...]:
    """The entry of the parameter, if the class or its `__init__` documents the one before it."""
    module, owner, entry = buffers.module, buffers.owner, buffers.entry
    text = "where to make the tensors; None is torch's default device"
    scopes = [owner, *([entry] if entry and not buffers.is_dataclass else [])]
    last = [one.name for one in parameters_of(module, owner)][-1:]
    found = (document_parameter(module, scope, one, name, "torch.device", text) for one in last for scope in scopes)
    return next(filter(None, found), ())


def annotation_of(buffers: Buffers) -> tuple[str, tuple[Edit, ...]]:
    """The parameter's type in the words of the file, and the import that it needs; empty where the others have none."""
    module, entry = buffers.module, buffers.entry
    noted = [node.annotation for node in ast.walk(entry.args) if isinstance(node, ast.arg)] if entry else []
    if not buffers.is_dataclass and not any((*noted, entry and entry.returns)):
        return "", ()
    device = module.imports.spelling("torch.device")
    if not is_old_style(module):
        return (f"{device} | str | None" if device else "str | None"), ()
    optional, imported = module.imports.require("typing", "Optional")
    return f"{optional}[{device or 'str'}]", imported


def is_old_style(module: Module) -> bool:
    """Whether annotations are written, and may be evaluated, as before Python 3.10."""
    is_lazy = module.imports.spelling("__future__.annotations") is not None
    from_typing = any(module.imports.spelling(f"typing.{name}") for name in OLD_NAMES)
    return from_typing and not is_lazy and not any(is_union(node) for node in module.nodes(ast.BinOp))


def is_union(node: ast.BinOp) -> bool:
    return isinstance(node.op, ast.BitOr) and any(getattr(side, "value", 0) is None for side in (node.left, node.right))
