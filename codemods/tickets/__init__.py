"""Tickets: what others wrote about the code, read as evidence. What a ticket says is never taken for true here."""

from codemods.tickets.folder import by_severity, read_folder
from codemods.tickets.model import NoTicketError, Ticket, TicketError
from codemods.tickets.read import read_tickets

__all__ = ["NoTicketError", "Ticket", "TicketError", "by_severity", "read_folder", "read_tickets"]
