"""Checks that read the project's source with `ast`: who calls what, and inside what."""

from __future__ import annotations

from collections.abc import Sequence

from codemods.project import Project
from codemods.topics.regression_tests.file import Check, identifier

IMPORTS = ("import ast", "from collections.abc import Iterator", "from pathlib import Path")

SOURCE_FILES = '''
def source_files() -> Iterator[Path]:
    """Find the project's own files, without the tests."""
    for pattern in SOURCES:
        for file in sorted(ROOT.glob(pattern)):
            if Path(__file__).resolve().parent not in file.parents:
                yield file
'''

DIRECT_CALLS = '''
def direct_calls(file: Path, callees: set[str], allowed: set[str]) -> Iterator[str]:
    """Where a file calls one of the callees outside of the functions that may.

    A callee with a leading dot is an attribute of whatever object.
    """

    def visit(node: ast.AST, owner: str) -> Iterator[str]:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            owner = f"{owner}.{node.name}".lstrip(".")
        if owner in allowed:
            return
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in callees or f".{called.rpartition('.')[2]}" in callees:
                yield f"{file.relative_to(ROOT)}:{node.lineno}: {called}(...)"
        for child in ast.iter_child_nodes(node):
            yield from visit(child, owner)

    return visit(ast.parse(file.read_text(encoding="utf-8")), "")
'''

UNWRAPPED_CALLS = '''
def unwrapped_calls(file: Path, callee: str, wrapper: str) -> Iterator[str]:
    """Where a file calls the callee, or decorates with it, outside of the wrapper."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and names(node, wrapper):
            inside.update(node.args)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            decorators = node.decorator_list
            if any(names(decorator, wrapper) for decorator in decorators):
                inside.update(decorators)
            else:
                for decorator in decorators:
                    if not isinstance(decorator, ast.Call) and names(decorator, callee):
                        yield f"{file.relative_to(ROOT)}:{decorator.lineno}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and names(node, callee) and node not in inside:
            yield f"{file.relative_to(ROOT)}:{node.lineno}"
'''

NAMES = '''
def names(node: ast.AST, wanted: str) -> bool:
    """Whether a call, or what stands in its place, is of this name."""
    called = ast.unparse(node.func if isinstance(node, ast.Call) else node)
    return called == wanted or called.endswith(f".{wanted}")
'''


def no_direct_call(
    name: str, callees: Sequence[str], allowed: Sequence[str], sources: Sequence[str], tests: str
) -> Check:
    """No call of `name` is left but in the functions `allowed` (`Controller._run_scorer`) and what stands in them.

    `callees` are its spellings at a call: `.scorer` for an attribute of any object, `score` or `nets.score` exactly so.
    """
    body = f'''
def test_{identifier(name)}_is_called_through_its_boundary_only() -> None:
    """Every call goes through {in_prose(allowed)}."""
    files = list(source_files())
    assert files, "the folders in SOURCES have moved"
    callees = {as_set(callees)}
    allowed = {as_set(allowed)}
    assert [call for file in files for call in direct_calls(file, callees, allowed)] == []
'''
    return Check(body, IMPORTS, (*where(sources, tests), SOURCE_FILES, DIRECT_CALLS))


def every_call_wrapped(name: str, callee: str, wrapper: str, sources: Sequence[str], tests: str) -> Check:
    """Every call of `callee` (or decorator) is an argument of `wrapper`, or stands below it as a decorator."""
    body = f'''
def test_every_{identifier(callee)}_is_{identifier(name)}() -> None:
    """A new `{callee}` must go through `{wrapper}` too."""
    files = list(source_files())
    assert files, "the folders in SOURCES have moved"
    callee, wrapper = {as_text(callee)}, {as_text(wrapper)}
    assert [call for file in files for call in unwrapped_calls(file, callee, wrapper)] == []
'''
    return Check(body, IMPORTS, (*where(sources, tests), SOURCE_FILES, NAMES, UNWRAPPED_CALLS))


def where(sources: Sequence[str], tests: str) -> tuple[str, str]:
    """The project's root, seen from the tests folder, and the globs of its source below it."""
    depth = len(tests.split("/"))
    return f"ROOT = Path(__file__).resolve().parents[{depth}]", f"SOURCES = {as_list(sources)}"


def sources_of(project: Project, tests: str) -> tuple[str, ...]:
    """Globs for all Python files of the project that are no tests: by the folder at the root that they stand in."""
    own = [path for path in project.files if path.endswith(".py") and not path.startswith(f"{tests}/")]
    tops = sorted({path.partition("/")[0] for path in own if "/" in path} - {"tests", "test"})
    loose = ["*.py"] if any("/" not in path for path in own) else []
    return (*loose, *(f"{top}/**/*.py" for top in tops))


def as_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def as_set(items: Sequence[str]) -> str:
    return as_list(items, "{}") if items else "set()"


def as_list(items: Sequence[str], brackets: str = "[]") -> str:
    """A list as the formatter writes it: in one line, or with a line for each item."""
    inner = [as_text(item) for item in dict.fromkeys(items)]
    line = brackets[0] + ", ".join(inner) + brackets[1]
    if len(line) <= 70:
        return line
    pad = "    " if brackets == "{}" else ""
    return brackets[0] + "\n" + "".join(f"{pad}    {item},\n" for item in inner) + pad + brackets[1]


def in_prose(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else "".join(quoted) or "nothing"
