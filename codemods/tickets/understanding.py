"""A ticket with all that is understood of it: where its code is, and which codemod is for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fullgraph.codemods.tickets.model import Ticket
from fullgraph.codemods.tickets.place import locate
from fullgraph.codemods.tickets.places.model import Located
from fullgraph.codemods.tickets.route import route
from fullgraph.codemods.tickets.routes.commands import commands_for
from fullgraph.codemods.tickets.routes.firing import Catalogue
from fullgraph.codemods.tickets.routes.model import Routed


@dataclass(frozen=True)
class Understood:
    """One ticket with its place and its route."""

    ticket: Ticket
    located: Located
    routed: Routed


def understand(ticket: Ticket, catalogue: Catalogue, *, even_settled: bool = False) -> Understood:
    located = locate(ticket, catalogue.project)
    routed = route(ticket, located, catalogue, even_settled=even_settled)
    commands = commands_for(ticket, located, routed, catalogue.project)
    return Understood(ticket, located, replace(routed, commands=commands))
