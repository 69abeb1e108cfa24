"""The functions that are added to a file, one for each kind of message, and the file that makes operators of them."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import is_bound_otherwise
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.payload import payload
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.disabled import IMPORTS, loads_torch
from fullgraph.codemods.syntax.placing import insert_definition
from fullgraph.codemods.topics.compile_requests.home import defines, is_package, top_folder
from fullgraph.codemods.topics.compile_requests.importing import import_wrapper
from fullgraph.codemods.topics.messages.kinds import Kind

MARKERS = {"torch.compiler.assume_constant_result", "torch._dynamo.assume_constant_result"}
MAKER, FILE = "in_graph", "in_graph.py"
ONCE_TEXT = '''\
@{torch}.compiler.assume_constant_result
def {name}({parameters}){result}:
{unit}"""Emit a message once: in compiled code while it is traced, without a graph break."""
{unit}{emit}'''
KIND_TEXT = """\
@{maker}
def {name}({parameters}){result}:
{body}"""
TYPES = {"message": "str", "*values": "object", "level": "int", "condition": "object", "sep": "str", "end": "str"}


def require_once(module: Module, project: Project, kind: Kind, is_first: bool) -> tuple[str, tuple[Edit, ...]]:
    """The helper of a text that is emitted once, and the edits that add it.

    `is_first`: nothing comes before it, so that it may be said while the code is traced.
    """
    if not is_first:
        return require_kind(module, project, kind, False, "in_turn")
    torch, imported = require_torch(module)
    parameters, result = signature(module, ["message"])
    text = ONCE_TEXT.format(
        torch=torch,
        name=kind.name,
        parameters=parameters,
        result=result,
        unit=module.indent_unit,
        emit=kind.emit("message"),
    )
    if is_there(module, kind.name, text):
        return kind.name, ()
    return kind.name, insert_definition(module, text, {torch}, imported)


def require_kind(
    module: Module, project: Project, kind: Kind, formatted: bool, condition: str
) -> tuple[str, tuple[Edit, ...]]:
    """The helper of one kind of message, and the edits that add it, with the file of the maker and its import.

    `condition`: `if` or `unless` where the helper decides by its first argument, `in_turn` where it could be said
    while the code is traced and must not be, else nothing.
    """
    check_loads_torch(module)
    name = "_".join(word for word in (kind.name, "formatted" if formatted else "", condition) if word)
    maker, imports, created = require_maker(module, project)
    text = kind_text(module, kind, name, maker, formatted, condition)
    if is_there(module, name, text):
        return name, ()
    *elsewhere, added = insert_definition(module, text, {maker.partition(".")[0]}, imports)
    if added.new_text.lstrip().startswith(("import", "from")):
        raise Unsure(f"{module.path}: the import of {MAKER} would stand where the helper does")
    return name, (*elsewhere, added, *created)


def require_maker(module: Module, project: Project) -> tuple[str, tuple[Edit, ...], tuple[Edit, ...]]:
    """How to write the maker of operators here, the edits that import it, and the one that creates its file."""
    if module.path.endswith(".ipynb"):
        raise Unsure(f"{module.path}: a notebook has no package for {FILE}")
    home = home_of_maker(module, project)
    maker, imports = import_wrapper(module, project, home, MAKER, module.tree.body[-1])
    created = () if defines(project, home, MAKER) else project.new_file(home, payload(FILE))
    return maker, imports, created


def home_of_maker(module: Module, project: Project) -> str:
    """The path of the maker's file: at the top of the module's package, or of one that a script imports."""
    folder = top_folder(project, module.path)
    tops = [folder, *sorted({top_folder(project, path) for path in project.imported_by(module.path)})]
    home = next((top for top in tops if is_package(project, top[:-1])), folder)
    moved = (path for path in project.files if path.startswith(home) and path.endswith(f"/{FILE}"))
    return next((path for path in moved if defines(project, path, MAKER)), home + FILE)


def kind_text(module: Module, kind: Kind, name: str, maker: str, formatted: bool, condition: str) -> str:
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
    parameters, result = signature(module, (["condition"] if condition in tests else []) + names)
    return KIND_TEXT.format(maker=maker, name=name, parameters=parameters, result=result, body=body)


def signature(module: Module, names: list[str]) -> tuple[str, str]:
    """The parameters of a helper and what stands behind them, with types in a file that has some."""
    functions = module.nodes(ast.FunctionDef, ast.AsyncFunctionDef)
    if not any(function.returns for function in functions):
        return ", ".join(names), ""
    return ", ".join(f"{name}: {TYPES[name]}" for name in names), " -> None"


def is_there(module: Module, name: str, text: str) -> bool:
    """Whether the file has this very function already; Unsure where the name means anything else."""
    binders = module.scopes.binders(name)
    if len(binders) == 1 and binders[0] in module.tree.body and untyped(binders[0]) == untyped(ast.parse(text).body[0]):
        return True
    if binders:
        raise Unsure(f"{module.path} uses the name {name} for something else")
    return False


def untyped(node: ast.AST) -> tuple[list[str], list[str]]:
    """What a function takes and does, whatever its annotations say."""
    if not isinstance(node, ast.FunctionDef):
        return [], []
    names = [argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
    return names, [ast.dump(each) for each in (*node.decorator_list, *node.body)]


def require_torch(module: Module) -> tuple[str, tuple[Edit, ...]]:
    """How torch is written here, with the edit that imports it by name where only parts of it are imported."""
    check_loads_torch(module)
    spelling, edits = module.imports.require("torch")
    if edits and (is_bound_otherwise(module, "torch") or module.imports.meanings.get("torch", {"torch"}) != {"torch"}):
        raise Unsure(f"the name torch means something else in {module.path}")
    return spelling, edits


def check_loads_torch(module: Module) -> None:
    loads = [node for node in module.nodes(*IMPORTS) if loads_torch(module, node)]
    if not any(node in module.tree.body for node in loads):
        raise Unsure(f"{module.path}: torch is not imported for sure, at the top level")


def is_helper(module: Module, function: Function) -> bool:
    """Whether the function is one of those that are added here."""
    return is_made(module, function) or any(module.resolve(item) in MARKERS for item in function.decorator_list)


def is_made(module: Module, function: Function) -> bool:
    """Whether the maker has made an operator of the function."""
    return any((module.resolve(item) or "").endswith(f".{MAKER}") for item in function.decorator_list)
