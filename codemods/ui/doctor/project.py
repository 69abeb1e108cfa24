"""The project around a path: its configuration, what was observed, the journal, git."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.walk import MARKERS
from fullgraph.codemods.ui.ci.git import Repository
from fullgraph.codemods.ui.config import choose_codemods, read_config
from fullgraph.codemods.ui.doctor.model import FINE, NOTE, PROBLEM, Fact
from fullgraph.codemods.ui.observed.command import DEFAULT
from fullgraph.codemods.ui.observed.files import Texts
from fullgraph.codemods.ui.observed.join import read_observed


def look_at(root: Path) -> Iterator[Fact]:
    yield project(root)
    yield config(root)
    yield journal(root)
    yield git(root)
    yield evidence(root)


def project(root: Path) -> Fact:
    marks = [marker for marker in MARKERS if os.path.lexists(root / marker)]
    if not marks:
        return Fact("project", NOTE, f"{root}: nothing marks it as a project ({', '.join(MARKERS)})")
    return Fact("project", FINE, f"{root}, by {marks[0]}")


def config(root: Path) -> Fact:
    """Both that the table can be read and that the codemods and options in it exist."""
    try:
        held = read_config(root)
        chosen = choose_codemods(held)
    except FullgraphError as error:
        return Fact("config", PROBLEM, str(error), "fullgraph doctor --schema")
    data = {"file": str(held.file or ""), "codemods": [codemod.name for codemod in chosen]}
    where = str(held.file or "no pyproject.toml")
    return Fact("config", FINE, f"{where}: {len(chosen)} codemods run", "", data)


def journal(root: Path) -> Fact:
    held = Journal(root)
    if said := held.warning():
        interrupted = "was interrupted" in said
        return Fact("journal", PROBLEM if interrupted else NOTE, said, "fullgraph recover" * interrupted)
    runs = len(held.runs()) if os.path.lexists(root / DEFAULT.parent) else 0
    text = f"{runs} run{'s' * (runs != 1)}; `fullgraph undo` takes the last back" if runs else "nothing was written yet"
    return Fact("journal", FINE, text, "", {"runs": runs})


def git(root: Path) -> Fact:
    try:
        repository = Repository.around(root)
        branch = repository.ask("branch", "--show-current").strip() or "no branch"
        changed = repository.changed()
    except FullgraphError as error:
        return Fact("git", NOTE, f"{error}; --since and --before need it", "", {"branch": "", "changed": 0})
    text = f"{branch}, {len(changed)} changed file{'s' * (len(changed) != 1)}" if changed else f"{branch}, clean"
    return Fact("git", FINE, text, "", {"branch": branch, "changed": len(changed)})


def evidence(root: Path) -> Fact:
    """What the last observed run has left behind, and whether the files are still those that ran."""
    file = root / DEFAULT
    if not os.path.lexists(file):
        return Fact("evidence", NOTE, "no run was observed: findings are not ranked by what they cost")
    try:
        held = read_observed(file)
    except FullgraphError as error:
        return Fact("evidence", NOTE, str(error), "fullgraph observe -- COMMAND")
    texts = Texts({})
    stale = [name for name, one in held["files"].items() if one.get("sha256") != texts.digest(root / name)]
    command = " ".join(map(str, held["command"]))
    text = f"{command}: {len(held['entries'])} compiled, host reads on {len(held['reads'])} lines"
    if stale:
        text += f"; {len(stale)} of {len(held['files'])} files have changed since"
    data = {"file": str(file), "stale": stale}
    return Fact("evidence", NOTE if stale else FINE, text, f"fullgraph check --observed {DEFAULT}", data)
