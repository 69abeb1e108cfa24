"""What `capture` and `scenario new` do: they make the scenarios that `prove` runs."""

from __future__ import annotations

import json
import keyword
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.inside import create_new
from fullgraph.codemods.rewrite.lock import make_folder
from fullgraph.codemods.rewrite.walk import find_root, plant_trees
from fullgraph.codemods.ui.report.as_text import count
from fullgraph.codemods.ui.terminal import is_terminal
from fullgraph.validate.capture import Captured
from fullgraph.validate.capture import capture as run_and_store
from fullgraph.validate.capture_session import file_for, read_index
from fullgraph.validate.drafting.library import Library
from fullgraph.validate.drafting.subject import check_name, find_subject
from fullgraph.validate.launch import python_of
from fullgraph.validate.model import ValidateError
from fullgraph.validate.new_scenario import file_name, new_scenario

UNDECIDED = 4
PATIENCE = 20
"""Seconds for the user's python to say where its packages are."""


def capture(text: str, command: Sequence[str], calls: int) -> int:
    """Run the command and store calls; the exit code. The program's own output is left alone, ours goes to stderr."""
    root = find_root(Path.cwd())
    sources = Sources(root)
    try:
        target = sources.target(text)
        check_name(target, Library(sources.of_project))
        with make_folder(root / ".fullgraph") as folder, folder.inner("captures", make=True):
            pass
        captured = run_and_store(
            target, command, file_for(root, target), calls=calls, source=sources.file_of(target), tell=teller()
        )
    except ValidateError as error:
        return refuse(error)
    tell_captured(captured, target, root)
    return 0


def teller() -> Callable[[str], None]:
    """While the program runs only a person at a terminal is told anything."""
    return say if is_terminal(sys.stderr) else lambda text: None


def say(text: str) -> None:
    click.echo(f"fullgraph: {text}", err=True)


def refuse(error: ValidateError) -> int:
    say(str(error))
    return UNDECIDED


def tell_captured(captured: Captured, target: str, root: Path) -> None:
    size = captured.file.stat().st_size
    say(f"stored {count(captured.calls, 'call')} of {target} in {captured.file.relative_to(root)} ({size_text(size)})")
    for number, call in enumerate(captured.index["calls"], 1):
        shown = ", ".join(f"{name} {described(held)}" for name, held in call["arguments"]) or "no arguments"
        click.echo(f"  call {number}: {shown}", err=True)
    for notice in captured.notices:
        say(notice)
    say(f"the program {captured.ending}; `fullgraph prove {target}` runs these calls before and after a change")


def described(held: dict[str, Any]) -> str:
    """`[32, 8] float32`, `0.5`, `Batch`."""
    if held["kind"] == "tensor":
        place = "" if held["device"] == "cpu" else f" {held['device']}"
        return f"{held['shape']} {held['dtype']}{place}"
    if held["kind"] == "value":
        return repr(held["value"])
    return str(held.get("type", held["kind"])).rpartition(".")[2]


def size_text(size: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size //= 1000
    return f"{size:.1f} GB"


def write_scenario(text: str, out: Path | None) -> int:
    """Write a first scenario file; the exit code. A file that is there already is never touched."""
    root = find_root(Path.cwd())
    sources = Sources(root)
    try:
        target = sources.target(text)
        file = out or root / "scenarios" / file_name(target)
        shown = shown_from_here(file)
        captured = captured_for(root, target, Library(sources.read))
        drafted = new_scenario(target, sources.read, shown, mention=sources.mention, captured=captured)
    except ValidateError as error:
        return refuse(error)
    write_new(root, file, drafted, shown)
    click.echo(f"Wrote {shown}{', after the calls that are stored' if captured else ''}.")
    if "raise NotImplementedError" in drafted:
        click.echo("Some values could not be guessed: the file says which, where it raises NotImplementedError.")
    second = " --device second" if "--device second" in drafted else ""
    click.echo(f"Run it:  fullgraph prove {shlex.quote(shown)}{second}")
    return 0


def captured_for(root: Path, target: str, library: Library) -> dict[str, Any] | None:
    """The index of the calls that are stored of a function, or of what runs when an object of a class is called."""
    function = find_subject(target, library).function
    method = function.name.rpartition(".")[2]
    names = (target, f"{target}.{method}", f"{function.module.name}:{function.name}")
    return next((index for name in names if (index := read_index(file_for(root, name)))), None)


def shown_from_here(file: Path) -> str:
    try:
        return file.absolute().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(file)


def write_new(root: Path, file: Path, text: str, shown: str) -> None:
    try:
        create_new(root, file, text.encode())
    except FileExistsError:
        raise FullgraphError(f"{shown} is there already, and is left as it is; --out names another file") from None
    except OSError as error:
        raise FullgraphError(f"{shown}: {error.strerror}; nothing was written") from error


class Sources:
    """The modules of the project and of the user's environment, as text."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def project(self) -> Project:
        (tree,), _ = plant_trees([self.root])
        return Project(self.root, [path for path in tree.entries if path.endswith(".py")])

    @cached_property
    def packages(self) -> list[Path]:
        """The folders from which the user's python imports."""
        question = "import json, sys; print(json.dumps(sys.path))"
        try:
            done = subprocess.run(
                [python_of("", self.root), "-c", question], capture_output=True, text=True, timeout=PATIENCE, check=True
            )
            return [Path(entry) for entry in json.loads(done.stdout) if entry]
        except (OSError, ValueError, subprocess.SubprocessError):
            return []

    def target(self, text: str) -> str:
        """`module:function`, also written `path/to/module.py:function`."""
        module, _, name = text.rpartition(":")
        if module.endswith(".py"):
            module = self.module_at(Path(module))
        if not (is_dotted(module) and is_dotted(name)):
            raise ValidateError(f"{text!r} names no function: write module:function or module:Class.method")
        if module == "__main__":
            raise ValidateError("__main__ is another module in every program: write train:function for train.py")
        return f"{module}:{name}"

    def module_at(self, file: Path) -> str:
        path = file.absolute()
        if not path.is_file():
            raise ValidateError(f"{file}: no such file")
        inside = path.is_relative_to(self.root)
        return self.project.module_name(path.relative_to(self.root).as_posix()) if inside else path.stem

    def file_of(self, target: str) -> Path | None:
        path = self.project.path_of(target.partition(":")[0])
        return self.root / path if path else None

    def of_project(self, module: str) -> tuple[bytes, bool] | None:
        path = self.project.path_of(module)
        return (self.project.read(path), path.endswith("__init__.py")) if path else None

    def read(self, module: str) -> tuple[bytes, bool] | None:
        """The project's own modules first; then what is installed."""
        found = self.of_project(module)
        if found:
            return found
        for folder in self.packages:
            base = folder.joinpath(*module.split("."))
            for file, is_package in ((base / "__init__.py", True), (base.with_name(f"{base.name}.py"), False)):
                if file.is_file():
                    return file.read_bytes(), is_package
        return None

    def mention(self, word: str) -> list[str]:
        return [self.project.module_name(path) for path in self.project.mentions(word)]


def is_dotted(text: str) -> bool:
    parts = text.split(".")
    return all(re.fullmatch(r"\w+", part) and part.isidentifier() and not keyword.iskeyword(part) for part in parts)
