"""The folders that a project imports from, handed to whatever runs its code."""

from __future__ import annotations

from pathlib import Path

from fullgraph.codemods.source_roots import import_folders
from fullgraph.validate.scenario import read_scenario
from tests.rewrite.running import write_files

POETRY = '[tool.poetry]\npackages = [{include = "pkg", from = "python"}]\n'


def test_a_scenario_is_run_with_the_folders_that_the_project_imports_from(tmp_path: Path) -> None:
    write_files(tmp_path, {"pyproject.toml": POETRY, "python/pkg/__init__.py": "", "src/a.py": "", "step.py": ""})
    scenario = read_scenario(str(tmp_path / "step.py"), tmp_path, import_folders(tmp_path))
    assert scenario.imports == tuple(str(tmp_path / name) for name in ("python", "src", "."))


def test_lib_is_on_the_path_where_packages_stand_in_it(tmp_path: Path) -> None:
    write_files(tmp_path, {"lib/pkg/__init__.py": "", "other/x.py": ""})
    assert import_folders(tmp_path) == [tmp_path / "lib", tmp_path]
    write_files(tmp_path, {"lib/__init__.py": ""})
    assert import_folders(tmp_path) == [tmp_path]
