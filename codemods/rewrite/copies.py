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

from codemods.model import FullgraphError
from codemods.rewrite.atomic import replace_file
from codemods.rewrite.journal import FOLDER
from codemods.rewrite.lock import locked
from codemods.rewrite.units import Unit, companions
from codemods.rewrite.walk import COPIES as MARK
from codemods.rewrite.walk import INSTALLED

FORMAT = "fullgraph copies"
WAIT_S = 60
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
            held = json.loads((self.folder / MARK).read_bytes())
            return {one["path"]: one["from"] for one in held["copies"]}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, LookupError, TypeError) as error:
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
        if os.listdir(folder) and not (folder / MARK).is_file():
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
        incoming = self.folder / FOLDER / "incoming"
        shutil.rmtree(incoming, ignore_errors=True)
        for path in (unit.path, *companions(unit)):
            target = self.folder / path
            if not os.path.lexists(target):
                copy(unit.home / path, incoming / path)
                target.parent.mkdir(parents=True, exist_ok=True)
                os.rename(incoming / path, target)
        shutil.rmtree(incoming, ignore_errors=True)
        self._write_mark({**origins, unit.path: str(unit.place)})

    def _write_mark(self, origins: Mapping[str, str]) -> None:
        copies = [{"path": path, "from": origins[path]} for path in sorted(origins)]
        held = {"format": FORMAT, "version": 1, "copies": copies}
        replace_file(self.folder / MARK, json.dumps(held, indent=1).encode() + b"\n")


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
