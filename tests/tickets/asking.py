"""Tickets asked about a project, as the tests need it."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

from fullgraph.codemods.project import Project
from fullgraph.codemods.registry import bundled
from fullgraph.codemods.rewrite.walk import plant_trees
from fullgraph.codemods.tickets import Ticket, read_tickets
from fullgraph.codemods.tickets.place import locate
from fullgraph.codemods.tickets.places.model import Located
from fullgraph.codemods.tickets.route import route
from fullgraph.codemods.tickets.routes.firing import Catalogue
from fullgraph.codemods.tickets.routes.model import Routed

from .corpus import PROJECT

WHITENING = "src/orrery/agents/whitening.py"
EPOCHS = "src/orrery/training/epochs.py"


def catalogue_of(root: Path) -> Catalogue:
    tree = plant_trees([root])[0][0]
    return Catalogue(Project(tree.root, tree.entries), bundled())


@cache
def sample_catalogue() -> Catalogue:
    return catalogue_of(PROJECT)


def ticket_of(text: str) -> Ticket:
    (ticket,) = read_tickets("ticket.md", text.encode())
    return ticket


def locate_in(root: Path, text: str) -> Located:
    return locate(ticket_of(text), catalogue_of(root).project)


def route_in(root: Path, text: str) -> Routed:
    catalogue = catalogue_of(root) if root != PROJECT else sample_catalogue()
    ticket = ticket_of(text)
    return route(ticket, locate(ticket, catalogue.project), catalogue)


def copied(folder: Path) -> Path:
    """The sample project, to be changed."""
    root = folder / "orrery"
    shutil.copytree(PROJECT, root)
    return root


def rewrite(root: Path, path: str, old: str, new: str) -> None:
    file = root / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def git(root: Path, *arguments: str) -> None:
    names = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *names, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path, message: str = "a change") -> None:
    if not (root / ".git").exists():
        git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)
