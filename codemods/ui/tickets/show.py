"""What `ticket show` says: what was understood of tickets, where their code is, and which codemod is for it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click

from fullgraph.codemods.codemod import check_torch
from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.registry import all_codemods
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.walk import Tree, plant_trees
from fullgraph.codemods.tickets.folder import read_file, read_folder
from fullgraph.codemods.tickets.model import NoTicketError, Ticket, TicketError
from fullgraph.codemods.tickets.routes.firing import Catalogue
from fullgraph.codemods.tickets.understanding import understand
from fullgraph.codemods.ui.config import read_config, with_torch
from fullgraph.codemods.ui.plain import plain


@dataclass
class Desk:
    """The project that tickets are about, and what was wrong with their files."""

    root: Path
    tree: Tree
    catalogue: Catalogue
    errors: list[tuple[str, str]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        return 2 if self.errors else 0


def show(files: tuple[Path, ...], path: Path, form: str, color: bool, torch: str, *, even_settled: bool) -> int:
    """Report what is understood of the tickets in files and folders; the exit code."""
    desk = open_desk(path, torch)
    desk.notices += filter(None, [Journal(desk.root).warning()])
    tickets = [ticket for file in files for _, ticket in tickets_in(file, desk)]
    understood = [understand(ticket, desk.catalogue, even_settled=even_settled) for ticket in tickets]
    if form == "json":
        from fullgraph.codemods.ui.tickets.as_json import as_json

        click.echo(json.dumps(as_json(understood, desk.root, desk.exit_code, desk.errors), indent=2))
    else:
        from fullgraph.codemods.ui.tickets.as_text import as_text

        click.echo(as_text(understood, color), nl=False)
    for place, reason in desk.errors:
        click.echo(plain(f"{place}: error: {reason}"), err=True)
    for notice in desk.notices:
        click.echo(plain(f"fullgraph: {notice}"), err=True)
    return desk.exit_code


def open_desk(path: Path, torch: str = "") -> Desk:
    """The project around a path, and the codemods, which write for this torch."""
    trees, wrong = plant_trees([path])
    if wrong:
        raise FullgraphError(": ".join(wrong[0]))
    tree = trees[0]
    config = read_config(tree.root)
    settings = with_torch(config.options, all_codemods(), check_torch("--torch", torch) or config.torch)
    return Desk(tree.root, tree, Catalogue(Project(tree.root, tree.entries), all_codemods(), settings))


def tickets_in(file: Path, desk: Desk) -> Iterator[tuple[Path, Ticket]]:
    """The tickets of a file, or of all files below a folder, of which those without tickets are passed over."""
    if not file.is_dir():
        yield from ((file, ticket) for ticket in taken(read_file(file, name_of(file, desk.root)), desk))
        return
    quiet = 0
    base = desk.root if is_below(file, desk.root) else file
    files = read_folder(file, base)
    if not files:
        desk.notices.append(f"there is no Markdown, JSON or SARIF below {file}")
    for path, found in files:
        if isinstance(found, NoTicketError):
            quiet += 1
        else:
            yield from ((base / path, ticket) for ticket in taken(found, desk))
    if quiet:
        desk.notices.append(f"{quiet} file{'s' * (quiet != 1)} below {file} hold{'s' * (quiet == 1)} no ticket")


def taken(found: list[Ticket] | TicketError, desk: Desk) -> list[Ticket]:
    if isinstance(found, TicketError):
        desk.errors.append((found.path, found.reason))
        return []
    return found


def name_of(file: Path, root: Path) -> str:
    """The path below the project's root, or as it was given: folders in it may say that a ticket is settled."""
    return Path(os.path.relpath(file, root)).as_posix() if is_below(file, root) else file.as_posix()


def is_below(file: Path, root: Path) -> bool:
    return Path(os.path.realpath(file.parent)).is_relative_to(os.path.realpath(root))
