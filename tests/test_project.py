"""Questions over all files of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.project import Project


def project(root: Path, files: dict[str, str]) -> Project:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Project(root, files)


def test_a_mention_is_a_whole_word_in_code_strings_or_comments(tmp_path: Path) -> None:
    found = project(
        tmp_path,
        {
            "a.py": "x.pairs = 1\n",
            "b.py": "pairs_2 = 1; mypairs = 2\n",
            "c.py": "getattr(x, 'pairs')\n",
            "d.py": "# pairs",
            "e.py": "repairs = 1\nx.pairs\n",
        },
    )
    assert found.mentions("pairs") == ["a.py", "c.py", "d.py", "e.py"]


def test_a_project_takes_over_what_was_parsed_of_files_that_have_not_changed(tmp_path: Path) -> None:
    before = project(tmp_path, {"a.py": "x = 1\n", "b.py": "x = 1\n", "c.py": "x = 1\n"})
    modules = {path: before.module(path) for path in before.files}
    assert before.mentions("x") == ["a.py", "b.py", "c.py"]
    (tmp_path / "a.py").write_text("y = 1\n")  # not said to have changed
    after = Project(tmp_path, before.files, {"b.py": b"y = 2\n"})
    after.remember(before, {"b.py"})
    assert after.module("a.py") is modules["a.py"]
    assert after.module("b.py") is not modules["b.py"]
    assert after.mentions("x") == ["a.py", "c.py"]
    later = Project(tmp_path, before.files)
    later.remember(after, {"a.py", "b.py"})
    assert later.mentions("x") == ["b.py", "c.py"]


def test_a_buffer_wins_over_the_disk(tmp_path: Path) -> None:
    on_disk = project(tmp_path, {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    edited = on_disk.laid_over({"b.py": b"x = 2\n"})
    assert edited.mentions("x") == ["a.py", "b.py"]
    assert on_disk.mentions("x") == ["a.py"]


def test_files_are_listed_for_a_question_that_goes_beyond_one(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    calls: list[int] = []
    lazy = Project(tmp_path, lambda: calls.append(1) or ["a.py"])  # type: ignore[func-returns-value]
    edited = lazy.laid_over({"b.py": b"x = 2\n"})
    edited.module("a.py")
    assert not calls
    assert edited.mentions("x") == ["a.py", "b.py"]
    assert lazy.mentions("x") == ["a.py"]
    assert len(calls) == 1


def test_a_module_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    found = project(tmp_path, {"a.py": "x = = 1\n"})
    with pytest.raises(SourceError):
        found.modules_mentioning("x")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/pkg/mod.py", "pkg.mod"),
        ("src/pkg/__init__.py", "pkg"),
        ("src/space/mod.py", "space.mod"),
        ("scripts/tool.py", "scripts.tool"),
        ("top.py", "top"),
        ("tests/test_a.py", "test_a"),
        ("flat/inner/mod.py", "flat.inner.mod"),
    ],
)
def test_a_file_is_imported_by_its_place(tmp_path: Path, path: str, name: str) -> None:
    packages = ["src/pkg/__init__.py", "flat/__init__.py", "flat/inner/__init__.py"]
    assert project(tmp_path, {**dict.fromkeys(packages, ""), path: ""}).module_name(path) == name


STRAY = {"src/__init__.py": "", "src/pkg/__init__.py": "", "src/pkg/mod.py": ""}


@pytest.mark.parametrize(
    ("files", "path", "name"),
    [
        ({**STRAY, "tests/test_a.py": "from pkg.mod import x\n"}, "src/pkg/mod.py", "pkg.mod"),
        ({**STRAY, "tests/test_a.py": "from src.pkg.mod import x\n"}, "src/pkg/mod.py", "src.pkg.mod"),
        ({**STRAY, "pytest.ini": "[pytest]\npythonpath = src\n"}, "src/pkg/mod.py", "pkg.mod"),
        (STRAY, "src/pkg/mod.py", "src.pkg.mod"),
        ({**STRAY, "a.py": "import pkg.mod\n"}, "src/__init__.py", "src"),
        ({**STRAY, "a.py": "import pkg.mod\n", "src2/pkg.py": ""}, "src2/pkg.py", "src2.pkg"),
        ({"code/pkg/mod.py": "", "code/__init__.py": "", "pytest.ini": "[pytest]\npythonpath=code"}, "", "pkg.mod"),
        ({"__init__.py": "", "setup.py": "", "pkg/mod.py": "", "a.py": "import pkg.mod\n"}, "pkg/mod.py", "pkg.mod"),
        ({"python/ns/mod.py": "", "pyproject.toml": '[tool.maturin]\npython-source = "python"\n'}, "", "ns.mod"),
        ({"a/b/mod.py": "", "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["a"]\n'}, "", "b.mod"),
        ({"a/b/mod.py": "", "pyproject.toml": '[tool.setuptools.package-dir]\n"" = "a"\n'}, "", "b.mod"),
        ({"a/b/mod.py": "", "pyproject.toml": '[tool.setuptools.packages.find]\nwhere = ["a"]\n'}, "", "b.mod"),
        ({"a/b/mod.py": "", "pyproject.toml": '[tool.setuptools.package-dir]\n"pkg" = "a/b"\n'}, "", "pkg.mod"),
        ({"a/b/mod.py": "", "pyproject.toml": '[[tool.poetry.packages]]\ninclude = "b"\nfrom = "a"\n'}, "", "b.mod"),
        ({"a/b/mod.py": "", "pyproject.toml": '[tool.uv.build-backend]\nmodule-root = "a"\n'}, "", "b.mod"),
        ({"a/b/mod.py": "", "pyproject.toml": "[tool.hatch.build.targets.wheel]\npackages = ['a/b']\n"}, "", "b.mod"),
        ({"a/b/mod.py": "", "setup.cfg": "[options]\npackage_dir =\n    = a\n"}, "", "b.mod"),
        ({"a/b/mod.py": "", "setup.cfg": "[options.packages.find]\nwhere = a\n"}, "", "b.mod"),
        ({"a/b/mod.py": "", "setup.py": "setup(package_dir={'': 'a'})\n"}, "", "b.mod"),
        ({"a/b/mod.py": "", "setup.py": "setup(packages=setuptools.find_packages('a'))\n"}, "", "b.mod"),
        ({"a/b/mod.py": "", "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['..', '/a']\n"}, "", "a.b.mod"),
        ({"a/b/mod.py": "", "pyproject.toml": "tool = 1\n"}, "", "a.b.mod"),
        ({"parts/one/src/one/mod.py": "", "parts/one/setup.py": ""}, "parts/one/src/one/mod.py", "one.mod"),
        ({"parts/one/mod.py": "", "parts/one/pyproject.toml": "[tool.ruff]\n"}, "", "parts.one.mod"),
    ],
)
def test_a_module_has_the_name_by_which_the_project_imports_it(
    tmp_path: Path, files: dict[str, str], path: str, name: str
) -> None:
    made = project(tmp_path, files)
    path = path or next(file for file in files if file.endswith("mod.py"))
    found = Project(tmp_path, [file for file in made.files if file.endswith(".py")])
    assert found.module_name(path) == name
    assert found.path_of(name) == path


def test_an_editable_install_beside_the_project_says_where_its_modules_are(tmp_path: Path) -> None:
    files = {"a/b/mod.py": "", ".venv/lib/python3.12/site-packages/_own.pth": f"import _x\n{tmp_path}/a\n"}
    assert project(tmp_path, files).module_name("a/b/mod.py") == "b.mod"


def test_a_name_that_rests_on_imports_is_not_kept_when_they_change(tmp_path: Path) -> None:
    files = {**STRAY, "a.py": "import pkg.mod\n"}
    before = project(tmp_path, files)
    assert before.is_named_by_imports("src/pkg/mod.py")
    assert before.module("src/pkg/mod.py").name == "pkg.mod"
    assert not before.is_named_by_imports("a.py")
    after = Project(tmp_path, before.files, {"a.py": b"import src.pkg.mod\n"})
    after.remember(before, {"a.py"})
    assert after.module("src/pkg/mod.py").name == "src.pkg.mod"


CHAIN = {
    "pkg/__init__.py": "",
    "pkg/a.py": "from pkg.b import thing\n",
    "pkg/b.py": "import pkg.c\n",
    "pkg/c.py": "def f():\n    from pkg import a\n",
    "pkg/typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pkg import a\n",
}


def test_an_import_that_closes_a_circle_is_seen(tmp_path: Path) -> None:
    found = project(tmp_path, CHAIN)
    assert found.would_cycle("pkg/c.py", "pkg/a.py")
    assert not found.would_cycle("pkg/a.py", "pkg/c.py")


def test_an_import_in_a_function_or_for_types_closes_no_circle(tmp_path: Path) -> None:
    found = project(tmp_path, CHAIN)
    assert not found.would_cycle("pkg/a.py", "pkg/typed.py")


def test_a_file_that_cannot_be_parsed_may_close_a_circle(tmp_path: Path) -> None:
    found = project(tmp_path, {**CHAIN, "pkg/broken.py": "import (\n", "pkg/d.py": "import pkg.broken\n"})
    assert found.would_cycle("pkg/a.py", "pkg/broken.py")
    assert found.would_cycle("pkg/a.py", "pkg/d.py")


def test_an_import_runs_every_package_on_the_way(tmp_path: Path) -> None:
    files = dict.fromkeys(["pkg/__init__.py", "pkg/deep/__init__.py", "pkg/deep/mod.py", "pkg/deep/other.py"], "")
    found = project(tmp_path, {**files, "top.py": "import pkg.deep.mod\n"})
    assert found.imported_by("top.py") == {"pkg/__init__.py", "pkg/deep/__init__.py", "pkg/deep/mod.py"}


@pytest.mark.parametrize(
    "text",
    [
        "if TYPE_CHECKING:\n    pass\nelse:\n    import other\n",
        "try:\n    import missing\nexcept ImportError:\n    import other\n",
        "try:\n    x = 1\nfinally:\n    import other\n",
        "with x:\n    import other\n",
        "class A:\n    import other\n",
    ],
)
def test_an_import_inside_a_statement_runs_too(tmp_path: Path, text: str) -> None:
    assert project(tmp_path, {"a.py": text, "other.py": ""}).imported_by("a.py") == {"other.py"}


def test_a_package_that_only_a_buffer_makes_is_one(tmp_path: Path) -> None:
    on_disk = project(tmp_path, {"tests/pkg/mod.py": ""})
    assert on_disk.module_name("tests/pkg/mod.py") == "tests.pkg.mod"
    assert on_disk.laid_over({"tests/pkg/__init__.py": b""}).module_name("tests/pkg/mod.py") == "pkg.mod"
