"""Work that takes a while: the client shows how far it is, and may stop it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import uuid4

from lsprotocol.types import WorkDoneProgressBegin, WorkDoneProgressEnd, WorkDoneProgressReport
from pygls.lsp.server import LanguageServer

Report = Callable[[str], None]


@asynccontextmanager
async def shown(server: LanguageServer, title: str, stop: Callable[[], object]) -> AsyncIterator[Report]:
    """Tell the client of work as long as the block runs; `stop` is called when the user wants it to end."""
    window = server.client_capabilities.window
    if not (window and window.work_done_progress):
        yield lambda message: None
        return
    token = str(uuid4())
    progress = server.work_done_progress
    await progress.create_async(token)
    progress.tokens[token].add_done_callback(lambda _: stop())
    progress.begin(token, WorkDoneProgressBegin(title, cancellable=True))
    said = "done"
    try:
        yield lambda message: progress.report(token, WorkDoneProgressReport(message=message, cancellable=True))
        said = "stopped" if progress.tokens[token].cancelled() else said
    finally:
        progress.tokens.pop(token, None)
        progress.end(token, WorkDoneProgressEnd(message=said))
