"""Write the page of every codemod, and their index, from the code: docstring, settings, stored measurements, a fixture.

`python scripts/docs.py` writes docs/codemods/; another folder may be named.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.registry import bundled
from fullgraph.codemods.ui.explain import ON_REQUEST, TESTS, example_of, settings_of, subject_of, summary_of
from fullgraph.codemods.ui.measured import numbers_text, stored_rows

FOLDER = Path(__file__).parent.parent / "docs" / "codemods"
MADE = "<!-- Made by `make docs` from the code; edits here are lost. -->"
INTRODUCTION = """\
# The codemods

What each one does, what it was measured to be good for, and what it leaves alone. `fullgraph explain NAME` says
the same on a terminal. The verdicts are those of the fixtures that have a scenario:
[how the validator decides](../validator.md)."""
MARKS = re.compile(r"([*_<\[\]])")


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"README.md": index_page(), **{f"{name}.md": codemod_page(kind) for name, kind in bundled().items()}}
    for stale in set(folder.glob("*.md")) - {folder / name for name in pages}:
        stale.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


# The index


def index_page() -> str:
    kinds = sorted(bundled().values(), key=lambda kind: (subject_of(kind), kind.name))
    sections = [MADE, INTRODUCTION]
    for subject, group in groupby(kinds, key=subject_of):
        rows = [f"| [`{kind.name}`]({kind.name}.md) | {index_text(kind)} | {rulings(kind)} |" for kind in group]
        table = ["| codemod | what it does | verdicts of its fixtures |", "|---|---|---|", *rows]
        sections += [f"## {subject}", "\n".join(table)]
    return "\n\n".join(sections) + "\n"


def index_text(kind: type[Codemod]) -> str:
    return escape(summary_of(kind)) + (" On request." if kind.on_request else "")


def rulings(kind: type[Codemod]) -> str:
    counted = Counter(row["ruling"] for _, row in stored_rows(kind.name))
    return ", ".join(f"{number} {ruling}" for ruling, number in sorted(counted.items(), reverse=True))


# A page


def codemod_page(kind: type[Codemod]) -> str:
    summary, body, measured, left_alone = parts_of(inspect.getdoc(kind) or "")
    sections = [MADE, f"# {kind.name}", escape(summary), *usage(kind)]
    sections += ["## What it does", *map(as_markdown, body)]
    sections += ["## Options", options_table(kind)] if settings_of(kind) else []
    sections += ["## What was measured", *claim_of(kind), *map(as_markdown, measured), measured_table(kind)]
    sections += ["## Left alone", as_markdown(left_alone), fixtures_line(kind)]
    sections += ["## Example", *example(kind)]
    return "\n\n".join(sections) + "\n"


def parts_of(doc: str) -> tuple[str, list[str], list[str], str]:
    """The first line, what it does, the paragraphs that measure or follow from one, and what is left alone."""
    summary, *paragraphs = doc.split("\n\n")
    text, _, left_alone = paragraphs.pop().partition("Left alone:")
    assert not text, f"the documentation must end with a paragraph `Left alone:`, not {text!r}"
    measured: list[str] = []
    for before, one in pairwise(["", *paragraphs]):
        if one.startswith("Measured") or (one.startswith("So ") and before in measured):
            measured.append(one)
    return summary, [one for one in paragraphs if one not in measured], measured, left_alone.strip()


def usage(kind: type[Codemod]) -> Iterator[str]:
    name = kind.name
    yield f"```\nfullgraph check --select {name}\nfullgraph fix --select {name}\n```"
    yield f"`# fullgraph: ignore[{name}]` silences it on a line."
    if kind.on_request:
        yield ON_REQUEST
    if kind.writes_tests:
        yield TESTS


def options_table(kind: type[Codemod]) -> str:
    rows = [
        f"| `{setting.name}` | {cell(as_choices(setting.choices))} | {as_code(setting.default)} "
        f"| {cell(escape(setting.meaning))} |"
        for setting in settings_of(kind)
    ]
    example = f"--option {kind.name}.{settings_of(kind)[0].name}=..."
    set_by = f"Set by `{example}`, or in `pyproject.toml` below `[tool.fullgraph.options.{kind.name}]`.\n"
    return "\n".join([set_by, "| option | values | default | |", "|---|---|---|---|", *rows])


def as_choices(choices: str) -> str:
    """`a|b` are words to type; NUMBER and TEXT are none."""
    return choices.lower() if choices.isupper() else ", ".join(as_code(word) for word in choices.split("|"))


def as_code(text: str) -> str:
    return f"`{text}`" if text else ""


def claim_of(kind: type[Codemod]) -> list[str]:
    return [f"What reviews say of such code: {escape(kind.claim)}"] if kind.claim else []


def measured_table(kind: type[Codemod]) -> str:
    """A row for each fixture that was proven, as `make measure` stored it."""
    head = ["| fixture | torch | device | verdict | numbers, before > after |", "|---|---|---|---|---|"]
    rows = [
        f"| [{case}](../../fixtures/{kind.name}/{case}) | {row['torch']} | {row['device']} | {row['ruling']} "
        f"| {cell(escape(numbers_text(row)))} |"
        for case, row in stored_rows(kind.name)
    ]
    return "\n".join([*head, *rows])


def fixtures_line(kind: type[Codemod]) -> str:
    folder = f"fixtures/{kind.name}"
    return f"Its cases are in [{folder}](../../{folder}); those without an `after` must not change."


def example(kind: type[Codemod]) -> Iterator[str]:
    """The diff of a fixture. Of a file that it creates only the name and the length."""
    changed, *created = re.split(r"(?m)^(?=--- /dev/null$)", example_of(kind.name).decode())
    yield f"```diff\n{changed.rstrip()}\n```"
    for patch in created:
        name = patch.splitlines()[1].removeprefix("+++ b/")
        yield f"And a new file, `{name}`, of {len(re.findall(r'(?m)^[+](?![+][+] )', patch))} lines."


# From a docstring to Markdown


def as_markdown(paragraph: str) -> str:
    """A paragraph of a docstring with the lists inside it. A text is one line, so that no `>` or `-` begins one."""
    blocks: list[str] = []
    for line in paragraph.splitlines():
        is_item, goes_on = line.startswith("- "), line.startswith("  ")
        in_list = bool(blocks) and blocks[-1].startswith("- ")
        if blocks and not is_item and (goes_on or not in_list):
            blocks[-1] += f" {line.strip()}"
        elif is_item and in_list:
            blocks.append(line)
        else:
            blocks += ["", line] if blocks else [line]
    return "\n".join(f"- {escape(line[2:])}" if line.startswith("- ") else escape(line) for line in blocks)


def escape(text: str) -> str:
    """Plain text in which only what stands in backticks is code, and nothing else is a mark."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else MARKS.sub(r"\\\1", piece) for piece in pieces)


def cell(text: str) -> str:
    return text.replace("|", r"\|")


if __name__ == "__main__":
    sys.exit(main())
