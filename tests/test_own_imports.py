"""What codemods import from a project's own modules works wherever Python is started, once the project is installed."""

from __future__ import annotations

import ast
import json
import os
import re
from pathlib import Path

import pytest

from fullgraph import Project
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.source_roots import import_folders
from tests.cases import Case, all_cases
from tests.rewrite.running import write_files
from tests.zygote import TORCH

PROGRAM = """
import json, sys
path, package, statement = json.loads(sys.argv[1])
sys.path[:0] = path
exec(statement, {"__package__": package, "__name__": "something"})
"""
IMPORT = "import {}"
Files = dict[str, bytes]


def own_imports(case: Case) -> list[tuple[str, str]]:
    """The imports from the project's own modules that the case adds, each with its file."""
    project = Project(Path("/nowhere"), [path for path in case.after if path.endswith(".py")], case.after)
    found = []
    for path in project.files:
        try:
            module = project.module(path)
        except SourceError:
            continue
        there = imports_in(case.before.get(path, b"").decode(errors="replace"))
        nodes = [node for node in module.nodes(ast.Import, ast.ImportFrom) if ast.unparse(node) not in there]
        found += [(path, ast.unparse(node)) for node in nodes if is_own(module, project, node)]
    return found


def imports_in(text: str) -> set[str]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return set()
    return {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))}


def is_own(module: Module, project: Project, node: ast.Import | ast.ImportFrom) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [module.imports.origin(node)]
    beside = {f"{module.path.rpartition('/')[0]}/{name}.py".lstrip("/") for name in names}
    return any(project.path_of(name) for name in names) or bool(beside & {*project.files})


def install(root: Path, site: Path, before: Files) -> None:
    """What an installation would put on the path: packages, flat files, and folders that the project imports from."""
    site.mkdir()
    for child in (child for folder in import_folders(root) for child in sorted(folder.iterdir())):
        is_imported = re.compile(rf"^\s*(?:from|import)\s+{re.escape(child.name)}\b".encode(), re.M).search
        is_package = (child / "__init__.py").is_file() or any(map(is_imported, before.values()))
        if (child.suffix == ".py" or is_package) and not (site / child.name).exists():
            os.symlink(child, site / child.name)


def run(side: Path, path: str, statement: str) -> str:
    """What goes wrong when the statement runs as if it stood in the file; nothing if all is well."""
    root, site, program = side / "root", side / "site", side / "run.py"
    project = Project(root, [file.relative_to(root).as_posix() for file in root.rglob("*.py")])
    package = project.package_name(path.rpartition("/")[0])
    is_script = not package or not (site / package.partition(".")[0]).exists()
    folders = [*([str((root / path).parent)] if is_script else []), str(site)]
    program.write_text(PROGRAM)
    name = Path(path).stem if is_script else project.module_name(path)
    given = json.dumps([folders, package, statement.format(name)])
    done = TORCH.run([str(program), given], side, 60)
    return done.stderr.strip().rpartition("\n")[2] if done.returncode else ""


IMPORTING = [case for case in all_cases() if case.is_changing and own_imports(case)]


@pytest.mark.parametrize("case", IMPORTING, ids=lambda case: case.name)
def test_an_import_that_is_written_works_outside_the_root(case: Case, tmp_path: Path) -> None:
    for name, files in {"before": case.before, "after": case.after}.items():
        write_files(tmp_path / name / "root", files)
        install(tmp_path / name / "root", tmp_path / name / "site", case.before)
    for path, statement in own_imports(case):
        assert run(tmp_path / "after", path, statement) == "", f"{path}: {statement}"
        if path in case.before and (problem := run(tmp_path / "after", path, IMPORT)):
            assert run(tmp_path / "before", path, IMPORT) == problem, path
