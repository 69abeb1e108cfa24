"""Answers that outlive the process: which functions compiled code reaches. Never another one than without a shelf."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fullgraph.codemods.lasting import Shelf, lasting
from fullgraph.codemods.lsp.projects import LiveProject
from fullgraph.codemods.lsp.settings import ClientSettings
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite import shelf as shelves
from fullgraph.codemods.rewrite.shelf import DiskShelf
from fullgraph.codemods.rewrite.walk import Tree, walk
from fullgraph.codemods.topics.breaks import traced

FILES = {
    "pyproject.toml": "[project]\nname = 'sample'\n",
    "pkg/__init__.py": "",
    "pkg/model.py": "from pkg.parts import part\n\n\nclass Model:\n    def forward(self, x):\n        return part(x)\n",
    "pkg/parts.py": "def part(x):\n    return x\n\n\ndef other(x):\n    return x\n",
    "pkg/train.py": "import torch\nfrom pkg.model import Model\n\nmodel = torch.compile(Model())\n",
    "pkg/lonely.py": "import torch\n\n\ndef alone(x):\n    return x\n",
}
REACHED = {"Model.forward", "part"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FULLGRAPH_CACHE", str(tmp_path / "cache"))
    for path, text in FILES.items():
        write(tmp_path / "project", path, text)
    return tmp_path / "project"


@pytest.fixture
def worked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How often the answer was really worked out."""
    times: list[str] = []
    original = traced.reached

    def reached(project: Project) -> object:
        times.append("worked out")
        return original(project)

    monkeypatch.setattr(traced, "reached", reached)
    return times


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def reached(root: Path, overlay: Mapping[str, bytes] | None = None, shelf: Shelf | None = None) -> set[str]:
    """What a new process with this shelf, or the disk's, would say."""
    tree = Tree(root)
    walk(tree, root)
    project = Project(root, {*tree.entries, *(overlay or {})}, overlay, shelf or DiskShelf(root))
    plain = Project(root, project.files, overlay)
    found = {symbol for _, symbol in traced.regions_of(project)}
    assert found == {symbol for _, symbol in traced.regions_of(plain)}, "the shelf never changes an answer"
    return found


def test_a_second_process_parses_nothing(root: Path, worked: list[str]) -> None:
    assert reached(root) == REACHED
    worked.clear()
    project = Project(root, [path for path in FILES if path.endswith(".py")], shelf=DiskShelf(root))
    assert {symbol for _, symbol in traced.regions_of(project)} == REACHED
    assert (worked, project.given) == ([], {})


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("pkg/parts.py", "def part(x):\n    return other(x)\n\n\ndef other(x):\n    return x\n", {*REACHED, "other"}),
        ("pkg/train.py", "import torch\n", set()),
        ("pkg/lonely.py", "import torch\n\n\n@torch.compile\ndef alone(x):\n    return x\n", {*REACHED, "alone"}),
        ("pkg/new.py", "import torch\nfrom pkg.parts import other\n\nf = torch.compile(other)\n", {*REACHED, "other"}),
        ("pkg/parts.py", "def part(x:\n", {"Model.forward"}),
    ],
    ids=["a call", "no request", "a request in a file that was not parsed", "a new file", "a syntax error"],
)
def test_every_edit_that_changes_the_reach_is_seen(root: Path, path: str, text: str, expected: set[str]) -> None:
    assert reached(root) == REACHED
    write(root, path, text)
    assert reached(root) == expected


def test_a_file_that_goes_or_stops_being_a_package_is_seen(root: Path) -> None:
    assert reached(root) == REACHED
    (root / "pkg/parts.py").rename(root / "pkg/bits.py")
    assert reached(root) == {"Model.forward"}
    (root / "pkg/bits.py").rename(root / "pkg/parts.py")
    assert reached(root) == REACHED


def test_a_getter_in_a_file_that_was_not_parsed_counts(root: Path) -> None:
    held = "class Held:\n    def value(self):\n        return 1\n"
    write(root, "pkg/model.py", FILES["pkg/model.py"].replace("part(x)", "part(x) + Held().value"))
    write(root, "pkg/parts.py", FILES["pkg/parts.py"] + "\n\n" + held)
    write(root, "pkg/model.py", (root / "pkg/model.py").read_text().replace("import part", "import Held, part"))
    assert reached(root) == REACHED
    write(
        root,
        "pkg/parts.py",
        (root / "pkg/parts.py").read_text().replace("    def value", "    @property\n    def value"),
    )
    assert reached(root) == {*REACHED, "Held.value"}


def test_an_edit_that_has_nothing_to_do_with_it_costs_nothing(root: Path, worked: list[str]) -> None:
    reached(root)
    worked.clear()
    write(root, "pkg/lonely.py", FILES["pkg/lonely.py"] + "\n\ndef more(x):\n    return alone(x)\n")
    assert reached(root) == REACHED
    assert len(worked) == 1, "only the project without a shelf"


def test_a_buffer_that_is_not_saved_wins_and_takes_nothing_from_the_disk(root: Path, worked: list[str]) -> None:
    reached(root)
    assert reached(root, {"pkg/train.py": b"import torch\n"}) == set()
    worked.clear()
    assert reached(root) == REACHED
    assert len(worked) == 1, "only the project without a shelf"


