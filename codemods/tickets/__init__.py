"""Tickets: what others wrote about the code, read as evidence. What a ticket says is never taken for true here."""

from fullgraph.codemods.tickets.folder import by_severity, read_folder
from fullgraph.codemods.tickets.model import NoTicketError, Ticket, TicketError
from fullgraph.codemods.tickets.read import read_tickets

__all__ = ["NoTicketError", "Ticket", "TicketError", "by_severity", "read_folder", "read_tickets"]
