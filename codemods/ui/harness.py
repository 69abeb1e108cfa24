"""What `harness` does: a script and its tests, written where the project has such files."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

import click

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.inside import create_new
from fullgraph.codemods.rewrite.walk import find_root
from fullgraph.codemods.ui.compile_request import find_request, with_mode
from fullgraph.codemods.ui.making import Sources, captured_for, refuse, shown_from_here
from fullgraph.validate.drafting.library import Library
from fullgraph.validate.drafting.subject import find_subject
from fullgraph.validate.harness.compose import Place
from fullgraph.validate.harness.config import FORMATS, Config, read_file, read_object
from fullgraph.validate.launch import python_of
from fullgraph.validate.model import ValidateError
from fullgraph.validate.new_harness import harness_name, new_harness


@dataclass(frozen=True)
class Wish:
    """What the command line says."""

    target: str
    config: str
    device: str
    mode: str | None
    out: Path | None
    python: str


def write_harness(wish: Wish) -> int:
    """Write both files; the exit code. A file that is there already is never touched, and then nothing is written."""
    root = find_root(Path.cwd())
    sources = Sources(root)
    library = Library(sources.read, sources.mention)
    try:
        target = sources.target(wish.target)
        config = read_config(wish, sources, library) if wish.config else None
        place = choose_place(root, target, wish.out, config, sources)
        request = find_request(find_subject(target, library), sources.project, library, config)
        texts = new_harness(
            target,
            library,
            place,
            config=config,
            request=with_mode(request, wish.mode),
            captured=captured_for(root, target, library),
            device=wish.device,
        )
    except ValidateError as error:
        return refuse(error)
    write_both(root, place, texts)
    tell(root, place, texts[0], wish)
    return 0


def read_config(wish: Wish, sources: Sources, library: Library) -> Config:
    """FILE.json, .toml or .yaml; FILE.py or FILE.py:NAME; module:NAME."""
    file = Path(wish.config)
    if file.suffix.lower() in FORMATS:
        inside = file.absolute().is_relative_to(sources.root)
        shown = file.absolute().relative_to(sources.root).as_posix() if inside else ""
        text = f'ROOT / "{shown}"' if inside else f'Path("{file.absolute().as_posix()}")'
        return read_file(file, text, python_of(wish.python, sources.root))
    module, _, name = wish.config.rpartition(":") if ":" in wish.config else (wish.config, "", "")
    if module.endswith(".py"):
        module = sources.module_at(Path(module))
    elif not name:
        raise ValidateError(f"{wish.config}: a config is {', '.join(FORMATS)}, FILE.py or module:NAME")
    return read_object(module, name, library)


def choose_place(root: Path, target: str, out: Path | None, config: Config | None, sources: Sources) -> Place:
    """`scripts/` and `tests/` where the project has them, else `harness/`; everything in `out` if that is given."""
    name = harness_name(target)
    chosen = Path(os.path.abspath(out)) if out else root / "harness"
    folders = [chosen if out or not (root / usual).is_dir() else root / usual for usual in ("scripts", "tests")]
    inside = all(folder.is_relative_to(root) for folder in folders)
    files = [folder / file for folder, file in zip(folders, (f"{name}.py", f"test_{name}.py"), strict=True)]
    script, test = (file.relative_to(root).as_posix() if inside else file.as_posix() for file in files)
    modules = [target.partition(":")[0], *(module for module, _ in (config.imports if config else ()))]
    imported = dict.fromkeys(folder for module in modules if (folder := folder_of(module, root, sources)) is not None)
    return Place(script, test, tuple(imported), "" if inside else root.as_posix())


def folder_of(module: str, root: Path, sources: Sources) -> str | None:
    """The folder, from the root, that has to be on the path to import a module of the project; None for others."""
    path = sources.project.path_of(module)
    return None if path is None else sources.project.import_root(path).rstrip("/")


def write_both(root: Path, place: Place, texts: tuple[str, str]) -> None:
    """Both files or none; what is there already stays as it is."""
    files = [root / place.script, root / place.test]
    written: list[Path] = []
    try:
        for file in files:
            if os.path.lexists(file):
                raise FileExistsError(file)
        for file, text in zip(files, texts, strict=True):
            create_new(root, file, text.encode())
            written.append(file)
    except OSError as error:
        for other in written:
            other.unlink(missing_ok=True)
        shown = shown_from_here(file)
        if isinstance(error, FileExistsError):
            raise FullgraphError(
                f"{shown} is there already, and is left as it is; --out names another folder"
            ) from None
        raise FullgraphError(f"{shown}: {error.strerror}; nothing was written") from error


def tell(root: Path, place: Place, script: str, wish: Wish) -> None:
    shown = [shown_from_here(root / path) for path in (place.script, place.test)]
    click.echo(f"Wrote {shown[0]} and {shown[1]}.")
    if wish.config and "CONFIG" not in script:
        click.echo(f"Nothing in {wish.config} seems to be for it: the script does without.")
    if "raise NotImplementedError" in script:
        click.echo("Some values could not be found: the script says which, where it raises NotImplementedError.")
    click.echo(f"Run it:  python {shlex.quote(shown[0])} --device {wish.device}")
    click.echo(f"         python -m pytest {shlex.quote(shown[1])}")
