"""The functions that are added to a file: one that makes operators of messages, and one for each kind of message."""

from __future__ import annotations

import ast

from codemods.codemod import Unsure
from codemods.imports import is_bound_otherwise, statement_start
from codemods.model import Edit
from codemods.module import Function, Module
from codemods.syntax.disabled import IMPORTS, loads_torch
from codemods.syntax.placing import insert_at, insert_definition
from codemods.topics.messages.kinds import Kind

MARKERS = {"torch.compiler.assume_constant_result", "torch._dynamo.assume_constant_result"}
MAKER = "_in_graph"
# A comment comes first because insertions at one place are sorted: the maker must stand above what it decorates.
MAKER_TEXT = """\
# Messages in compiled code: as operators of their own they do not break the graph.
def _in_graph(emit):
{unit}import itertools

{unit}names = (f"{{emit.__name__}}_{{number}}" for number in itertools.count())
{unit}name = next(name for name in names if not hasattr({torch}.ops.messages, name))
{unit}numbers = itertools.count()
{unit}given = "int number, str[] order, str[] texts, Scalar[] numbers, Tensor[] tensors"
{unit}schema = f"({{given}}) -> Tensor"
{unit}kinds = {{{torch}.Tensor: "t", int: "n", float: "n", bool: "n", str: "s"}}
{unit}shown = (type(None), {torch}.dtype, {torch}.device, {torch}.Size, tuple, list)
{unit}sizes = {{{torch}.Size: "torch.Size([%s])", tuple: "(%s)", list: "[%s]"}}
{unit}tags = [{torch}.Tag.cudagraph_unsafe]

{unit}@{torch}.library.custom_op(
{unit}{unit}f"messages::{{name}}", mutates_args=(), schema=schema, tags=tags
{unit})
{unit}def operator(number, order, texts, numbers, tensors):
{unit}{unit}tensors = [one.clone() for one in tensors]  # records are kept, memory is not
{unit}{unit}values = {{"s": iter(texts), "n": iter(numbers), "t": iter(tensors)}}
{unit}{unit}take = lambda text: itertools.islice(values["n"], text.count("%s"))
{unit}{unit}fill = lambda text: text % tuple(take(text))
{unit}{unit}relay(*[next(values[kind]) if kind in values else fill(kind) for kind in order])
{unit}{unit}return {torch}.empty(0)  # one without a device would be run out of order

{unit}def relay(*args):  # its frame stands for the line of the message
{unit}{unit}call(*args)

{unit}@{torch}.compiler.assume_constant_result
{unit}def number():  # of two calls that are the same, one would be left out
{unit}{unit}return next(numbers)

{unit}def kind_of(arg):
{unit}{unit}if type(arg) in sizes and all([type(size) is int for size in arg]):
{unit}{unit}{unit}holes = ", ".join(["%s"] * len(arg))
{unit}{unit}{unit}holes += "," if type(arg) is tuple and len(arg) == 1 else ""
{unit}{unit}{unit}return sizes[type(arg)] % holes
{unit}{unit}return "s" if type(arg) in shown else kinds.get(type(arg), "?")

{unit}def call(*args):
{unit}{unit}if not {torch}.compiler.is_compiling() or {torch}.compiler.is_exporting():
{unit}{unit}{unit}return emit(*args)
{unit}{unit}args = [(True if arg else False) if type(arg) is bool else arg for arg in args]
{unit}{unit}order = [kind_of(arg) for arg in args]
{unit}{unit}if "?" in order:
{unit}{unit}{unit}return emit(*args)
{unit}{unit}texts = [str(arg) for arg, kind in zip(args, order) if kind == "s"]
{unit}{unit}tensors = [arg for arg, kind in zip(args, order) if kind == "t"]
{unit}{unit}rest = [(arg, kind) for arg, kind in zip(args, order) if kind not in ("s", "t")]
{unit}{unit}parts = [[arg] if kind == "n" else arg for arg, kind in rest]
{unit}{unit}figures = [size for part in parts for size in part]
{unit}{unit}operator(number(), order, texts, figures, tensors)

{unit}operator.register_fake(lambda *args: {torch}.empty(0))
{unit}{torch}.fx.node.has_side_effect(getattr({torch}.ops.messages, name).default)
{unit}return call"""
ONCE_TEXT = '''\
@{torch}.compiler.assume_constant_result
def {name}(message):
{unit}"""Emit a message once: in compiled code while it is traced, without a graph break."""
{unit}{emit}'''
KIND_TEXT = """\
@_in_graph
def {name}({parameters}):
{body}"""


