"""The user's tree with other bytes in some files: imports see them under the real paths, and nothing is written there.

Every Python that user code starts sees the same files: it finds `overlay_site` on its PYTHONPATH.
"""

from __future__ import annotations

import base64
import importlib
import importlib.machinery
import importlib.util
import io
import json
import linecache
import os
import sys
from collections.abc import Callable
from typing import Any, Optional

from .finder import Finder

Files = dict[str, Optional[bytes]]
"""By real path: the bytes that win over the disk; None is no file there."""

VARIABLE = "FULLGRAPH_OVERLAY"
SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "overlay_site")


def lay_over(files: dict[str, str | None], keep: str = "") -> Files:
    """Install the overlay, given in base64, for the rest of this process; the file `keep` gives it to its children."""
    known = {os.path.realpath(path): None if data is None else base64.b64decode(data) for path, data in files.items()}
    sys.dont_write_bytecode = True
    replace_reading(known)
    sys.meta_path.insert(0, Finder(known))
    importlib.invalidate_caches()
    if keep:
        with open(keep, "w", encoding="utf-8") as file:
            json.dump(files, file)
        os.environ[VARIABLE] = keep
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [SITE, os.environ.get("PYTHONPATH")]))
    return known


def inherit() -> None:
    """Install the overlay of the process that started this one."""
    with open(os.environ[VARIABLE], encoding="utf-8") as file:
        lay_over(json.load(file))


def replace_reading(known: Files) -> None:
    """Let whatever reads source code read the overlay, and take no compiled code for what is in it."""
    loader: Any = importlib.machinery.SourceFileLoader
    read, stats, open_code, update = loader.get_data, loader.path_stats, io.open_code, linecache.updatecache

    def get_data(self: Any, path: str) -> bytes:
        return find_bytes(known, path, lambda: bytes(read(self, path)))

    def path_stats(self: Any, path: str) -> Any:
        if os.path.realpath(path) in known:
            raise OSError(f"{path} has no time stamp here")
        return stats(self, path)

    def open_laid(path: str) -> Any:
        return io.BytesIO(find_bytes(known, path, lambda: b"")) if os.path.realpath(path) in known else open_code(path)

    def update_cache(filename: str, module_globals: Any = None) -> list[str]:
        data = known.get(os.path.realpath(filename))
        return update(filename, module_globals) if data is None else remember_lines(filename, data)

    loader.get_data, loader.path_stats = get_data, path_stats
    io.open_code, linecache.updatecache = open_laid, update_cache


def find_bytes(known: Files, path: str, read: Callable[[], bytes]) -> bytes:
    real = os.path.realpath(path)
    if real not in known:
        return read()
    data = known[real]
    if data is None:
        raise FileNotFoundError(2, "not there on this side", path)
    remember_lines(path, data)
    return data


def remember_lines(path: str, data: bytes) -> list[str]:
    """Tracebacks, `inspect` and Dynamo show the lines that run. Without a time an entry is never checked again."""
    try:
        lines = io.StringIO(importlib.util.decode_source(data)).readlines()
    except (SyntaxError, UnicodeDecodeError):
        return []
    linecache.cache[path] = (len(data), None, lines, path)
    return lines
