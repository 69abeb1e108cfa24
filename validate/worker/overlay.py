"""The user's tree with other bytes in some files: imports see them under the real paths, and nothing is written."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import os
import sys
from collections.abc import Sequence
from typing import Any, Optional

Files = dict[str, Optional[bytes]]
"""By absolute path: the bytes that win over the disk; None is no file there."""


def lay_over(files: Files) -> None:
    """Install the overlay for the rest of this process."""
    known = {os.path.realpath(path): data for path, data in files.items()}
    sys.dont_write_bytecode = True
    replace_reading({path: data for path, data in known.items() if data is not None})
    sys.meta_path.insert(0, Finder(known))
    importlib.invalidate_caches()


def replace_reading(known: dict[str, bytes]) -> None:
    """Let every source loader read the overlay, and take no compiled code for what is in it."""
    loader: Any = importlib.machinery.SourceFileLoader
    read, stats = loader.get_data, loader.path_stats

    def get_data(self: Any, path: str) -> bytes:
        data = known.get(os.path.realpath(path))
        if data is None:
            return bytes(read(self, path))
        remember_lines(path, data)
        return data

    def path_stats(self: Any, path: str) -> Any:
        if os.path.realpath(path) in known:
            raise OSError(f"{path} has no time stamp here")
        return stats(self, path)

    loader.get_data, loader.path_stats = get_data, path_stats


def remember_lines(path: str, data: bytes) -> None:
    """Tracebacks, `inspect` and Dynamo show the lines that run. Without a time an entry is never checked again."""
    lines = importlib.util.decode_source(data).splitlines(keepends=True)
    linecache.cache[path] = (len(data), None, lines, path)


class Finder(importlib.abc.MetaPathFinder):
    """Finds modules that only the overlay has, and none that only the disk has."""

    def __init__(self, known: Files) -> None:
        self.fresh = {path for path, data in known.items() if data is not None and not os.path.exists(path)}
        self.gone = {path for path, data in known.items() if data is None}

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        tail = fullname.rpartition(".")[2]
        for folder in (path if path is not None else sys.path) if self.fresh else ():
            base = os.path.join(os.path.realpath(folder or "."), tail)
            for file in (os.path.join(base, "__init__.py"), base + ".py"):
                if file in self.fresh:
                    inside = [base] if file.endswith("__init__.py") else None
                    return importlib.util.spec_from_file_location(fullname, file, submodule_search_locations=inside)
        if self.gone:
            self.refuse_gone(fullname, path)
        return None

    def refuse_gone(self, fullname: str, path: Sequence[str] | None) -> None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec and spec.origin and os.path.realpath(spec.origin) in self.gone:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
