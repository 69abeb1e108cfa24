"""Load a third party's file and make codemods of ours from what it holds. What goes wrong is one clear line."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.foreign.blame import in_one_line
from fullgraph.codemods.foreign.queries import held_back, queries_in
from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.plain_file import read_plain

BOWLER = ("bowler", "fissix")


def load_codemods(path: Path) -> list[type[Codemod]]:
    """The codemods in a file: ours, LibCST's and Bowler's. Each has the file as its `origin`.

    The file is imported under a name of its own, with its folder importable and its prints on stderr. It cannot run
    Bowler: see `held_back`.
    """
    path = path.absolute()
    tree, code = read(path)
    with complaints(path), alone(path), held_back() as executed, redirect_stdout(sys.stderr):
        module = run(path, code)
        kinds = [*own(module, path), *libcst(module, path), *bowler(module, tree, path, executed)]
    if not kinds:
        raise FullgraphError(f"{path}: holds no codemod: no fullgraph Codemod, no LibCST command, no Bowler Query")
    names = [kind.name for kind in kinds]
    for name in names:
        if names.count(name) > 1:
            raise FullgraphError(f"{path}: holds two codemods called {name!r}")
    return kinds


def read(path: Path) -> tuple[ast.Module, CodeType]:
    try:
        raw = read_plain(path)
        tree = ast.parse(raw, str(path))
        return tree, compile(raw, str(path), "exec", dont_inherit=True)
    except FileNotFoundError:
        raise FullgraphError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise FullgraphError(f"{path}: a folder; --codemod takes a Python file") from None
    except OSError as error:
        raise FullgraphError(f"{path}: not readable: {error.strerror}") from error
    except SyntaxError as error:
        raise FullgraphError(f"{path}: line {error.lineno}: {error.msg}") from error
    except ValueError as error:
        raise FullgraphError(f"{path}: not Python source: {error}") from error


@contextmanager
def complaints(path: Path) -> Iterator[None]:
    """Whatever a file does wrong while it is loaded, as one line."""
    try:
        yield
    except FullgraphError as error:
        raise FullgraphError(f"{path}: {error}") from error
    except ModuleNotFoundError as error:
        package = error.name or str(error)
        if package.partition(".")[0] in BOWLER:
            raise FullgraphError(f"{path}: needs Bowler: pip install 'fullgraph[bowler]'") from error
        raise FullgraphError(f"{path}: needs {package!r}, which is not installed") from error
    except (Exception, SystemExit) as error:
        raise FullgraphError(f"{path}: failed while it was loaded: {in_one_line(error, path)}") from error


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """The file's folder importable, no arguments, no byte code written.

    What it imported from its folder is forgotten after, so that another file may have a `helpers.py` of its own.
    """
    known = set(sys.modules)
    kept = sys.path[:], sys.argv, sys.dont_write_bytecode
    sys.path.insert(0, str(path.parent))
    sys.argv, sys.dont_write_bytecode = [str(path)], True
    try:
        yield
    finally:
        sys.path[:], sys.argv, sys.dont_write_bytecode = kept
        neighbours = {name for name in set(sys.modules) - known if stands_in(path.parent, name)}
        for name in set(sys.modules) - known:
            if name.partition(".")[0] in neighbours:
                del sys.modules[name]


def stands_in(folder: Path, name: str) -> bool:
    """Whether a top-level module was imported from this very folder."""
    file = getattr(sys.modules[name], "__file__", None)
    return file is not None and Path(file) in (folder / f"{name}.py", folder / name / "__init__.py")


def run(path: Path, code: CodeType) -> ModuleType:
    """The file as a module under a name that no other file has. It stays known by it, as dataclasses need."""
    digest = hashlib.sha256(str(path).encode(errors="surrogateescape")).hexdigest()[:8]
    name = f"fullgraph_foreign_{path.stem}_{digest}"
    spec = spec_from_loader(name, SourceFileLoader(name, str(path)))
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        exec(code, vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    return module


def own(module: ModuleType, path: Path) -> list[type[Codemod]]:
    from fullgraph.codemods.registry import codemods_in

    kinds = codemods_in(module)
    for kind in kinds:
        kind.origin = path  # type: ignore[attr-defined]
    return kinds


def libcst(module: ModuleType, path: Path) -> list[type[Codemod]]:
    if "libcst.codemod" not in sys.modules:
        return []
    from fullgraph.codemods.foreign.libcst_command import libcst_codemods

    return [*libcst_codemods(module, path)]


def bowler(module: ModuleType, tree: ast.Module, path: Path, executed: list[object]) -> list[type[Codemod]]:
    if "bowler.query" not in sys.modules:
        return []
    from fullgraph.codemods.foreign.bowler_query import adapt

    return [adapt(found, module, path) for found in queries_in(module, tree, executed)]
