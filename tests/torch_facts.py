"""What torch does with programs of ours, run in a process of their own and kept by the bytes that it rests on.

`tests/facts/<name>.json` is written by `make measure`.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fullgraph.validate.key import key_of
from tests.chosen import is_chosen
from tests.zygote import TORCH

ROOT = Path(__file__).parent.parent
MODULES = {"provoked": "tests.topics.breaks.provoked.run", "settings": "tests.catalog.settings_tried"}
"""Each prints what it has found as JSON."""

PLACE = re.compile(r"/[^\s`'\"]*(?=site-packages/)")
"""Where torch is installed; it is no fact about it."""


def facts(name: str, everything: bool) -> Any:
    """What a module prints: known from the same bytes, or found out now, so that an edited file is noticed.

    Torch counts some recompiles now and then by one more: what the tests say of it must hold for both.
    """
    stored = read(name)
    if stored.get("key") == key(name) and not everything and not is_chosen(name):
        return stored["told"]
    return find_out(name)


def find_out(name: str) -> Any:
    done = TORCH.run(["-m", MODULES[name]], ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(PLACE.sub("", done.stdout))


def store(name: str) -> None:
    file_of(name).write_text(json.dumps({"key": key(name), "told": find_out(name)}, indent=1) + "\n")


def read(name: str) -> dict[str, Any]:
    file = file_of(name)
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return found


def file_of(name: str) -> Path:
    return ROOT / "tests" / "facts" / f"{name}.json"


def key(name: str) -> str:
    module = ROOT.joinpath(*MODULES[name].split(".")).with_suffix(".py")
    files = module.parent.glob("*.py") if module.stem == "run" else [module]
    told = {"torch": version("torch").partition("+")[0], "python": [*sys.version_info[:2]]}
    return key_of([{file.name: file.read_bytes() for file in files}], b"", told)
