"""The overlay: other bytes under the real paths, in a process of its own because it lasts for the whole process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SETUP = """
import base64, json, sys
sys.path.insert(0, {root!r})
from validate.worker.overlay import lay_over
files = json.loads({files!r})
lay_over({{p: None if data is None else base64.b64encode(data.encode()).decode() for p, data in files.items()}}, {keep!r})
sys.path.insert(0, {tree!r})
"""

PRINT_FAILURE = """
import m, traceback
try:
    m.f()
except ValueError:
    print(traceback.format_exc())
"""


def run(tree: Path, files: dict[str, str | None], code: str) -> subprocess.CompletedProcess[str]:
    laid = json.dumps({str(tree / path): data for path, data in files.items()})
    program = SETUP.format(root=str(ROOT), files=laid, tree=str(tree), keep=str(tree / "overlay.json")) + code
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
