"""Whether a condition can change: what it reads, who sets that, and what would have to run first."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import Binding, position
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.effects.answers import impurity
from fullgraph.codemods.syntax.heirs import heirs
from fullgraph.codemods.syntax.places import Place, where
from fullgraph.codemods.syntax.replaced import place

VOLATILE = {"training"}
FIXED = {"type", "index"}
"""Attributes that nobody can set: those of a `torch.device`."""

ANSWERS = {
    *("torch.cuda.is_available", "torch.cuda.is_bf16_supported", "torch.backends.mps.is_available", "torch.device"),
    *("torch.xpu.is_available", "torch.amp.is_autocast_available", "torch.amp.autocast_mode.is_autocast_available"),
}
"""Functions of torch that answer the same as long as the program runs."""

TEXT_METHODS = {"startswith", "endswith", "lower", "upper", "strip", "split", "partition"}
BUILTINS = ("bool", "str", "isinstance", "hasattr", "getattr", "len", "any", "all", "int", "float")
EXITS = (ast.Return, ast.Continue, ast.Break, ast.Raise)
BUILDERS = ("__init__", "__post_init__", "__new__")


WHOLESALE = re.compile(
    rb"(?:\.__dict__|\bvars\([^()\n]*\))\s*(?:\.(?:update|setdefault|pop|clear)\(|\[[^\]\n]*\]\s*=(?!=))"
)
"""Attributes that are set without their names."""

CATCHING = {"AttributeError", "TypeError", "Exception", "BaseException"}


def is_computed(decision: ast.expr | None) -> bool:
    """Whether a condition is more than a value that is read."""
    while isinstance(decision, ast.UnaryOp) and isinstance(decision.op, ast.Not):
        decision = decision.operand
    while isinstance(decision, (ast.Attribute, ast.Subscript)):
        decision = decision.value
    return decision is not None and not isinstance(decision, (ast.Name, ast.Constant))


def is_settled(project: Project, module: Module, decision: ast.expr) -> bool:
    """Whether everything that the condition asks answers the same the next time, as far as what it reads stays."""
    return not any(
        isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda))
        or (isinstance(node, ast.Attribute) and node.attr in VOLATILE)
        or (isinstance(node, ast.Call) and not answers_again(project, module, node))
        for node in ast.walk(decision)
    )


def answers_again(project: Project, module: Module, call: ast.Call) -> bool:
    dotted = module.resolve(call.func)
    if dotted in ANSWERS or module.scopes.is_builtin(call.func, *BUILTINS):
        return True
    if dotted is None and isinstance(call.func, ast.Attribute) and call.func.attr in TEXT_METHODS:
        return True
    return Definitions(project).called(module, call) is not None


def check_pure(project: Project, module: Module, decision: ast.expr) -> None:
    """Raise if the condition calls a function of the project that does more than read."""
    for node in ast.walk(decision):
        is_own = isinstance(node, ast.Call) and Definitions(project).called(module, node) is not None
        if is_own and (doubt := impurity(project, module, node)):  # type: ignore[arg-type]
            raise Unsure(doubt.text)


def attributes(project: Project, module: Module, decision: ast.expr) -> set[str]:
    """The attributes that a condition reads, also through properties and functions of the project."""
    return attributes_below(Definitions(project), module, decision, set()) - FIXED - TEXT_METHODS


def attributes_below(names: Definitions, module: Module, root: ast.AST, seen: set[ast.AST]) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(root):
        if isinstance(node, ast.Attribute) and (module.resolve(node) or "").partition(".")[0] != "torch":
            found.add(node.attr)
        run = names.called(module, node) if isinstance(node, ast.Call) else names.read(module, node)
        if run and run.node not in seen:
            found |= attributes_below(names, run.module, ast.Module(run.node.body, []), seen | {run.node})
    return found


def check_settled(project: Project, module: Module, decision: ast.expr) -> None:
    """Raise for an attribute in the condition that anything but a constructor sets, or that nothing sets."""
    names = sorted(attributes(project, module, decision))
    if names and (found := project.matches(WHOLESALE)):
        raise Unsure(f"{place(*found[0])}: may set `{names[0]}`")
    for name in names:
        kinds = owners(project, module, decision, name)
        places = list(settings(project, name))
        if not places:
            raise Unsure(f"{where(module, decision)}: nothing in this project sets `{name}`")
        for setting in places:
            if not is_built(setting) and not is_unrelated(project, setting, kinds):
                raise Unsure(f"{setting}: `{ast.unparse(setting.node)}` is set here too")


def check_globals(module: Module, decision: ast.expr) -> None:
    """Raise for a variable of the module that is bound at several places."""
    for name in names_in(decision):
        bindings = module.scopes.bindings(name)
        if module.scopes.of(name) is module.tree and len(bindings) > 1:
            raise Unsure(f"{where(module, bindings[-1].node)}: `{name.id}` is bound again")


def settings(project: Project, name: str) -> Iterator[Place[ast.AST]]:
    """Everything in the project that gives an attribute of this name a value or a meaning."""
    try:
        paths = [path for path in project.mentions(name) if may_set(project.read(path), name)]
        modules = [project.module(path) for path in paths]
    except SourceError as error:
        raise Unsure(f"{error}: it may set `{name}`") from error
    for module in modules:
        for node in module.unordered(ast.Attribute, ast.AnnAssign, ast.Assign, *FUNCTIONS, ast.Call):
            if sets(module, node, name):
                yield Place(module, node)


def may_set(raw: bytes, name: str) -> bool:
    """Whether a text has anything that looks like setting or defining an attribute: most only read it."""
    word = re.escape(name.encode())
    looks = (
        rb"\.%s\b[^=\n(]*=(?!=)" % word,
        rb"(?m)^\s*[\w.]+\.%s,?\s*$" % word,
        rb"\b(?:for|as|del)\b[^\n]*\.%s\b" % word,
        rb"(?<![\w.])%s\s*[:=]" % word,
        rb"\bdef\s+%s\b" % word,
        rb"\b(?:set|del)attr\b",
    )
    text = raw.replace(b"\r", b"\n")
    return any(re.search(look, text) for look in looks)


def sets(module: Module, node: ast.AST, name: str) -> bool:
    in_class = isinstance(module.parent(node), ast.ClassDef)
    if isinstance(node, ast.Attribute):
        return node.attr == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.AnnAssign):
        return in_class and getattr(node.target, "id", "") == name
    if isinstance(node, ast.Assign):
        return in_class and any(getattr(target, "id", "") == name for target in node.targets)
    if isinstance(node, FUNCTIONS):
        return in_class and node.name == name
    is_setattr = isinstance(node, ast.Call) and module.scopes.is_builtin(node.func, "setattr", "delattr")
    return is_setattr and len(node.args) > 1 and getattr(node.args[1], "value", name) == name  # type: ignore[attr-defined]


def is_built(place: Place[ast.AST]) -> bool:
    """Whether it is a field, a property, or set by the constructor on the object itself."""
    module, node = place
    if isinstance(node, (ast.AnnAssign, ast.Assign)):
        return True
    if isinstance(node, FUNCTIONS):
        return not any(ast.unparse(item).endswith((".setter", ".deleter")) for item in node.decorator_list)
    function = module.enclosing(node, *FUNCTIONS)
    if not isinstance(node, ast.Attribute) or function is None or function.name not in BUILDERS:
        return False
    first = [*function.args.posonlyargs, *function.args.args][:1]
    return bool(first) and isinstance(node.value, ast.Name) and node.value.id == first[0].arg


def owners(project: Project, module: Module, decision: ast.expr, name: str) -> set[ast.AST] | None:
    """The project's classes whose attribute the condition reads, with their kin; None if one is not known."""
    names = Definitions(project)
    found: set[ast.AST] = set()
    reads = [node for node in ast.walk(decision) if isinstance(node, ast.Attribute) and node.attr == name]
    for node in reads:
        kind = names.instance(module, node.value)
        if kind is None or not isinstance(kind.node, ast.ClassDef):
            return None
        found |= {place.node for place in names.lineage(kind)}
        found |= {heir for _, heir in heirs(project, kind.node)}
    return found or None


