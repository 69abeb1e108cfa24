"""A folder with patched copies of installed packages: on PYTHONPATH it takes their place, and they stay as they are.

DIR/fullgraph-copies.json    which packages, and where each was copied from
DIR/PACKAGE/                 plain copies: nothing in it is a link, so that no edit reaches the original
DIR/.fullgraph/              the journal: `fullgraph undo --path DIR` takes a rewrite back
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.atomic import replace_at
from fullgraph.codemods.rewrite.folder import BarredError, Folder
from fullgraph.codemods.rewrite.inside import place_of
from fullgraph.codemods.rewrite.lock import locked
from fullgraph.codemods.rewrite.units import Unit, companions
from fullgraph.codemods.rewrite.walk import COPIES as MARK
from fullgraph.codemods.rewrite.walk import FOLDER, INSTALLED

FORMAT = "fullgraph copies"
WAIT_S = 60
INCOMING = "incoming"
ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
"""What stands at the root of an environment."""


@dataclass(frozen=True)
class Copies:
    """The folder, by its real path."""

    folder: Path

    def origin(self, path: str) -> str:
        """Where the unit at a path was copied from; nothing if it was not."""
        return self._origins().get(path, "")

    def _origins(self) -> dict[str, str]:
        try:
            with Folder.at(self.folder) as folder:
                held = json.loads(folder.read(MARK))
            return {one["path"]: one["from"] for one in held["copies"]}
        except FileNotFoundError:
            return {}
        except (BarredError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise FullgraphError(f"{self.folder / MARK}: damaged ({error!r}); name a new folder") from error

    def refuse(self, homes: Iterable[Path]) -> str:
        """Why no copy may be put here, or nothing."""
        folder = self.folder
        if is_in_environment(folder) or any(folder.is_relative_to(home) for home in homes):
            return "inside an environment, whose files are never edited; name a folder outside"
        if not os.path.lexists(folder):
            return ""
        if not folder.is_dir():
            return "a file; name a folder"
        if os.listdir(folder) and not is_plain(folder / MARK):
            return "there already, and fullgraph has made no copies in it; name a new folder"
        return ""

    def hold(self, units: Iterable[Unit]) -> None:
        """Copy the units that are not here yet, each with what has to go with it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder / FOLDER, WAIT_S):
            for unit in sorted(units):
                known = self.origin(unit.path)
                if known != str(unit.place):
                    self._make_sure_of_room(unit, known)
                    self._copy(unit)

    def _make_sure_of_room(self, unit: Unit, known: str) -> None:
        if known or os.path.lexists(self.folder / unit.path):
            what = f"a copy of {known}" if known else "something else"
            raise FullgraphError(f"{self.folder / unit.path}: {what} is there; name a new folder with --into")

    def _copy(self, unit: Unit) -> None:
        """Under its own name only when it is complete. The mark comes first: it is what makes the folder ours."""
        origins = self._origins()
        self._write_mark(origins)
        with Folder.at(self.folder).descend([FOLDER]) as journal:
            for path in (unit.path, *companions(unit)):
                if not os.path.lexists(self.folder / path):
                    journal.remove_tree(INCOMING)
                    with journal.inner(INCOMING, make=True) as incoming:
                        self._bring(unit.home / path, path, incoming)
            journal.remove_tree(INCOMING)
        self._write_mark({**origins, unit.path: str(unit.place)})

    def _bring(self, source: Path, path: str, incoming: Folder) -> None:
        name = path.rpartition("/")[2]
        copy(source, incoming.path / name)
        with place_of(self.folder, path, make=True) as (folder, target):
            incoming.rename(name, target, folder)
            folder.sync()

    def _write_mark(self, origins: Mapping[str, str]) -> None:
        copies = [{"path": path, "from": origins[path]} for path in sorted(origins)]
        held = {"format": FORMAT, "version": 1, "copies": copies}
        replace_at(self.folder / MARK, json.dumps(held, indent=1).encode() + b"\n")


def is_plain(file: Path) -> bool:
    return file.is_file() and not file.is_symlink()


def is_in_environment(folder: Path) -> bool:
    around = (folder, *folder.parents)
    return any(one.name in INSTALLED or any((one / mark).exists() for mark in ENVIRONMENT) for one in around)


def copy(source: Path, target: Path, above: tuple[str, ...] = ()) -> None:
    """A file, or a folder without what Python compiled in it; links are copied as what they lead to.

    Everything can be written to afterwards, also where the original cannot.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if not source.is_dir():
        shutil.copy2(source, target)
        target.chmod(stat.S_IMODE(source.stat().st_mode) | stat.S_IWUSR | stat.S_IRUSR)
        return
    real = os.path.realpath(source)
    if real in above:
        return  # a link that leads back to a folder around it
    target.mkdir()
    for child in sorted(source.iterdir()):
        if child.name != "__pycache__" and (child.is_dir() or child.is_file()):
            copy(child, target / child.name, (*above, real))
    target.chmod(stat.S_IMODE(source.stat().st_mode) | stat.S_IRWXU)
