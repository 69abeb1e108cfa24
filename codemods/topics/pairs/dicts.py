"""Which dicts of a module are keyed by pairs of ints and hold tensors: annotated so, or filled so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import FUNCTIONS
from fullgraph.codemods.topics.pairs.annotations import arguments, meaning, pair_table, unquoted
from fullgraph.codemods.topics.pairs.owners import Family
from fullgraph.codemods.topics.pairs.shapes import OWN_KEY, is_int_pair
from fullgraph.codemods.topics.pairs.sites import attribute_uses, global_uses, local_uses
from fullgraph.codemods.topics.pairs.uses import Use, classify, contents, settled
from fullgraph.codemods.topics.pairs.values import Values

NO_TENSORS = {"torch.device", "torch.Generator", "torch.Size", "torch.dtype", "torch.compile", "torch.no_grad"}
VAGUE = {"typing.Any", "object"}


@dataclass(frozen=True)
class PairDict:
    """One dict: where it is defined, and whose it is."""

    project: Project
    module: Module
    node: ast.expr
    name: str
    kind: Literal["local", "global", "attribute"]
    scope: ast.AST
    annotation: ast.expr | None = None

    def uses(self) -> list[Use]:
        """Every use in the project, those of the defining file first."""
        if self.kind == "local":
            found = local_uses(self.module, self.scope, self.name)
        elif self.kind == "global":
            found = global_uses(self.project, self.module, self.name)
        else:
            found = attribute_uses(self.project, self.family, self.name)
        found.sort(key=lambda use: (use.module is not self.module, use.module.path, use.node.lineno))
        return settled(found)

    @property
    def family(self) -> Family:
        assert isinstance(self.scope, ast.ClassDef)
        return Family(self.project, self.module, self.scope)


def pair_dicts(module: Module, project: Project) -> Iterator[PairDict]:
    """The dicts that are defined in this module, each once, at its first definition."""
    seen: set[tuple[ast.AST, str]] = set()
    for statement in module.nodes(ast.AnnAssign):
        found = annotated(module, project, statement)
        if found and (found.scope, found.name) not in seen:
            seen.add((found.scope, found.name))
            yield found
    plains = [node for node in module.nodes(ast.Assign) if len(node.targets) == 1 and makes_dict(node.value)]
    mentions = mentions_by_name(module) if plains else {}
    for plain in plains:
        nearby = mentions.get(mention(plain.targets[0]), [])
        if nearby and may_be_filled(module, plain.value, nearby):
            found = placed(module, project, plain.targets[0])
            if found and (found.scope, found.name) not in seen:
                seen.add((found.scope, found.name))
                if is_filled_with_pairs(found, nearby):
                    yield found


def placed(module: Module, project: Project, target: ast.expr, said: ast.expr | None = None) -> PairDict | None:
    """The dict that is bound by this target: a local, a global, or an attribute of the class around."""
    if isinstance(target, ast.Name):
        scope = module.scopes.of(target)
        if isinstance(scope, ast.ClassDef):
            return PairDict(project, module, target, target.id, "attribute", scope, said)
        kind: Literal["local", "global"] = "local" if isinstance(scope, FUNCTIONS) else "global"
        return PairDict(project, module, target, target.id, kind, scope, said)
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
        owner = module.enclosing(target, ast.ClassDef)
        return PairDict(project, module, target, target.attr, "attribute", owner, said) if owner else None
    return None


def annotated(module: Module, project: Project, statement: ast.AnnAssign) -> PairDict | None:
    code = module.code(statement.annotation)
    said = unquoted(statement.annotation) if "ict[" in code or "apping[" in code else None
    if said is None or not (says_tensor(module, said) or any(says_anything(module, part) for part in ast.walk(said))):
        return None
    table = pair_table(module, said, project)
    if table is None:
        return None
    found = placed(module, project, statement.target, statement.annotation)
    if found is None or is_second_name(module, statement):
        return None
    value = unquoted(arguments(table[0])[1])
    if value is None or not (says_tensor(module, value) or says_anything(module, value)):
        return None
    return (
        found
        if says_tensor(module, value) or holds_tensors(nearby_uses(found, module.nodes(ast.Name, ast.Attribute)))
        else None
    )


def is_second_name(module: Module, statement: ast.AnnAssign) -> bool:
    """`local: dict[...] = self.other` names a dict that is defined elsewhere."""
    is_new = statement.value is None or contents(module, statement.value) is not None
    return not is_new and isinstance(statement.value, (ast.Name, ast.Attribute))


def says_tensor(module: Module, annotation: ast.expr) -> bool:
    """Whether a type is made of tensors, parameters or modules."""
    for node in ast.walk(annotation):
        name = meaning(module, node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if name and name.startswith("torch.") and (name.endswith("Tensor") or name.startswith("torch.nn.")):
            return True
    return False


def says_anything(module: Module, annotation: ast.AST) -> bool:
    return meaning(module, annotation) in VAGUE


def holds_tensors(uses: list[Use]) -> bool:
    """Whether some value that is put in is made by a call of torch."""
    return any(makes_tensor(use.module, value) for use in uses for value in use.values)


def makes_tensor(module: Module, value: ast.expr) -> bool:
    for node in ast.walk(value):
        name = meaning(module, node.func) if isinstance(node, ast.Call) else None
        if name and name.startswith("torch.") and name not in NO_TENSORS:
            home = name.rpartition(".")[0]
            if home in ("torch", "torch.nn") or home.startswith("torch.nn."):
                return True
    return False


def mentions_by_name(module: Module) -> dict[str, list[ast.expr]]:
    """The names and attributes of a module by how they are written."""
    found: dict[str, list[ast.expr]] = {}
    for node in module.nodes(ast.Name, ast.Attribute):
        found.setdefault(mention(node), []).append(node)
    return found


def makes_dict(value: ast.expr) -> bool:
    """Whether an expression looks like a new dict."""
    is_call = isinstance(value, ast.Call) and mention(value.func) in ("dict", "defaultdict", "OrderedDict")
    return is_call or isinstance(value, (ast.Dict, ast.DictComp))


def may_be_filled(module: Module, value: ast.expr, nearby: list[ast.expr]) -> bool:
    """Whether a new dict gets keys that look like pairs, in this file: a quick look, before any name is followed."""
    keys = [s.slice for node in nearby if isinstance(s := module.parent(node), ast.Subscript) and s.value is node]
    if isinstance(value, ast.Dict):
        keys += [key for key in value.keys if key]
    elif isinstance(value, ast.DictComp):
        keys.append(value.key)
    return any(isinstance(key, (ast.Name, ast.Tuple)) for key in keys) and not any(is_no_pair(key) for key in keys)


def mention(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def is_no_pair(key: ast.expr) -> bool:
    if isinstance(key, ast.Tuple):
        return len(key.elts) != 2 or any(isinstance(part, (ast.Slice, ast.Starred)) for part in key.elts)
    return isinstance(key, (ast.Constant, ast.JoinedStr, ast.Slice))


def is_filled_with_pairs(found: PairDict, nearby: list[ast.expr]) -> bool:
    """Whether every key that is put into an unannotated dict is seen to be a pair of ints, and a value a tensor.

    The file of the definition is asked first: it rules out nearly all dicts. When another file cannot be read, what
    is seen there counts.
    """
    try:
        return are_pairs(found, settled(nearby_uses(found, nearby))) and are_pairs(found, found.uses())
    except SourceError:
        return True


def nearby_uses(found: PairDict, nodes: list[ast.expr]) -> list[Use]:
    """Which of these nodes, in the file of the definition, are uses of the dict."""
    return [classify(found.module, node) for node in nodes if is_mention(found, node)]


def is_mention(found: PairDict, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return node.id == found.name and found.module.scopes.of(node) is found.scope
    return found.kind == "attribute" and mention(node) == found.name


def are_pairs(found: PairDict, uses: list[Use]) -> bool:
    writes = [use for use in uses if use.writes]
    if not writes or any(use.annotation for use in uses) or not holds_tensors(uses):
        return False
    values = Values(found.project, {use.node for use in uses if use.kind != "escape"})
    shapes = [values.shape(use.module, key) for use in writes for key in use.keys]
    return all(is_int_pair(shape) for shape in shapes) and any(shape != OWN_KEY for shape in shapes)
