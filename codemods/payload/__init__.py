"""What codemods write into a user's project as a whole: a file each, as it stands there, with tests of its own."""

from __future__ import annotations

import ast
from pathlib import Path

from fullgraph.codemods.model import Purpose

FOLDER = Path(__file__).parent


def payload(name: str) -> str:
    """The text of a file of this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


def tested(name: str) -> Purpose:
    """What a proof is told of a file: its functions have tests of their own, that run all of them."""
    tops = [node.name for node in ast.parse(payload(name)).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    return Purpose("tested", rf"(?:{'|'.join(dict.fromkeys(tops))})(?:\..*)?", "its own tests run it")
