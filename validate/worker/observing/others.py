"""Files that are not the project's and lead to a break: what each is imported as, so that a copy can take its place."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ..graphs.places import real_path
from .whose import OTHERS, Whose


def tell_others(entries: Sequence[dict[str, Any]], whose: Whose) -> dict[str, Any]:
    """By file, the name of its module; a file that was run and not imported has none."""
    stacks = [stack for entry in entries for one in entry["breaks"] for stack in [[one], *one["stacks"]]]
    wanted = {line["file"] for stack in stacks for line in stack if whose(line["file"]) is OTHERS}
    names = name_modules() if wanted else {}
    return {file: {"module": names.get(file, "")} for file in sorted(wanted)}


def name_modules() -> dict[str, str]:
    """By real path. Asked of each module's own dict: a lazy module would import something when it is asked."""
    found: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        try:
            file = vars(module).get("__file__")
        except TypeError:
            continue
        if isinstance(file, str) and name != "__main__":
            found.setdefault(real_path(file), name)
    return found
