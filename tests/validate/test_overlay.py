"""The overlay: other bytes under the real paths, in a process of its own because it lasts for the whole process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SETUP = """
import base64, json, sys
sys.path.insert(0, {root!r})
from fullgraph.validate.worker.process.overlay import lay_over
encode = lambda data: None if data is None else base64.b64encode(data.encode()).decode()
lay_over({{path: encode(data) for path, data in json.loads({files!r}).items()}}, {keep!r})
sys.path.insert(0, {tree!r})
"""

PRINT_FAILURE = """
import m, traceback
try:
    m.f()
except ValueError:
    print(traceback.format_exc())
"""


def run(tree: Path, files: Mapping[str, str | None], code: str) -> subprocess.CompletedProcess[str]:
    laid = json.dumps({str(tree / path): data for path, data in files.items()})
    with tempfile.TemporaryDirectory() as scratch:
        program = SETUP.format(root=str(ROOT), files=laid, tree=str(tree), keep=f"{scratch}/overlay.json") + code
        return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tree, check=False)


def test_the_overlay_wins_over_the_disk(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("x = 1\n")
    assert run(tmp_path, {"m.py": "x = 2\n"}, "import m; print(m.x, m.__file__)").stdout.split() == [
        "2",
        str(tmp_path / "m.py"),
    ]


def test_nothing_is_written_and_old_byte_code_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("x = 1\n")
    writing = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", "import m"], cwd=tmp_path, env=writing, check=True)
    before = sorted(tmp_path.rglob("*"))
    assert before != [tmp_path / "m.py"]
    assert run(tmp_path, {"m.py": "x = 2\n"}, "import m; print(m.x)").stdout == "2\n"
    assert sorted(tmp_path.rglob("*")) == before


def test_a_traceback_shows_the_line_that_ran(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f():\n    pass\n")
    failed = run(tmp_path, {"m.py": "def f():\n\n    raise ValueError('boom')\n"}, PRINT_FAILURE)
    assert f'File "{tmp_path / "m.py"}", line 3, in f' in failed.stdout
    assert "    raise ValueError('boom')" in failed.stdout


def test_inspect_sees_the_overlay(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f():\n    return 1\n")
    shown = run(tmp_path, {"m.py": "def f():\n    return 2\n"}, "import m, inspect; print(inspect.getsource(m.f))")
    assert "return 2" in shown.stdout


def test_a_file_that_is_only_in_the_overlay_is_found(tmp_path: Path) -> None:
    files = {"fresh.py": "x = 3\n", "pkg/__init__.py": "", "pkg/inner.py": "y = 4\n"}
    assert run(tmp_path, files, "import fresh, pkg.inner; print(fresh.x, pkg.inner.y)").stdout == "3 4\n"


def test_a_file_that_was_not_there_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("x = 1\n")
    assert "ModuleNotFoundError: No module named 'm'" in run(tmp_path, {"m.py": None}, "import m").stderr


def test_a_tree_behind_a_link_is_laid_over_too(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "m.py").write_text("x = 1\n")
    (tmp_path / "link").symlink_to(real)
    code = f"sys.path.insert(0, {str(tmp_path / 'link')!r}); import m; print(m.x)"
    assert run(real, {"m.py": "x = 2\n"}, code).stdout == "2\n"


def test_a_declared_encoding_is_respected(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_bytes(b"# -*- coding: latin-1 -*-\nx = '\xe9'\n")
    files: dict[str, str | None] = {"m.py": "# -*- coding: utf-8 -*-\nx = 'ü'\n"}
    assert run(tmp_path, files, "import m; print(ascii(m.x))").stdout == "'\\xfc'\n"


def test_a_file_is_laid_over_under_all_its_names(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "m.py").write_text("x = 1\n")
    code = f"sys.path.insert(0, {str(package)!r}); import m, pkg.m; print(m.x, pkg.m.x, m is pkg.m)"
    assert run(tmp_path, {"pkg/m.py": "x = 2\n"}, code).stdout == "2 2 False\n"


def test_relative_imports_see_the_overlay(tmp_path: Path) -> None:
    package = tmp_path / "src" / "pkg"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .inner import x\n")
    (package / "inner.py").write_text("x = 1\n")
    code = f"sys.path.insert(0, {str(tmp_path / 'src')!r}); import pkg; print(pkg.x)"
    assert run(tmp_path, {"src/pkg/inner.py": "x = 2\n"}, code).stdout == "2\n"


def test_a_package_that_loses_its_file_is_still_a_namespace(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("raise RuntimeError\n")
    (tmp_path / "pkg" / "m.py").write_text("x = 1\n")
    assert run(tmp_path, {"pkg/__init__.py": None}, "import pkg.m; print(pkg.m.x)").stdout == "1\n"


def test_a_folder_that_is_only_in_the_overlay_is_a_namespace(tmp_path: Path) -> None:
    assert run(tmp_path, {"a/b/m.py": "x = 5\n"}, "import a.b.m; print(a.b.m.x)").stdout == "5\n"


def test_a_module_that_became_a_package_is_one_of_them_on_each_side(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("x = 'module'\n")
    shown = run(tmp_path, {"m.py": None, "m/__init__.py": "x = 'package'\n"}, "import m; print(m.x)")
    assert shown.stdout == "package\n"


def test_what_is_gone_here_is_found_further_down_the_path(tmp_path: Path) -> None:
    """As Python would, if the first of two were not there."""
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed" / "m.py").write_text("x = 'installed'\n")
    (tmp_path / "m.py").write_text("x = 'here'\n")
    code = f"sys.path.append({str(tmp_path / 'installed')!r}); import m; print(m.x)"
    assert run(tmp_path, {"m.py": None}, code).stdout == "installed\n"


def test_an_installed_copy_does_not_win_over_the_tree(tmp_path: Path) -> None:
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed" / "m.py").write_text("x = 'installed'\n")
    code = f"sys.path.append({str(tmp_path / 'installed')!r}); import m; print(m.x)"
    assert run(tmp_path, {"m.py": "x = 'fresh'\n"}, code).stdout == "fresh\n"


def test_a_file_that_is_run_as_a_script_is_laid_over(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("x = 1\n")
    code = f"import runpy; print(runpy.run_path({str(tmp_path / 'm.py')!r})['x'])"
    assert run(tmp_path, {"m.py": "x = 2\n"}, code).stdout == "2\n"


def test_a_python_that_is_started_sees_the_overlay(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("x = 1\n")
    code = "import subprocess; print(subprocess.check_output([sys.executable, '-c', 'import m; print(m.x)']).decode())"
    assert run(tmp_path, {"m.py": "x = 2\n"}, code).stdout.strip() == "2"


def test_a_python_that_is_started_still_has_its_own_customization(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.mine = 7\n")
    code = (
        "import os, subprocess; os.environ['PYTHONPATH'] += os.pathsep + os.getcwd(); "
        "print(subprocess.check_output([sys.executable, '-c', 'print(mine)']).decode())"
    )
    assert run(tmp_path, {}, code).stdout.strip() == "7"


def test_a_process_that_multiprocessing_spawns_sees_the_overlay(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f(x):\n    return x + 1\n")
    code = "import m, multiprocessing as mp; print(mp.get_context('spawn').Pool(1).map(m.f, [1]))"
    assert run(tmp_path, {"m.py": "def f(x):\n    return x + 2\n"}, code).stdout == "[3]\n"


def test_lines_are_shown_after_the_cache_was_cleared(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("x = 1\n")
    code = "import m, linecache; linecache.clearcache(); print(linecache.getline(m.__file__, 1))"
    assert run(tmp_path, {"m.py": "x = 2\n"}, code).stdout.strip() == "x = 2"


NEW_PACKAGE = {"pkg/new/__init__.py": "", "pkg/new/deep/mod.py": "x = 1\n"}


def put(tree: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)


def test_a_package_that_was_created_since_is_not_even_a_folder(tmp_path: Path) -> None:
    put(tmp_path, {"pkg/__init__.py": "", **NEW_PACKAGE, "pkg/new/__pycache__/x.pyc": ""})
    for name in ("pkg.new", "pkg.new.deep", "pkg.new.deep.mod"):
        done = run(tmp_path, dict.fromkeys(NEW_PACKAGE), f"import {name}")
        assert "ModuleNotFoundError: No module named 'pkg.new'" in done.stderr, name


def test_a_folder_without_init_that_was_created_since_is_no_namespace(tmp_path: Path) -> None:
    put(tmp_path, {"extra/mod.py": "x = 1\n"})
    code = "import importlib.util; print(importlib.util.find_spec('extra'))"
    assert "ModuleNotFoundError" in run(tmp_path, {"extra/mod.py": None}, "import extra").stderr
    assert "extra" in run(tmp_path, {}, code).stdout


def test_a_folder_with_anything_else_stays_a_namespace(tmp_path: Path) -> None:
    put(tmp_path, {"extra/mod.py": "x = 1\n", "extra/other.py": "y = 2\n"})
    code = "import extra.other; print(extra.other.y)\nimport extra.mod"
    done = run(tmp_path, {"extra/mod.py": None}, code)
    assert done.stdout == "2\n"
    assert "No module named 'extra.mod'" in done.stderr


def test_a_namespace_that_is_only_in_the_overlay_can_be_imported_by_importlib(tmp_path: Path) -> None:
    code = "import importlib; print(importlib.import_module('extra.deep.mod').x)"
    assert run(tmp_path, {"extra/deep/mod.py": "x = 5\n"}, code).stdout == "5\n"


def test_a_new_module_beside_others_is_found_by_a_relative_import(tmp_path: Path) -> None:
    put(tmp_path, {"pkg/__init__.py": "", "pkg/a.py": "x = 1\n"})
    files = {"pkg/a.py": "from .fresh import x\n", "pkg/fresh.py": "x = 7\n"}
    assert run(tmp_path, files, "import pkg.a; print(pkg.a.x)").stdout == "7\n"


def test_a_module_that_is_on_neither_side_hides_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, {"math.py": None}, "import math; print(math.floor(2.5))").stdout == "2\n"


def test_a_new_module_is_seen_by_a_process_that_user_code_starts(tmp_path: Path) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import fresh; print(fresh.x)'], check=True)"
    assert run(tmp_path, {"fresh.py": "x = 3\n"}, code).stdout == "3\n"
