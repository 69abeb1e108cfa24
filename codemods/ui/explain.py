"""The documentation of the codemods, made from what they are: docstring, settings, first fixture."""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.payload import FOLDER
from fullgraph.codemods.registry import all_codemods, codemod_named
from fullgraph.codemods.rewrite.diff import patch
from fullgraph.codemods.rewrite.walk import SUFFIXES
from fullgraph.codemods.ui.config import as_text
from fullgraph.codemods.ui.screen import joined, screen
from fullgraph.codemods.ui.terminal import paint, paint_patch, wrap

MOST = 40
"""Lines of an example that a terminal shows."""

ON_REQUEST = "On request: it runs only where it is selected by name, or a ticket asks for it."
TESTS = "Writes tests: `fix --write-tests` puts a regression test into the project's tests folder with each finding."


def list_codemods(files: Sequence[Path] = (), color: bool = False) -> str:
    """The codemods by subject, each with what it does and what was measured: of these files, or all installed ones."""
    from rich.text import Text

    where = screen(color)
    lines: list[Text] = []
    kinds = held_by(files) or all_codemods()
    for subject, group in groupby(sorted(kinds.values(), key=lambda kind: (subject_of(kind), kind.name)), subject_of):
        lines += [Text(), *where.wrap(Text(subject, "bold"))] if lines else where.wrap(Text(subject, "bold"))
        for kind in group:
            lines.append(
                Text.assemble("  ", (kind.name, "cyan"), ("  on request" if kind.on_request else "", "yellow"))
            )
            lines += where.wrap(Text(summary_of(kind)), 6)
            lines += where.wrap(Text(worth_of(kind), "dim"), 6)
    return where.show(joined(lines))


def subject_of(kind: type[Codemod]) -> str:
    """What the folder of the codemod is about, as the folder says; else where it comes from."""
    package = sys.modules.get(kind.__module__.rpartition(".")[0])
    return (inspect.getdoc(package) or "").rstrip(".") if package else Path(inspect.getfile(kind)).name


def worth_of(kind: type[Codemod]) -> str:
    """`Proven in 3 of 4 fixtures: breaks 2 > 0 (torch 2.13.0, cpu)`"""
    from fullgraph.codemods.ui.measured import stored_rows

    rows = [row for _, row in stored_rows(kind.name)]
    proven = [row for row in rows if row["ruling"] == "proven"]
    if not proven:
        return f"No gain measured in {len(rows)} fixtures." if rows else "Nothing measured."
    best = proven[0]
    gained = "; ".join(best["numbers"][name] for name in best["better"] if name in best["numbers"])
    on = f"torch {best['torch'].partition('+')[0]}, {best['device']}"
    return f"Proven in {len(proven)} of {len(rows)} fixtures{f': {gained}' if gained else ''} ({on})."


def summary_of(kind: type[Codemod]) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def held_by(files: Sequence[Path]) -> dict[str, type[Codemod]]:
    from fullgraph.codemods.foreign.load import load_codemods

    return {kind.name: kind for file in files for kind in load_codemods(file)}


def explain(name: str, color: bool = False, files: Sequence[Path] = ()) -> str:
    """Everything about one codemod, in the width of the terminal: what it does, an example, then the details."""
    kind = codemod_named(name, {**all_codemods(), **held_by(files)})
    summary, *paragraphs = (inspect.getdoc(kind) or "").split("\n\n")
    sections = [
        f"{paint(name, color, bold=True)}\n{wrap(summary, '')}",
        wrap(ON_REQUEST, "") if kind.on_request else "",
    ]
    sections += [example_text(name, color), *map(reflowed, paragraphs)]
    sections += [options_text(kind, color), evidence_text(kind, color)]
    sections.append(wrap(TESTS, "") if kind.writes_tests else "")
    sections.append(f"Silence it on a line:  # fullgraph: ignore[{name}]")
    return "\n\n".join(section for section in sections if section) + "\n"


