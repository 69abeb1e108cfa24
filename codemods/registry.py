"""Every codemod there is: the files of catalog/, and what other distributions offer by entry points."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fullgraph.codemods.codemod import Codemod, suggest
from fullgraph.codemods.model import FullgraphError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "fullgraph.codemods"


@cache
def all_codemods() -> dict[str, type[Codemod]]:
    """The codemods by name, sorted."""
    found = {**bundled(), **installed()}
    return dict(sorted(found.items()))


def bundled() -> dict[str, type[Codemod]]:
    import fullgraph.codemods.catalog as catalog

    modules = pkgutil.walk_packages(catalog.__path__, catalog.__name__ + ".")
    return {
        codemod.name: codemod
        for info in modules
        if not info.ispkg
        for codemod in codemods_in(importlib.import_module(info.name))
    }


def offered() -> list[EntryPoint]:
    """The entry points of other distributions."""
    from importlib.metadata import entry_points

    return list(entry_points(group=ENTRY_POINTS))


def installed() -> dict[str, type[Codemod]]:
    """Codemods of other distributions: an entry point names a class or a module that holds some.

    One that cannot be loaded is a warning that names its distribution; the others are still there.
    """
    found: dict[str, type[Codemod]] = {}
    for entry in offered():
        try:
            found |= {kind.name: kind for kind in named_by(entry.load())}
        except (Exception, SystemExit) as error:
            package = entry.dist.name if entry.dist else "an unknown distribution"
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            warnings.warn(f"codemod {entry.name!r} of {package} cannot be loaded: {reason}", stacklevel=2)
    return found


def named_by(loaded: Any) -> list[type[Codemod]]:
    """What an entry point offers."""
    if isinstance(loaded, type) and issubclass(loaded, Codemod):
        return [loaded]
    kinds = codemods_in(loaded) if isinstance(loaded, ModuleType) else []
    if not kinds:
        raise FullgraphError(f"{getattr(loaded, '__name__', loaded)!r} holds no codemod")
    return kinds


def codemods_in(module: Any) -> list[type[Codemod]]:
    """The codemods that a Python module defines (not those that it imports)."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Codemod) and value.__module__ == module.__name__
    ]


def codemod_named(name: str, known: dict[str, type[Codemod]] | None = None) -> type[Codemod]:
    """The codemod of this name; a wrong name is answered with the nearest right one."""
    kinds = all_codemods() if known is None else known
    if name not in kinds:
        raise FullgraphError(f"there is no codemod {name!r}{suggest(name, kinds)}")
    return kinds[name]
