"""All files of a project, for the questions that one file cannot answer: who mentions this name, who imports whom?"""

from __future__ import annotations

import ast
import gc
import os
import re
import sys
import time
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fullgraph.codemods.model import Edit, SourceError, Span, Unsure
from fullgraph.codemods.module import Module
from fullgraph.codemods.plain_file import read_plain
from fullgraph.codemods.source import Source, decode
from fullgraph.codemods.source_roots import CUSTOMARY, declared_roots, is_project

if TYPE_CHECKING:
    from fullgraph.codemods.syntax.torch_version import Torch

ANSWER = TypeVar("ANSWER")
PAYS = 3
"""How many times as long as it took to work things out, they are kept at least."""

IMPORTED = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(\w+)", re.M)
LINE_BREAK = re.compile(rb"\r?\n")
TEST_FOLDERS = {"test", "tests", "testing"}
WORD_BYTES = {bytes([byte]) for byte in range(256) if re.match(rb"\w", bytes([byte]))}


@dataclass(frozen=True)
class SourceRoot:
    """A folder that modules are imported from; `name` where it is imported as a package of another name."""

    name: str = ""
    is_declared: bool = False


def is_test(path: str) -> bool:
    """Whether a file is a test, or there for tests, by its name or its folders."""
    *folders, name = path.split("/")
    is_named = name == "conftest.py" or name.startswith("test_") or name.rpartition(".")[0].endswith("_test")
    return is_named or not TEST_FOLDERS.isdisjoint(folders)


