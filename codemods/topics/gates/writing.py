"""The gate around what is compiled, as a formatter would lay it out."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from codemods.codemod import Unsure
from codemods.imports import first_name, insert_import, insert_name
from codemods.model import Edit
from codemods.module import Module, position
from codemods.project import Project
from codemods.syntax.places import where
from codemods.syntax.signatures.width import is_too_long, shown_width, width_of
from codemods.topics.compiled_calls.home import best_folder, is_package, relative_origin
from codemods.topics.compiled_calls.requests import Form, Request
from codemods.topics.compiled_calls.writing import count_after, decorate, indented, inner_lines, is_over_lines
from codemods.topics.gates.gate_text import FILE, GATED, gate_text

LINE = rb"(?:^|[\r\n]|\xef\xbb\xbf)[ \t]*(?:from|import)[ \t]+"


def put_gate(request: Request, gated: str, flag: str, keywords: Sequence[str]) -> tuple[Edit, ...]:
    """The edits at the request itself."""
    module, name = request.module, f'"{flag}"'
    if request.form is Form.DECORATOR:
        return decorate(module, request.node, f"{gated}({name})")
    if request.form is Form.IN_PLACE:
        arguments = ", ".join([name, module.code(request.target), *keywords])
        return count_after(module, module.statement(request.node), f"{gated}({arguments})")
    return wrap(module, request.node, gated, name, keywords)


def wrap(module: Module, call: ast.expr, gated: str, name: str, keywords: Sequence[str]) -> tuple[Edit, ...]:
    """`gated("FLAG", torch.compile(...))`, on lines of its own where it has several or gets too long."""
    span, lines = module.span(call), inner_lines(module, module.span(call))
    head, tail = f"{gated}({name}, ", "".join(f", {keyword}" for keyword in keywords) + ")"
    is_long = bool(lines) or is_too_long(module, span.start, len(head) + len(tail))
    if not is_long or any(is_over_lines(node) for node in ast.walk(call)):
        return module.insert(span.start, head), module.insert(span.end, tail)
    indent, unit = module.indent(call), module.indent_unit
    inner = f"{indent}{unit}{name}, {module.code(call)}{tail[:-1]}"
    fits = not lines and shown_width(module, inner) <= width_of(module)
    line = f"\n{indent}{unit}"
    head = f"{gated}({line}{name}," + (" " if fits else line)
    behind = tail[:-1] if fits else "".join(f",{line}{keyword}" for keyword in keywords) + ","
    return (
        module.insert(span.start, head),
        *indented(module, lines),
        module.insert(span.end, f"{behind}\n{indent})"),
    )


def home_of(project: Project) -> str:
    """The path of the gate: as it is there, or at the top of the package that asks for the most compilation."""
    return project.worked_out(home_of, lambda: existing(project) or best_folder(project) + FILE)


def existing(project: Project) -> str:
    files = (path for path in project.files if path.rpartition("/")[2] == FILE)
    return next((path for path in files if f"def {GATED}(".encode() in project.read(path)), "")


def name_of_gate(project: Project) -> str:
    """The name under which the gate is imported; Unsure in a folder of which it is not seen how its files import."""
    home = home_of(project)
    folder, dotted = home.rpartition("/")[0], project.module_name(home)
    package = dotted.rpartition(".")[0]
    if not package or is_package(project, folder):
        return dotted
    if project.matches(re.compile(LINE + re.escape(package.encode()) + rb"\b")):
        return dotted
    neighbours = [path for path in project.files if path.rpartition("/")[0] == folder and path.endswith(".py")]
    stems = (path.rpartition("/")[2].removesuffix(".py").encode() for path in neighbours)
    alone = re.compile(LINE + rb"(?:" + b"|".join(map(re.escape, stems)) + rb")\b")
    if any(alone.search(project.read(path)) for path in neighbours):
        return dotted.rpartition(".")[2]
    raise Unsure(f"{home}:1: it is not seen how the files of {folder}/ import each other, without an __init__.py")


def make_gate(project: Project, retry_after: int) -> tuple[Edit, ...]:
    """The edit that creates the file; one that is there already may have been changed since, and stays."""
    return () if existing(project) else project.new_file(home_of(project), gate_text(retry_after))


def import_gate(module: Module, project: Project, use: ast.AST) -> tuple[str, tuple[Edit, ...]]:
    """How to write `gated` where it is to be used, with the edits that import it."""
    home = home_of(project)
    check_reach(module, project, home)
    dotted = name_of_gate(project)
    for node in (node for node in module.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))):
        if spelled := spelling(module, node, dotted):
            if position(node) > position(use):
                raise Unsure(f"{where(module, node)}: `{GATED}` is imported only here")
            return spelled, ()
    for binder in module.scopes.binders(GATED):
        raise Unsure(f"{where(module, binder)}: `{GATED}` means something else in this file")
    edit = import_edit(module, dotted)
    if edit.span.start > module.span(use).start:
        raise Unsure(
            f"{where(module, use)}: an import would come behind this line, which shares that of another import"
        )
    return GATED, (edit,)


def spelling(module: Module, node: ast.Import | ast.ImportFrom, dotted: str) -> str:
    """How `gated` is written after this import; the import of a package alone does not make its modules known."""
    for alias in node.names:
        meaning = alias.name if isinstance(node, ast.Import) else f"{module.imports.origin(node)}.{alias.name}"
        name = alias.asname or alias.name
        if meaning in (dotted, f"{dotted}.{GATED}") and module.resolve(first_name(name)):
            return name if meaning != dotted else f"{name}.{GATED}"
    return ""


def import_edit(module: Module, dotted: str) -> Edit:
    """One more name in an import of the gate's file; else a line, with dots where the file writes its own so."""
    for node in module.tree.body:
        if isinstance(node, ast.ImportFrom) and module.imports.origin(node) == dotted and node.names[0].name != "*":
            return insert_name(module, node, GATED)
    return insert_import(module, f"from {relative_origin(module, dotted) or dotted} import {GATED}", dotted)


def check_reach(module: Module, project: Project, home: str) -> None:
    """Raise unless the module can import the gate: a neighbour, its own package, or where it imports others from."""
    folder = home.rpartition("/")[0]
    is_near = module.path.rpartition("/")[0] == folder
    is_inside = is_package(project, folder) and module.path.startswith(f"{folder}/")
    inside = f"{folder}/" if folder else ""
    if not (is_near or is_inside or any(path.startswith(inside) for path in project.imported_by(module.path))):
        raise Unsure(f"{module.path}:1: {home} would be out of reach: nothing is imported from there")
