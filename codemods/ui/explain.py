"""The documentation of the codemods, made from what they are: docstring, settings, first fixture."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

from codemods.codemod import Codemod
from codemods.registry import all_codemods, codemod_named
from codemods.rewrite.diff import patch
from codemods.ui.terminal import paint, paint_patch


def list_codemods() -> str:
    kinds = all_codemods()
    width = max((len(name) for name in kinds), default=0)
    return "".join(f"{name:<{width}}  {summary_of(kind)}\n" for name, kind in kinds.items())


def summary_of(kind: type[Codemod]) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def explain(name: str, color: bool = False) -> str:
    """Everything about one codemod, as plain text."""
    kind = codemod_named(name)
    sections = [paint(name, color, bold=True), inspect.getdoc(kind) or "", options_text(kind, color)]
    sections.append(example_text(name, color))
    sections.append(f"Silence it on a line:  # fullgraph: ignore[{name}]")
    return "\n\n".join(section for section in sections if section) + "\n"


def options_text(kind: type[Codemod], color: bool) -> str:
    hints = get_type_hints(kind.options_type())
    lines = []
    for item in fields(kind.options_type()):
        hint = hints[item.name]
        choices = "|".join(get_args(hint)) if get_origin(hint) is Literal else hint.__name__
        default = f" (default: {item.default})" if item.default not in ("", None) else ""
        lines.append(f"  --option {kind.name}.{item.name}={choices}{default}\n      {item.metadata.get('doc', '')}")
    return "\n".join([paint("Options", color, bold=True), *lines]) if lines else ""


def example_text(name: str, color: bool) -> str:
    """The first fixture that changes, as a diff."""
    folder = fixtures_folder() / name
    for case in sorted(folder.glob("*/")) if folder.is_dir() else []:
        before, after = side(case, "before"), side(case, "after")
        if after:
            shown = patch({path: before.get(path, b"") for path in after}, after)
            return f"{paint('Example', color, bold=True)}\n{paint_patch(shown, color).rstrip()}"
    return ""


def side(case: Path, name: str) -> dict[str, bytes]:
    tree = case / name
    if tree.is_dir():
        return {file.relative_to(tree).as_posix(): file.read_bytes() for file in sorted(tree.rglob("*.py"))}
    file = case / f"{name}.py"
    return {"module.py": file.read_bytes()} if file.is_file() else {}


def fixtures_folder() -> Path:
    """Inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "fixtures"
    return inside if inside.is_dir() else package.parent / "fixtures"
