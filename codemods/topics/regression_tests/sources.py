"""Checks that read the project's source with `ast`: who calls what, and inside what."""

from __future__ import annotations

from collections.abc import Sequence

from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.regression_tests.file import Check, identifier
from fullgraph.codemods.topics.regression_tests.layout import quoted

IMPORTS = ("import ast", "from collections.abc import Iterator", "from pathlib import Path")

SOURCE_FILES = '''
def source_files() -> Iterator[Path]:
    """Find the project's own files, without the tests."""
    for pattern in SOURCES:
        for file in sorted(ROOT.glob(pattern)):
            if Path(__file__).resolve().parent not in file.parents:
                yield file
'''

TREE_OF = '''
def tree_of(file: Path) -> ast.AST:
    """Parse a file; one that is no Python calls nothing."""
    try:
        return ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return ast.Module([], [])
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

    return visit(tree_of(file), "")
'''


def no_direct_call(
    name: str, callees: Sequence[str], allowed: Sequence[str], sources: Sequence[str], tests: str
) -> Check:
    """No call of `name` is left but in the functions `allowed` (`Controller._run_scorer`) and what stands in them.

    `callees` are its spellings at a call: `.scorer` for an attribute of any object, `score` or `nets.score` exactly so.
    """
    body = f"""
def test_{identifier(name)}_is_called_through_its_boundary_only() -> None:
{quoted(f"Every call goes through {in_prose(allowed)}.", "    ")}
    files = list(source_files())
    assert files, "the folders in SOURCES have moved"
    callees = {as_set(callees)}
    allowed = {as_set(allowed)}
    calls = [call for file in files for call in direct_calls(file, callees, allowed)]
    assert calls == []
"""
    return Check(body, IMPORTS, (*where(sources, tests), SOURCE_FILES, TREE_OF, DIRECT_CALLS))


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
    return brackets[0] + ", ".join(as_text(item) for item in dict.fromkeys(items)) + brackets[1]


def in_prose(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else "".join(quoted) or "nothing"
