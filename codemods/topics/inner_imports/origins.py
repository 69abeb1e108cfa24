"""Where an imported module comes from, and what importing it earlier would mean."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project, running_imports
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.inner_imports.checks import IMPORTS, Import
from fullgraph.codemods.topics.inner_imports.known import comes_with_torch, is_standard

QUIET = {
    *("logging.getLogger", "typing.TypeVar", "typing.NewType", "collections.namedtuple", "re.compile", "pathlib.Path"),
    *("torch.device", "dataclasses.field", "enum.auto", "typing_extensions.TypeVar", "typing.ParamSpec"),
}
MANY = 60
QUIET_BUILTINS = (
    "frozenset",
    "set",
    "dict",
    "list",
    "tuple",
    "int",
    "float",
    "str",
    "len",
    "range",
    "object",
    "sorted",
)


class OptionalError(Unsure):
    """A package that may be missing: an import at the top of the file would make it mandatory."""


def doubt_about(module: Module, project: Project, node: Import) -> str:
    """Why importing the module earlier may be felt; empty where it cannot. Unsure where it must not be."""
    doubts = [doubt_about_module(module, project, node, dotted, names) for dotted, names in modules_of(module, node)]
    return "; ".join(dict.fromkeys(filter(None, doubts)))


def modules_of(module: Module, node: Import) -> list[tuple[str, list[str]]]:
    """Each module that an import loads, with the names that it takes from it."""
    if isinstance(node, ast.Import):
        return [(alias.name, []) for alias in node.names]
    return [(module.imports.origin(node), [alias.name for alias in node.names])]


def doubt_about_module(module: Module, project: Project, node: Import, dotted: str, names: list[str]) -> str:
    if is_imported_at_top(module, dotted, names):
        return ""
    if paths := own_paths(module, project, dotted, names):
        return doubt_about_own(module, project, paths)
    if is_standard(dotted):
        return ""
    for line in module.tree.body:
        if not isinstance(line, IMPORTS) and touches_surroundings(line):
            raise Unsure(f"{where(module, line)}: sets up what later imports need")
    top = dotted.partition(".")[0]
    if is_imported_at_top(module, top, []):
        if top == "torch" and comes_with_torch(dotted, names):
            return ""
        if dotted.startswith("torch.distributed"):
            raise OptionalError(f"{where(module, node)}: not every torch is built with {dotted}")
        return f"{dotted} would be loaded with this file, not by the first call"
    if found := loaded_already(module, project, top):
        return f"importing this file would load {top} itself, as so far {found} does for it"
    raise OptionalError(f"{where(module, node)}: importing this file does not load {top} so far: it may be missing")


def is_imported_at_top(module: Module, dotted: str, names: list[str]) -> bool:
    """Whether the file imports this very module, or one below it, at its top for sure."""
    for node in module.tree.body:
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = module.imports.origin(node)
            found = [origin, *(f"{origin}.{alias.name}" for alias in node.names)]
        else:
            continue
        loaded = any(name == dotted or name.startswith(dotted + ".") for name in found)
        if loaded and (isinstance(node, ast.Import) or dotted != "torch.utils"):
            return not names or names_are_there(dotted, names)
    return False


def names_are_there(dotted: str, names: list[str]) -> bool:
    """Whether no name may be a submodule that is still to be loaded."""
    if dotted.partition(".")[0] == "torch":
        return comes_with_torch(dotted, names)
    return is_standard(dotted) or all(not name.islower() for name in names)


def loaded_already(module: Module, project: Project, top: str) -> str:
    """A file that importing this one runs anyway, and that imports the package at its top for sure."""
    inits = [f"{folder}/__init__.py" for folder in map(str, PurePosixPath(module.path).parents) if folder != "."]
    todo = [*(path for path in inits if path in project.files), *sorted(project.imported_by(module.path))]
    for path in todo:
        if path != module.path and imports_at_top(project, path, top):
            return path
        if len(todo) < MANY:
            todo += [other for other in sorted(project.imported_by(path)) if other not in todo]
    return ""


def imports_at_top(project: Project, path: str, top: str) -> bool:
    try:
        other = project.module(path)
    except SourceError:
        return False
    imports = [node for node in other.tree.body if isinstance(node, IMPORTS)]
    return any(name.partition(".")[0] == top for node in imports for name, _ in modules_of(other, node))


def touches_surroundings(statement: ast.stmt) -> bool:
    """Whether a statement at the top level changes where modules are found, or what they see when they load."""
    text = ast.unparse(statement) if isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign, ast.If)) else ""
    return "sys.path" in text or "os.environ" in text or "putenv" in text


# The project's own modules


def own_paths(module: Module, project: Project, dotted: str, names: list[str]) -> list[str]:
    """The files of the project that the import runs; packages around this file run anyway."""
    parts = dotted.split(".")
    prefixes = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    around = f"{module.name}."
    wanted = [name for name in prefixes if name == dotted or not around.startswith(f"{name}.")]
    wanted += [f"{dotted}.{name}" for name in names]
    return list(dict.fromkeys(path for name in wanted if (path := project.path_of(name))))


def doubt_about_own(module: Module, project: Project, paths: list[str]) -> str:
    wanted = closure(project, set(paths), module.path)
    loaded = closure(project, project.imported_by(module.path), "")
    fresh = [path for path in wanted if path not in loaded]
    for path in fresh:
        if (line := does_work(project.module(path))) is not None:
            raise Unsure(f"{path}:{line}: does more than define when it is imported")
    return f"importing this file would import {', '.join(fresh[:3])}" if fresh else ""


def closure(project: Project, paths: set[str], importer: str) -> list[str]:
    """The files that importing these runs; Unsure if the importer is among them, or if they are too many to follow."""
    found: dict[str, None] = {}
    todo = [(path, path) for path in sorted(paths)]
    while todo:
        path, first = todo.pop(0)
        if path == importer:
            raise Unsure(f"{first}: imports this file in turn, so that the two would import each other")
        if path not in found:
            if len(found) >= MANY:
                raise Unsure(f"{first}: imports more files than are followed here, perhaps this one in turn")
            found[path] = None
            todo += [(other, first) for other in sorted(project.imported_by(path))]
    return list(found)


def does_work(module: Module) -> int | None:
    """The line of the first statement at the top level that does more than define and import."""
    quiet = {id(node) for node in running_imports(module.tree.body)}
    for node in module.tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or id(node) in quiet:
            continue
        if isinstance(node, ast.If) and ("TYPE_CHECKING" in ast.dump(node.test) or "__name__" in ast.dump(node.test)):
            continue
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)) and is_quiet(module, node):
            continue
        return node.lineno
    return None


def is_quiet(module: Module, node: ast.stmt) -> bool:
    calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
    return all(
        (module.resolve(call.func) or "") in QUIET or module.scopes.is_builtin(call.func, *QUIET_BUILTINS)
        for call in calls
    )