def is_unrelated(project: Project, place: Place[ast.AST], kinds: set[ast.AST] | None) -> bool:
    """Whether what is set belongs to objects of another class for sure."""
    if kinds is None or not isinstance(place.node, ast.Attribute):
        return False
    kind = Definitions(project).instance(place.module, place.node.value)
    return kind is not None and kind.node not in kinds


# What would have to run first


def check_bound(module: Module, decision: ast.expr, before: ast.stmt) -> None:
    """Raise for a variable that may have no value yet just before a statement."""
    for name in names_in(decision):
        bindings = module.scopes.bindings(name)
        scope = module.scopes.of(name)
        is_outer = scope is not module.scopes.around(before)
        if bindings and not is_outer and not any(is_sure(module, binding, before) for binding in bindings):
            raise Unsure(f"{where(module, bindings[0].node)}: `{name.id}` may have no value before the loop")


def is_sure(module: Module, binding: Binding, before: ast.stmt) -> bool:
    """Whether the binding has happened whenever the statement is reached."""
    if binding.how == "argument" or isinstance(module.parent(binding.node), ast.arguments):
        return True
    statement = module.statement(binding.node)
    block = module.block(statement)
    reached = [before, *module.ancestors(before)]
    return position(statement) < position(before) and any(node in block for node in reached)