def test_the_language_server_sees_edits_in_buffers(root: Path, worked: list[str]) -> None:
    live = LiveProject(root, ClientSettings())

    def look(text: str) -> set[str]:
        return {symbol for _, symbol in traced.regions_of(live.laid_over({"pkg/parts.py": text.encode()}))}

    other = FILES["pkg/parts.py"].replace("return x", "return other(x)", 1)
    assert look(FILES["pkg/parts.py"]) == REACHED
    assert look(other) == {*REACHED, "other"}
    worked.clear()
    assert look(FILES["pkg/parts.py"]) == REACHED
    assert live.project is not None
    lonely = {"pkg/parts.py": FILES["pkg/parts.py"].encode(), "pkg/lonely.py": b"import torch\n"}
    assert {symbol for _, symbol in traced.regions_of(live.laid_over(lonely))} == REACHED
    assert worked == [], "neither an old text nor another file makes it work again"


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\0" * 200])
def test_a_broken_file_is_no_shelf(root: Path, content: bytes) -> None:
    reached(root)
    DiskShelf(root).file.write_bytes(content)
    assert reached(root) == REACHED
    assert reached(root) == REACHED


@pytest.mark.parametrize("held", ["", "[", "null", "[]", '{"parsed": 3}', '{"parsed": [3], "grounds": "x"}', "\xff"])
def test_a_foreign_row_is_no_answer(root: Path, held: str) -> None:
    reached(root)
    with sqlite3.connect(DiskShelf(root).file) as database:
        database.execute("update kept set held = ?", (held,))
    assert reached(root) == REACHED


def test_a_table_of_another_shape_and_a_folder_in_the_way_are_no_shelf(root: Path) -> None:
    file = DiskShelf(root).file
    file.parent.mkdir(parents=True)
    with sqlite3.connect(file) as database:
        database.execute("create table kept (other text)")
    assert reached(root) == REACHED
    file.unlink()
    file.mkdir()
    assert reached(root) == REACHED


def test_a_cache_folder_that_is_a_file_is_no_shelf(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLGRAPH_CACHE", str(root / "pyproject.toml"))
    assert reached(root) == REACHED


def test_another_fullgraph_asks_again(root: Path, worked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    reached(root)
    worked.clear()
    monkeypatch.setattr(shelves, "fingerprint_of_code", lambda codemods: "newer")
    assert reached(root) == REACHED
    assert len(worked) == 2


def test_many_at_once_are_in_nobodys_way(root: Path) -> None:
    def ask(number: int) -> set[str]:
        tree = Tree(root)
        walk(tree, root)
        overlay = {"pkg/lonely.py": b"import torch\n"} if number % 2 else {}
        return {symbol for _, symbol in traced.regions_of(Project(root, tree.entries, overlay, DiskShelf(root)))}

    with ThreadPoolExecutor(8) as pool:
        assert all(found == REACHED for found in pool.map(ask, range(24)))
    assert 1 <= len(DiskShelf(root).get("reached")) <= shelves.KEPT


def test_without_a_shelf_nothing_is_kept(root: Path) -> None:
    traced.regions_of(Project(root, [path for path in FILES if path.endswith(".py")]))
    assert not DiskShelf(root).file.exists()


# Grounds


class Held:
    """A shelf in memory."""

    def __init__(self) -> None:
        self.answers: list[object] = []

    def get(self, what: str) -> list[object]:
        return list(self.answers)

    def put(self, what: str, held: object) -> None:
        self.answers.insert(0, held)


def says_compile(path: str, raw: bytes) -> str:
    return "compiles" if b"compile" in raw else ""


def asked_of(root: Path, files: list[str], shelf: Held, meanwhile: Callable[[], None] = lambda: None) -> bool:
    """Whether the answer about `pkg/parts.py` had to be worked out."""
    project = Project(root, files, shelf=shelf)
    worked_out: list[int] = []

    def work_out() -> int:
        worked_out.append(len(project.module("pkg/parts.py").tree.body))
        meanwhile()
        return worked_out[0]

    lasting(project, "size", work_out, says_compile)
    return bool(worked_out)


def test_a_file_that_is_saved_while_an_answer_is_worked_out_asks_again(root: Path) -> None:
    """The answer is about the text that was parsed, and not about what is on the disk by then."""
    shelf = Held()
    assert asked_of(root, ["pkg/parts.py"], shelf, lambda: write(root, "pkg/parts.py", "x = 1\n"))
    assert asked_of(root, ["pkg/parts.py"], shelf)
    assert not asked_of(root, ["pkg/parts.py"], shelf)


def test_a_module_that_gets_another_name_asks_again(root: Path) -> None:
    shelf, files = Held(), ["pkg/parts.py", "tests/inner/test_a.py"]
    write(root, "tests/inner/test_a.py", "x = 1\n")
    assert asked_of(root, files, shelf)
    write(root, "tests/inner/__init__.py", "")
    assert asked_of(root, files, shelf)


def test_the_same_note_of_another_file_asks_again(root: Path) -> None:
    shelf, files = Held(), ["pkg/lonely.py", "pkg/model.py", "pkg/parts.py"]
    write(root, "pkg/lonely.py", "compile\n")
    assert asked_of(root, files, shelf)
    write(root, "pkg/lonely.py", "")
    write(root, "pkg/model.py", "compile\n")
    assert asked_of(root, files, shelf)
