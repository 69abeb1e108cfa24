"""Who may import whom. Arrows point one way, and what is slow to import is imported where it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAVY = {
    *("libcst", "torch", "bowler", "fissix", "merge3", "platformdirs", "sqlite3"),
    *("markdown_it", "ftfy", "pygls", "lsprotocol", "dask", "distributed", "jinja2", "rich", "textual", "watchfiles"),
    *("mcp", "mcp_types", "anyio", "pydantic"),
}
LAZY = {"newer_syntax.py", "cache.py", "shelf.py", "app.py", "widgets.py"}
"""Modules whose whole purpose is the slow package; they are themselves imported where they are used."""

LAZY_ROOMS = {ROOT / "codemods" / "lsp", ROOT / "codemods" / "mcp"}
"""Rooms for which the same holds."""

PAYLOAD = ROOT / "codemods" / "payload"
"""What is written into users' projects."""

LAYERS = [
    "fullgraph.codemods.mcp",
    "fullgraph.codemods.api",
    "fullgraph.codemods.lsp",
    "fullgraph.codemods.ui",
    "fullgraph.codemods.tickets",
    "fullgraph.codemods.run",
    "fullgraph.codemods.executors",
    "fullgraph.codemods.rewrite",
    "fullgraph.codemods.foreign",
    "fullgraph.codemods.catalog",
    "fullgraph.codemods.topics",
    "fullgraph.codemods.syntax",
    "fullgraph.codemods",
]


def imports_of(file: Path, *, at_top: bool) -> Iterator[str]:
    tree = ast.parse(file.read_text())
    nodes = tree.body if at_top else list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def layer_of(name: str) -> int:
    return next(number for number, layer in enumerate(LAYERS) if name == layer or name.startswith(layer + "."))


def module_name(file: Path) -> str:
    return ".".join(("fullgraph", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


def test_nothing_imports_torch() -> None:
    """But what is written into users' projects, and only run there."""
    for file in set(sources("codemods")) - set(sources("codemods/payload")):
        names = {name.partition(".")[0] for name in imports_of(file, at_top=False)}
        assert "torch" not in names, file


def test_slow_packages_are_imported_where_they_are_used() -> None:
    for file in sources("codemods"):
        if file.name not in LAZY and not {*LAZY_ROOMS, PAYLOAD} & set(file.parents):
            names = {name.partition(".")[0] for name in imports_of(file, at_top=True)}
            assert not names & HEAVY, file


def test_a_room_imports_only_from_rooms_below_it() -> None:
    for file in sources("codemods"):
        for name in imports_of(file, at_top=True):
            if name.startswith("fullgraph.codemods"):
                assert layer_of(module_name(file)) <= layer_of(name), f"{file} imports {name}"


def test_the_validator_knows_nothing_of_codemods() -> None:
    for file in sources("validate"):
        assert not any("codemods" in name.split(".") for name in imports_of(file, at_top=False)), file


def test_modules_have_one_name() -> None:
    """In the repository `import codemods` would work, and load every module a second time under another name."""
    for folder in ("codemods", "validate", "tests", "scripts"):
        for file in sources(folder):
            names = {name.partition(".")[0] for name in imports_of(file, at_top=False)}
            assert not names & {"codemods", "validate"}, file


def test_help_loads_neither_the_validator_nor_tickets_nor_the_page() -> None:
    code = (
        "import sys, fullgraph.codemods.ui.cli; "
        "slow = ('fullgraph.validate', 'pygls', 'mcp', 'pydantic', *(f'fullgraph.codemods.{room}' for room in "
        "('lsp', 'mcp', 'executors', 'ui.verdict', 'ui.tickets', 'tickets'))); "
        "print([name for name in sys.modules if name.startswith(slow)])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_codemods_do_not_import_each_other() -> None:
    for file in sources("codemods/catalog"):
        own = module_name(file)
        for name in imports_of(file, at_top=False):
            assert not name.startswith("fullgraph.codemods.catalog.") or name == own, f"{file} imports {name}"


def test_the_worker_runs_on_python_3_9() -> None:
    """Under `from __future__ import annotations`, only annotations may join types with `|`."""
    for file in sources("validate/worker"):
        tree = ast.parse(file.read_text(), feature_version=(3, 9))
        annotations = {id(inner) for node in ast.walk(tree) for inner in annotated(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and id(node) not in annotations:
                sides = {ast.unparse(side) for side in (node.left, node.right)}
                assert not sides & {"None", "int", "str", "bytes", "float", "bool", "type"}, f"{file}:{node.lineno}"


def annotated(node: ast.AST) -> Iterator[ast.AST]:
    """Everything below the annotations that a node carries."""
    for name in ("annotation", "returns"):
        if isinstance(inner := getattr(node, name, None), ast.AST):
            yield from ast.walk(inner)