def require_once(module: Module, kind: Kind, is_first: bool) -> tuple[str, tuple[Edit, ...]]:
    """The helper of a text that is emitted once, and the edits that add it.

    `is_first`: nothing comes before it, so that it may be said while the code is traced.
    """
    if not is_first:
        return require_kind(module, kind, False, "in_turn")
    torch, imported = require_torch(module)
    emit = kind.emit("message")
    text = ONCE_TEXT.format(torch=torch, name=kind.name, unit=module.indent_unit, emit=emit)
    if is_there(module, kind.name, text):
        return kind.name, ()
    return kind.name, insert_definition(module, text, {torch}, imported)


def require_kind(module: Module, kind: Kind, formatted: bool, condition: str) -> tuple[str, tuple[Edit, ...]]:
    """The helper of one kind of message, and the edits that add it with the maker of operators.

    `condition`: `if` or `unless` where the helper decides by its first argument, `in_turn` where it could be said
    while the code is traced and must not be, else nothing.
    """
    torch, imported = require_torch(module)
    name = "_".join(word for word in (kind.name, "formatted" if formatted else "", condition) if word)
    text = kind_text(module, kind, name, formatted, condition)
    maker = MAKER_TEXT.format(torch=torch, unit=module.indent_unit)
    if is_there(module, name, text):
        return name, ()
    if is_there(module, MAKER, maker):
        return name, insert_at(module, below(module, MAKER), text)
    *_, inserted = insert_definition(module, maker, {torch}, imported)
    *needed, added = insert_definition(module, text, {torch}, imported)
    if inserted.new_text.startswith("import"):
        raise Unsure(f"{module.path}: the import of torch would stand where the helper does")
    return name, (*needed, inserted, added)


def kind_text(module: Module, kind: Kind, name: str, formatted: bool, condition: str) -> str:
    given = ["values"] if kind.emitter == "print" and not formatted else ["message", "values"]
    if kind.function.endswith(".log"):
        given = ["level", *given]
    if kind.emitter == "warn" and not formatted:
        given = ["message"]
    given = [*(name for name, _ in kind.settings), *given]
    names = [f"*{one}" if one == "values" else one for one in given]
    shown = names[len(kind.settings) :]
    emit = kind.emit("message.format(*values)" if formatted else ", ".join(shown))
    unit = module.indent_unit
    tests = {"if": f"{unit}if condition:\n{unit}", "unless": f"{unit}if not condition:\n{unit}"}
    body = f"{tests.get(condition, '')}{unit}{emit}"
    return KIND_TEXT.format(
        name=name, parameters=", ".join((["condition"] if condition in tests else []) + names), body=body
    )


def is_there(module: Module, name: str, text: str) -> bool:
    """Whether the file has this very function already; Unsure where the name means anything else."""
    binders = module.scopes.binders(name)
    wanted = ast.dump(ast.parse(text).body[0])
    if len(binders) == 1 and binders[0] in module.tree.body and ast.dump(binders[0]) == wanted:
        return True
    if binders:
        raise Unsure(f"{module.path} uses the name {name} for something else")
    return False


def below(module: Module, name: str) -> int:
    """The start of the statement that follows a function of the top level."""
    body = module.tree.body
    at = next(number for number, node in enumerate(body) if getattr(node, "name", "") == name)
    if at + 1 == len(body):
        raise Unsure(f"{module.path}: nothing follows {name}")
    return module.line_start(statement_start(module, body[at + 1]))


def require_torch(module: Module) -> tuple[str, tuple[Edit, ...]]:
    """How torch is written here, with the edit that imports it by name where only parts of it are imported."""
    loads = [node for node in module.nodes(*IMPORTS) if loads_torch(module, node)]
    if not any(node in module.tree.body for node in loads):
        raise Unsure(f"{module.path}: torch is not imported for sure, at the top level")
    spelling, edits = module.imports.require("torch")
    if edits and (is_bound_otherwise(module, "torch") or module.imports.meanings.get("torch", {"torch"}) != {"torch"}):
        raise Unsure(f"the name torch means something else in {module.path}")
    return spelling, edits


def is_helper(module: Module, function: Function) -> bool:
    """Whether the function is one of those that are added here."""
    decorators = function.decorator_list
    made = any(isinstance(item, ast.Name) and item.id == MAKER for item in decorators)
    return made or any(module.resolve(item) in MARKERS for item in decorators)
