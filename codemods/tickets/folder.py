"""All tickets below a folder, the worst first."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from fullgraph.codemods.tickets.limits import FILES, MARKDOWN_BYTES, RECORD_BYTES
from fullgraph.codemods.tickets.model import UNKNOWN, Ticket, TicketError
from fullgraph.codemods.tickets.read import RECORDS, read_tickets

SUFFIXES = (".md", ".markdown", *RECORDS)


def read_folder(folder: Path, root: Path | None = None) -> list[tuple[str, list[Ticket] | TicketError]]:
    """Every file below a folder with its tickets, or what is wrong with it, in order of the worst open ticket.

    Paths are relative to `root`, by default the folder. Links are not followed, so nothing outside is read.
    """
    base = root or folder
    found = [(path, read_file(file, path)) for file, path in ticket_files(folder, base)]
    return sorted(found, key=lambda pair: (worst(pair[1]), pair[0]))


def by_severity(tickets: Iterable[Ticket]) -> list[Ticket]:
    """The worst first, the unknown last; otherwise as they came."""
    return sorted(tickets, key=lambda ticket: ticket.severity.rank)


def worst(tickets: list[Ticket] | TicketError) -> int:
    """The rank of a file: of its worst open ticket; settled ones come after the unknown, errors last."""
    if isinstance(tickets, TicketError):
        return UNKNOWN + 2
    return min((ticket.severity.rank for ticket in tickets if not ticket.is_resolved), default=UNKNOWN + 1)


def ticket_files(folder: Path, base: Path) -> Iterator[tuple[Path, str]]:
    """Files that could hold tickets, in order of their paths; hidden folders are passed over."""
    count = 0
    for outer, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.casefold().endswith(SUFFIXES) and not name.startswith("."):
                count += 1
                if count > FILES:
                    raise TicketError(str(folder), f"more than {FILES:,} files; name a folder further down")
                file = Path(outer, name)
                yield file, Path(os.path.relpath(file, base)).as_posix()


def read_file(file: Path, path: str) -> list[Ticket] | TicketError:
    """The tickets of one file. What is not a plain file is not opened, and what is too big is not read."""
    try:
        status = os.lstat(file)
        if not stat.S_ISREG(status.st_mode):
            return TicketError(path, "a link; left alone" if stat.S_ISLNK(status.st_mode) else "not a file")
        limit = RECORD_BYTES if path.casefold().endswith(RECORDS) else MARKDOWN_BYTES
        if status.st_size > limit:
            return TicketError(path, f"{status.st_size:,} bytes; more than {limit:,} are not read as a ticket")
        return read_tickets(path, file.read_bytes())
    except TicketError as error:
        return error
    except OSError as error:
        return TicketError(path, f"not readable: {error.strerror}")