class Project:
    """A root folder and the Python files below it, by paths relative to the root.

    `overlay` holds bytes that win over the disk: an editor's buffers, or what a change is about to write. A function
    that lists the files is called when the first question goes beyond one of them. On the `shelf`, if there is one,
    answers outlive the project: see `lasting.py`.
    """

    def __init__(
        self,
        root: Path,
        files: Iterable[str] | Callable[[], Iterable[str]],
        overlay: Mapping[str, bytes] | None = None,
        shelf: Any = None,
    ) -> None:
        self.root = root
        self._listed = files if callable(files) else tuple(files)
        self.overlay = dict(overlay or {})
        self.shelf = shelf
        self.given: dict[str, bytes] = {}
        """The bytes that trees were made from, or could not be; nothing of files that could not be read."""
        self.was_asked = False
        """Set by every question that goes beyond one module: its answer may change when any file does."""
        self._parsed, self._spent, self._since = 0, 0.0, time.perf_counter()
        """When trees were last forgotten; since then, the characters parsed and the seconds of working things out."""
        self._modules: dict[str, Module | SourceError] = {}
        self._packages: dict[Path, bool] = {}
        self._folders: dict[str, str] = {}
        self._voted: set[str] = set()
        self._bases: dict[str, dict[str, SourceRoot]] = {}
        self._worked_out: dict[Any, Any] = {}
        self._for_good: dict[Any, Any] = {}
        self._read_before: dict[str, bytes] = {}
        self._noted: dict[tuple[str, str], tuple[bytes, str]] = {}
        self._mentions: dict[str, list[str]] = {}
        self._torch: dict[str, Torch | None] = {}

    def laid_over(self, texts: Mapping[str, bytes]) -> Project:
        """The same project with other bytes in some files, and with the files among these that it did not have."""
        named = tuple(texts)
        return Project(self.root, lambda: {*self.files, *named}, {**self.overlay, **texts})

    def torch(self, given: str) -> Torch | None:
        """The oldest torch that the code has to run on; `given`: as the user says."""
        if given not in self._torch:
            from fullgraph.codemods.syntax.torch_version import torch_of

            self._torch[given] = torch_of(self.root, given)
        return self._torch[given]

    @cached_property
    def files(self) -> tuple[str, ...]:
        return tuple(sorted(self._listed() if callable(self._listed) else self._listed))

    def worked_out(self, what: Hashable, work_out: Callable[[], ANSWER]) -> ANSWER:
        """An answer about the whole project, kept as long as the project is."""
        self.was_asked = True
        if what not in self._worked_out:
            began, spent = time.perf_counter(), self._spent
            self._worked_out[what] = work_out()
            self._spent = spent + time.perf_counter() - began  # what was worked out inside is part of it
        answer: ANSWER = self._worked_out[what]
        return answer

    def known_for_good(self, what: Hashable, work_out: Callable[[], ANSWER]) -> ANSWER:
        """An answer in plain values, which outlives the trees that it was worked out from."""
        self.was_asked = True
        if what not in self._for_good:
            self._for_good[what] = work_out()
        answer: ANSWER = self._for_good[what]
        return answer

    # One file

    def read(self, path: str) -> bytes:
        self.was_asked = True
        if path in self.overlay:
            return self.overlay[path]
        try:
            return read_plain(self.root / path)
        except OSError as error:
            raise SourceError(path, f"not readable: {error.strerror or error}") from error

    def source(self, path: str) -> Source:
        return decode(path, self.read(path))

    def module(self, path: str, raw: bytes | None = None) -> Module:
        """The parsed file; kept, because cross-file codemods come back to it. `raw` saves reading it again."""
        self.was_asked = True
        if path not in self._modules:
            try:
                self.given[path] = self.read(path) if raw is None else raw
                source = decode(path, self.given[path])
                self._modules[path] = Module(source, self.module_name(path))
                self._parsed += len(source.text)
            except SourceError as error:
                self._modules[path] = error
        found = self._modules[path]
        if isinstance(found, SourceError):
            raise found
        return found

    def has_file(self, path: str) -> bool:
        """Whether anything stands at a path: also what is no part of the project, as an ignored file or a folder."""
        self.was_asked = True
        return path in self.overlay or os.path.lexists(self.root / path)

    def new_file(self, path: str, text: str) -> tuple[Edit, ...]:
        """The edit that creates a file; none if it is there with this text, Unsure if another one is.

        `\\n` in the text becomes the line ending of the files around it.
        """
        if os.path.isabs(path) or os.path.normpath(path) != path or path.split("/")[0] == os.pardir:
            raise Unsure(f"{path} would have to be created, and is not a path below the project's root")
        if self.holds(path, text):
            return ()
        if other := self._in_the_way_of(path):
            what = "this file" if other == path else path
            raise Unsure(f"{other}:1: {what} would have to be created, and another one is there")
        return (Edit(path, Span(0, 0), text.replace("\n", self.newline_near(path)), creates=True),)

    def holds(self, path: str, text: str) -> bool:
        """Whether a file is there with exactly this text, whatever ends its lines."""
        try:
            return self.source(path).text.splitlines() == text.splitlines()
        except SourceError:
            return False

    def _in_the_way_of(self, path: str) -> str:
        """What stands where a new file would: also a file for its folder, or the name in other letter case."""
        if self.has_file(path):
            return path
        above = (folder.as_posix() for folder in Path(path).parents[:-1])
        files = (folder for folder in above if self.has_file(folder) and not (self.root / folder).is_dir())
        names = self.worked_out("in lower case", lambda: {known.lower(): known for known in self.files})
        return next(files, "") or names.get(path.lower(), "")

    def newline_near(self, path: str) -> str:
        """The line ending of the first file in the same folder, else in the nearest one around it that has any."""
        folder = path.rpartition("/")[0]
        return self.worked_out(("newline", folder), lambda: self._find_newline(folder))

    def _find_newline(self, folder: str) -> str:
        inside = f"{folder}/" if folder else ""
        for path in self.files:
            if path.startswith(inside) and path.endswith(".py"):
                with suppress(SourceError):
                    if found := LINE_BREAK.search(self.read(path)):
                        return found.group().decode()
        return self._find_newline(folder.rpartition("/")[0]) if folder else "\n"

    def forget_trees_beyond(self, characters: int) -> None:
        """Forget them once so much was parsed since the last time, unless it took long to work things out from them."""
        if self._parsed > characters and time.perf_counter() - self._since > PAYS * self._spent:
            self.forget_trees()

    def forget_trees(self) -> None:
        """Free all trees, and what was worked out from them. Whoever asks again gets the same answers."""
        self._modules.clear()
        self.given.clear()
        self._worked_out.clear()
        self._parsed, self._spent, self._since = 0, 0.0, time.perf_counter()
        gc.collect()

    def remember(self, earlier: Project, changed: Collection[str]) -> None:
        """Take over what the same files were read and parsed to, but of those that have changed since."""
        read = {**earlier._read_before, **dict(earlier.__dict__.get("_texts", ()))}
        self._read_before = {path: raw for path, raw in read.items() if path not in changed}
        if not earlier._voted:
            self._folders, self._packages = earlier._folders, earlier._packages
        renamed = {path for path in earlier._modules if earlier.module_name(path) != self.module_name(path)}
        kept = {path for path in earlier._modules if path not in renamed and path not in changed}
        self._modules = {path: earlier._modules[path] for path in kept}
        self.given = {path: raw for path, raw in earlier.given.items() if path in kept}
        self._noted = earlier._noted
        self._parsed = sum(len(known.text) for known in self._modules.values() if isinstance(known, Module))

    # All files

    @cached_property
    def _texts(self) -> list[tuple[str, bytes]]:
        """Every file that can be read, with its bytes. Every line ends in `\\n`."""
        texts: list[tuple[str, bytes]] = []
        for path in self.files:
            with suppress(SourceError):
                raw = self._read_before.get(path)
                if raw is None:
                    raw = self.read(path).removeprefix(BOM_UTF8)
                    raw = raw.replace(b"\r", b"\n") if b"\r" in raw else raw
                texts.append((path, raw))
        return texts

    def texts(self) -> list[tuple[str, bytes]]:
        """Every file that can be read, with its bytes as they were when they were first asked for."""
        self.was_asked = True
        return self._texts

    def noted(self, what: str, path: str, raw: bytes, note: Callable[[bytes], str]) -> str:
        """What a function says of a file's bytes; remembered while they are the same."""
        held = self._noted.get((what, path))
        if held is None or held[0] != raw:
            self._noted[what, path] = held = raw, note(raw)
        return held[1]

    def mentions(self, name: str) -> list[str]:
        """The files in which this identifier occurs as a word: in code, in a string or in a comment."""
        self.was_asked = True
        if name not in self._mentions:
            needle = name.encode()
            self._mentions[name] = [path for path, raw in self._texts if holds_word(raw, needle)]
        return list(self._mentions[name])

    def matches(self, pattern: re.Pattern[bytes]) -> list[tuple[str, re.Match[bytes]]]:
        """Every match of a pattern in the bytes of all files, with its file."""
        self.was_asked = True
        return [(path, match) for path, raw in self._texts for match in pattern.finditer(raw)]

    def lines_matching(self, pattern: re.Pattern[bytes], *needles: bytes) -> list[tuple[str, re.Match[bytes]]]:
        """Every match of a pattern at the start of a line that holds one of the needles, with its file."""
        self.was_asked = True
        return [
            (path, match)
            for path, raw in self._texts
            for line in sorted(lines_with(raw, needles))
            if (match := pattern.match(raw, line))
        ]

    def modules_mentioning(self, name: str) -> list[Module]:
        """The parsed files that mention a name. One that cannot be parsed raises: its uses cannot be seen."""
        return [self.module(path) for path in self.mentions(name)]

    # Modules by name

    def module_name(self, path: str) -> str:
        """The dotted name by which the project imports a file: its build, its tests and its own imports decide."""
        folder, _, file = path.rpartition("/")
        stem = file.rpartition(".")[0] or file
        named = [self.package_name(folder), *([stem] if stem != "__init__" else [])]
        return ".".join(filter(None, named)) or folder.rpartition("/")[2] or self.root.name

    def package_name(self, folder: str) -> str:
        """The dotted name of a folder, whether a package or not; empty if modules are imported from it."""
        if folder not in self._folders:
            self._folders[folder] = ".".join(self._name_folder(folder))
        return self._folders[folder]

    def import_root(self, path: str) -> str:
        """The folder from which a file is imported: `src/` for `src/pkg/mod.py`, or nothing."""
        inner = path.removesuffix(".py").removesuffix("/__init__")
        return inner.removesuffix(self.module_name(path).replace(".", "/"))

    def is_named_by_imports(self, path: str) -> bool:
        """Whether the name of a file rests on what all files import: its folder is a package, and on the path too."""
        self.module_name(path)
        return path.rpartition("/")[0] in self._voted

    def _name_folder(self, folder: str) -> list[str]:
        """Up to the first folder that modules are imported from."""
        roots, parts, here = self._roots_around(folder), list[str](), folder
        while True:
            if here in roots and self._is_root(here, roots[here], parts, folder):
                return [*filter(None, roots[here].name.split(".")), *parts]
            if not here:
                return [*self._names_above(), *parts]
            here, _, name = here.rpartition("/")
            parts.insert(0, name)

    def _is_root(self, here: str, root: SourceRoot, inner: list[str], folder: str) -> bool:
        if root.name:
            return True
        if self._is_package(self.root / here):
            self._voted.add(folder)
            return self._is_imported_past(here, root.is_declared)
        in_tests = here.rpartition("/")[2] == "tests" and not root.is_declared
        return not (in_tests and inner and not self._is_package(self.root / here / inner[0]))

    def _is_imported_past(self, package: str, is_declared: bool) -> bool:
        """Whether the project imports `pkg.mod` out of a package: it has a stray `src/__init__.py`."""
        inside, name = f"{package}/".lstrip("/"), package.rpartition("/")[2] or self.root.name
        within = [path.removeprefix(inside) for path in self.files if path.startswith(inside)]
        tops = {path.partition("/")[0].removesuffix(".py") for path in within} - sys.stdlib_module_names
        past = sum(self._imported_tops[top] for top in tops)
        through = self._imported_tops[name] if name not in tops else 0
        return past > through or (is_declared and past == through)

    def imports_top(self, name: str) -> bool:
        """Whether any file imports from a top-level module of this name."""
        self.was_asked = True
        return self._imported_tops[name] > 0

    @cached_property
    def _imported_tops(self) -> Counter[str]:
        """How often each top-level name is imported."""
        return Counter(match.group(1).decode() for _, raw in self._texts for match in IMPORTED.finditer(raw))

    def _names_above(self) -> list[str]:
        """The packages that the root itself is in."""
        parts, folder = list[str](), self.root
        while self._is_package(folder):
            parts.insert(0, folder.name)
            folder = folder.parent
        return parts

    def _is_package(self, folder: Path) -> bool:
        if folder not in self._packages:
            marker = folder / "__init__.py"
            inside = folder.is_relative_to(self.root)
            known = inside and marker.relative_to(self.root).as_posix() in self.overlay
            self._packages[folder] = known or marker.is_file()
        return self._packages[folder]

    def _roots_around(self, folder: str) -> dict[str, SourceRoot]:
        """The folders that modules are imported from, of the project and of those around the folder in it."""
        above = ["", *("/".join(folder.split("/")[:depth]) for depth in range(1, folder.count("/") + 2) if folder)]
        return {name: root for base in above for name, root in self._roots_of(base).items()}

    def _roots_of(self, base: str) -> dict[str, SourceRoot]:
        if base not in self._bases:
            self._bases[base] = {f"{base}/{name}".strip("/"): root for name, root in self._find_roots(base)}
        return self._bases[base]

    def _find_roots(self, base: str) -> Iterator[tuple[str, SourceRoot]]:
        place, is_package = self.root / base, self._is_package(self.root / base)
        if base and (is_package or not is_project(place)):
            return
        yield from ((name, SourceRoot()) for name in CUSTOMARY if name or not is_package or is_project(place))
        yield from ((name, SourceRoot(value, True)) for name, value in declared_roots(place).items())

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return {self.module_name(path): path for path in reversed(self.files)}

    def path_of(self, dotted: str) -> str | None:
        """The project's file behind a dotted module name."""
        self.was_asked = True
        return self._by_name.get(dotted)

    def imported_by(self, path: str) -> set[str]:
        """The project's files that importing this one runs (imports under TYPE_CHECKING or in functions do not run)."""
        return self.worked_out(("imported by", path), lambda: self._find_imported(self.module(path)) - {path})

    def _find_imported(self, module: Module) -> set[str]:
        found: set[str] = set()
        for node in running_imports(module.tree.body):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                origin = module.imports.origin(node)
                names = [origin, *(f"{origin}.{alias.name}" for alias in node.names)]
            for name in names:
                parts = name.split(".")
                prefixes = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
                found |= {target for prefix in prefixes if (target := self.path_of(prefix))}
        return found

    def would_cycle(self, importer: str, imported: str) -> bool:
        """Whether a new import of `imported` in `importer` would close a circle. A file that cannot be read might."""
        if importer == imported:
            return True
        seen: set[str] = set()
        todo = [imported]
        while todo:
            path = todo.pop()
            if path == importer:
                return True
            if path not in seen:
                seen.add(path)
                try:
                    todo += self.imported_by(path)
                except SourceError:
                    return True
        return False


def holds_word(raw: bytes, word: bytes) -> bool:
    """Whether bytes hold a word that is no part of a longer one. A regular expression would look at every byte."""
    position = raw.find(word)
    while position >= 0:
        end = position + len(word)
        if raw[max(0, position - 1) : position] not in WORD_BYTES and raw[end : end + 1] not in WORD_BYTES:
            return True
        position = raw.find(word, position + 1)
    return False


def lines_with(raw: bytes, needles: Iterable[bytes]) -> set[int]:
    """Where the lines begin that hold one of the needles."""
    found: set[int] = set()
    for needle in needles:
        position = raw.find(needle)
        while position >= 0:
            found.add(raw.rfind(b"\n", 0, position) + 1)
            position = raw.find(needle, position + len(needle))
    return found


def running_imports(body: list[ast.stmt]) -> Iterable[ast.Import | ast.ImportFrom]:
    """The imports that run when the module is imported: also in `try` and `if`, not in functions."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from running_imports(node.orelse)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for block in ("body", "orelse", "finalbody"):
                yield from running_imports(getattr(node, block, []))
            for handler in getattr(node, "handlers", []):
                yield from running_imports(handler.body)