def check_guards(module: Module, decision: ast.AST, site: ast.AST, outer: ast.AST) -> None:
    """Raise if the condition is evaluated only after a test of what it looks into, which may be what allows it."""
    looked_into = {ast.unparse(node.value) for node in ast.walk(decision) if isinstance(node, ast.Attribute)}
    if looked_into and (attempt := prepared_try(module, site, outer)):
        raise Unsure(f"{where(module, attempt)}: the `try` may be meant for the condition")
    for test in guards(module, site, outer):
        for node in ast.walk(test):
            is_owner = isinstance(module.parent(node), ast.Attribute)
            if isinstance(node, (ast.Name, ast.Attribute)) and not is_owner and ast.unparse(node) in looked_into:
                raise Unsure(f"{where(module, test)}: `{ast.unparse(test)}` is tested first")


def guards(module: Module, node: ast.AST, outer: ast.AST) -> Iterator[ast.expr]:
    """The tests that decide whether a node is reached, up to a statement or function around it."""
    child: ast.AST = node
    for parent in module.ancestors(node):
        if isinstance(parent, (ast.If, ast.While)) and child is not parent.test:
            yield parent.test
        for block in (getattr(parent, field, []) for field in ("body", "orelse", "finalbody")):
            if isinstance(block, list) and child in block:
                yield from early_exits(block[: block.index(child)])
        if parent is outer:
            return
        child = parent


def prepared_try(module: Module, node: ast.AST, outer: ast.AST) -> ast.Try | None:
    """A `try` around a node, up to a statement around it, that catches what looking into None raises."""
    child: ast.AST = node
    for parent in module.ancestors(node):
        if isinstance(parent, ast.Try) and child in parent.body:
            types = [handler.type for handler in parent.handlers]
            names = {getattr(part, "id", "") for kind in types if kind for part in ast.walk(kind)}
            if None in types or names & CATCHING:
                return parent
        if parent is outer:
            return None
        child = parent
    return None


def check_not_none(module: Module, decision: ast.expr) -> None:
    """Raise for a parameter that the condition looks into and that may be None: a loop without rounds does not."""
    owners = (node.value for node in ast.walk(decision) if isinstance(node, ast.Attribute))
    for name in (node for node in owners if isinstance(node, ast.Name)):
        for binding in module.scopes.bindings(name):
            given = [binding.value, binding.annotation, default_of(module, binding.node)]
            if any(item is not None and speaks_of_none(item) for item in given):
                raise Unsure(f"{where(module, binding.node)}: `{name.id}` may be None before the loop")


def speaks_of_none(node: ast.expr) -> bool:
    parts = list(ast.walk(node))
    is_none = any(isinstance(part, ast.Constant) and part.value is None for part in parts)
    return is_none or any(getattr(part, "id", getattr(part, "attr", "")) == "Optional" for part in parts)


def default_of(module: Module, argument: ast.AST) -> ast.expr | None:
    """What a parameter is where nothing is given for it."""
    given = module.parent(argument)
    if not isinstance(given, ast.arguments):
        return None
    plain = [*given.posonlyargs, *given.args][::-1]
    found = [*zip(plain, given.defaults[::-1], strict=False), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return next((default for one, default in found if one is argument), None)


def early_exits(statements: list[ast.stmt]) -> Iterator[ast.expr]:
    for statement in statements:
        leaves = isinstance(statement, ast.If) and any(isinstance(inner, EXITS) for inner in ast.walk(statement))
        if isinstance(statement, ast.Assert) or leaves:
            yield statement.test  # type: ignore[attr-defined]


def names_in(node: ast.AST) -> list[ast.Name]:
    return [inner for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)]