def reflowed(paragraph: str) -> str:
    """A paragraph in the width of the terminal; items of a list stay apart, and code stays as it is."""
    if any(line.startswith("    ") for line in paragraph.splitlines()):
        return paragraph
    items = re.split(r"\n(?=- )", paragraph)
    return "\n".join(wrap(" ".join(item.split()), "  " if item.startswith("- ") else "") for item in items)


class Setting(NamedTuple):
    """One option of a codemod: what may stand behind the `=`, what holds without it, what it means."""

    name: str
    choices: str
    default: str
    meaning: str


def settings_of(kind: type[Codemod]) -> list[Setting]:
    hints = get_type_hints(kind.options_type())
    return [
        Setting(
            item.name,
            choices(hints[item.name]),
            as_text(item.default) if item.default not in ("", None) else "",
            item.metadata.get("doc", ""),
        )
        for item in fields(kind.options_type())
        if item.metadata
    ]


def options_text(kind: type[Codemod], color: bool) -> str:
    lines = []
    for setting in settings_of(kind):
        default = f" (default: {setting.default})" if setting.default else ""
        lines.append(f"  --option {kind.name}.{setting.name}={setting.choices}{default}")
        lines.append(wrap(f"      {setting.meaning}", "      "))
    return "\n".join([paint("Options", color, bold=True), *lines]) if lines else ""


def evidence_text(kind: type[Codemod], color: bool) -> str:
    """What is said of such findings, and what came out when its fixtures were proven."""
    from fullgraph.codemods.ui.measured import measured_text

    lines = [wrap(f"Claimed: {kind.claim}")] if kind.claim else []
    lines += [wrap(f"Measured: {line}") for line in measured_text(kind.name)]
    return "\n".join([paint("Claim and measurement", color, bold=True), *lines]) if lines else ""


def choices(hint: Any) -> str:
    """What may stand behind the `=` of a setting."""
    if get_origin(hint) is Literal:
        return "|".join(get_args(hint))
    return {bool: "true|false", int: "NUMBER", str: "TEXT"}[hint]


def example_text(name: str, color: bool) -> str:
    """The example as a diff; of a long one the beginning."""
    lines = example_of(name).splitlines(keepends=True)
    more = f"\n... {len(lines) - MOST} more lines" if len(lines) > MOST else ""
    shown = paint_patch(b"".join(lines[:MOST]), color).rstrip()
    return f"{paint('Example', color, bold=True)}\n{shown}{more}" if lines else ""


def example_of(name: str) -> bytes:
    """The fixture `basic`, or the first that changes, as a diff."""
    folder = fixtures_folder() / name
    for case in sorted(folder.glob("*/"), key=lambda case: (case.name != "basic", case)) if folder.is_dir() else []:
        before, after = side(case, "before"), side(case, "after")
        if after:
            return patch({path: before.get(path) for path in after}, after)
    return b""


def side(case: Path, name: str) -> dict[str, bytes]:
    """One side of a fixture. A single file `before.py` is the file `module.py` of a project of one."""
    tree = case / name
    if tree.is_dir():
        files = {file.relative_to(tree).as_posix(): file for file in sorted(tree.rglob("*")) if file.suffix in SUFFIXES}
    else:
        files = {f"module{file.suffix}": file for file in sorted(case.glob(f"{name}.*")) if file.suffix in SUFFIXES}
    return {path: file.read_bytes() for path, file in {**files, **written(case, name)}.items()}


def written(case: Path, name: str) -> dict[str, Path]:
    """The files of `after` that stand elsewhere: in another fixture of the codemod, or in `codemods/payload`."""
    settings = case / "case.toml"
    if name != "after" or not settings.is_file():
        return {}
    held = tomllib.loads(settings.read_text()).get("written", {})
    return {path: place_of(case, place) for path, place in held.items()}


def place_of(case: Path, place: str) -> Path:
    return FOLDER / place.removeprefix("payload/") if place.startswith("payload/") else case.parent / place


def fixtures_folder() -> Path:
    """Inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "fixtures"
    return inside if inside.is_dir() else package.parent / "fixtures"
