"""What the server knows and does between messages: projects, looks at files, and who is told of what."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, ParamSpec, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from fullgraph.codemods.lsp.files import OpenFile, OpenFiles
from fullgraph.codemods.lsp.projects import LiveProject
from fullgraph.codemods.lsp.proofs import Judged, RunningProof
from fullgraph.codemods.lsp.settings import ClientSettings
from fullgraph.codemods.lsp.telling import Look, Teller
from fullgraph.codemods.lsp.undoing import Memory
from fullgraph.codemods.model import Span
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.ui.scenarios import symbol_span

DEBOUNCE = 0.02
"""Seconds without a key before a file is looked at."""

LONGEST_WAIT = 1.0
TIDY_AFTER = 2.0
"""Seconds of quiet after which memory is tidied up: never between a key and its diagnostics."""

UNTIDY = 20
"""Looks after which it is tidied up even if somebody goes on typing."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass
class Desk:
    """Everything but the messages. Projects are only touched in `thread`, the rest only in the event loop."""

    server: LanguageServer
    tell: Teller
    settings: ClientSettings = field(default_factory=ClientSettings)
    lives: dict[Path, LiveProject] = field(default_factory=dict)
    looks: dict[tuple[Path, str], Look] = field(default_factory=dict)
    judged: list[Judged] = field(default_factory=list)
    memory: Memory = field(default_factory=Memory)
    proofs: set[RunningProof] = field(default_factory=set)
    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "look"))
    long: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "long"))
    """For what takes longer than a look; it gets a project of its own."""

    changed: dict[Path, float] = field(default_factory=dict)
    """The projects in which something was typed, with the moment; the newest is looked at next."""

    recent: list[str] = field(default_factory=list)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    looking: set[Path] = field(default_factory=set)
    is_behind: bool = False
    """Whether the last key came while its project was still being looked at, which `took` so long the last time."""

    took: float = 0.0
    untidy: int = 0
    _files: OpenFiles | None = None

    # Files and projects

    @property
    def files(self) -> OpenFiles:
        if self._files is None:
            self._files = OpenFiles(self.server.workspace)  # type: ignore[arg-type]
        return self._files

    @property
    def encoding(self) -> str:
        return types.PositionEncodingKind(self.server.workspace.position_encoding).value

    def live(self, root: Path) -> LiveProject:
        if root not in self.lives:
            self.lives[root] = LiveProject(root, self.settings)
        return self.lives[root]

    def buffers(self, root: Path) -> dict[str, bytes]:
        return {file.path: file.raw for file in self.files.all() if file.root == root}

    async def run(self, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """Do something with a project, in the thread of projects."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, lambda: work(*given, **named))

    # Looking

    def typed(self, uri: str) -> None:
        """Something has changed in a text: its project is looked at soon, and this text first."""
        self.recent = [uri, *(other for other in self.recent if other != uri)]
        if file := self.files.find(uri):
            self.look_soon(file.root)

    def look_soon(self, root: Path) -> None:
        is_waiting = root in self.changed
        self.is_behind = root in self.looking
        self.changed[root] = monotonic()
        if not is_waiting:
            self.start(self._look_when_quiet(root))

    def start(self, work: Any) -> None:
        """Do something in the background; what goes wrong there is a line in the log."""
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self.tell.log(f"{type(error).__name__}: {error}")

    async def _look_when_quiet(self, root: Path) -> None:
        """Look at the last version of everything: what was typed meanwhile begins it anew."""
        first = monotonic()
        while (left := self.changed[root] + self.pause - monotonic()) > 0 and monotonic() - first < LONGEST_WAIT:
            await asyncio.sleep(left)
        del self.changed[root]
        began = monotonic()
        self.looking.add(root)
        try:
            await self.look_at_all(root)
        finally:
            self.looking.discard(root)
        self.took = monotonic() - began
        self.untidy += 1
        if self.untidy < UNTIDY:
            await asyncio.sleep(TIDY_AFTER)
        if self.untidy >= UNTIDY or not self.changed:
            self.untidy = 0
            await self.run(gc.collect)

    @property
    def pause(self) -> float:
        """Longer for whoever types faster than files are looked at: the looks in between are for nobody."""
        return max(DEBOUNCE, min(self.took / 2, LONGEST_WAIT / 2)) if self.is_behind else DEBOUNCE

    async def look_at_all(self, root: Path) -> None:
        """Look at every open file of a project, the one that was typed in first, until something newer comes."""
        files = [file for file in self.files.all() if file.root == root]
        order = {uri: number for number, uri in enumerate(self.recent)}
        files.sort(key=lambda file: min(order.get(uri, len(order)) for uri, _ in (*file.parts, (file.uri, None))))
        buffers = {file.path: file.raw for file in files}
        for file in files:
            await self.look_at(file, buffers)
            if root in self.changed:
                return

    async def look_at(self, file: OpenFile, buffers: dict[str, bytes]) -> Look | None:
        """Look at one file and tell the client; None if that is an old version by now."""
        result, marks = await self.run(self._examine, self.live(file.root), file.path, buffers)
        if file not in self.files.all():
            return None
        look = Look(file, file.page(self.encoding), result)
        self.looks[file.root, file.path] = look
        self.tell.publish(look, marks)
        self.tell.problems(self.live(file.root).problem, f"{file.path}: {result.error}" if result.error else "")
        return look

    def _examine(
        self, live: LiveProject, path: str, buffers: dict[str, bytes]
    ) -> tuple[FileResult, list[tuple[Judged, Span]]]:
        """What is found in a file, and the verdicts that still hold for its functions."""
        result = live.look(path, buffers)
        marks = []
        for judged in [one for one in self.judged if (one.sides.root, one.path) == (live.root, path)]:
            project = live.laid_over(buffers)
            span = symbol_span(project, path, judged.symbol)
            if span and judged.holds(project):
                marks.append((judged, span))
        return result, marks

    async def current(self, uri: str) -> Look | None:
        """The look at a text as it is now."""
        file = self.files.find(uri)
        if file is None:
            return None
        known = self.looks.get((file.root, file.path))
        return known if known and known.file == file else await self.look_at(file, self.buffers(file.root))

    def forget_closed(self) -> None:
        """Drop what is known of files that are no longer open."""
        open_now = {(file.root, file.path) for file in self.files.all()}
        for here in self.tell.forget_all_but(open_now):
            self.looks.pop(here, None)
        for root in self.lives.keys() - {root for root, _ in open_now}:
            del self.lives[root]

    # What changes around the files

    def take_settings(self, settings: ClientSettings) -> None:
        self.settings = settings
        for live in self.lives.values():
            live.settings = settings
        self.looks.clear()

    def disk_changed(self) -> None:
        """Files were written, made or removed by somebody: the disk is looked at again before the next look."""
        self.files.homes.clear()
        self.looks.clear()
        for live in self.lives.values():
            live.is_stale = True

    def look_at_everything(self) -> None:
        for root in {file.root for file in self.files.all()}:
            self.look_soon(root)

    def notebook_typed(self, uri: str) -> None:
        for file in self.files.all():
            if file.uri == uri:
                self.recent = [uri, *(other for other in self.recent if other != uri)]
                self.look_soon(file.root)

    def warm_up(self) -> None:
        """Load every codemod before the first file is opened."""
        from fullgraph.codemods.registry import all_codemods

        all_codemods()
        gc.freeze()
        gc.disable()

    # The end

    async def close(self) -> None:
        """Stop what is under way: no process and no thread outlives the server."""
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*(proof.stop() for proof in self.proofs))
        for pool in (self.thread, self.long):
            pool.shutdown(wait=False, cancel_futures=True)
