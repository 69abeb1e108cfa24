"""What a user sets off: code actions that were chosen, proofs, undo."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from fullgraph.codemods.lsp.desk import Desk
from fullgraph.codemods.lsp.edits import Abilities, Composer
from fullgraph.codemods.lsp.files import uri_of
from fullgraph.codemods.lsp.fixing import Fixed, OnlyOne, accept_all, fix_files, fix_project
from fullgraph.codemods.lsp.pages import Page, text_page
from fullgraph.codemods.lsp.progress import shown
from fullgraph.codemods.lsp.proofs import Judged, RunningProof, task_for
from fullgraph.codemods.lsp.telling import Look
from fullgraph.codemods.lsp.undoing import step_back, undo_on_disk
from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.source import decode
from fullgraph.codemods.ui.scenarios import Proof
from fullgraph.validate.model import ValidateError

PROVE, UNDO, REMEMBER = "fullgraph.prove", "fullgraph.undo", "fullgraph.remember"


class Stopped(Exception):  # noqa: N818 - it is what the user wanted
    """Raised inside work that the user has stopped."""


@dataclass
class Commands:
    """The commands of the server."""

    desk: Desk

    def add_to(self, server: LanguageServer) -> None:
        @server.command(PROVE)
        def prove(*given: Any) -> None:
            self.desk.start(self.prove(*texts_of(given[0] if given else None, "uri", "symbol", "scenario")))

        @server.command(UNDO)
        async def undo(*given: Any) -> str:
            asked = {"uri": "", **as_dict(given[0] if given else None)}
            return await self.undo(*texts_of(asked, "uri"))

        @server.command(REMEMBER)
        def remember(*given: Any) -> None:
            self.desk.memory.note_made(str(given[0] if given else ""))

    # Code actions

    async def complete(self, action: types.CodeAction) -> types.CodeAction:
        """An action with what it changes. One that changes nothing says why."""
        uri, scope, key = texts_of(action.data, "uri", "scope", "key")
        unsafe = bool(as_dict(action.data).get("unsafe"))
        look = await self.desk.current(uri)
        if look is None:
            return action
        try:
            fixed = await self.work_out(look, scope, key, unsafe)
            if not fixed.after:
                raise FullgraphError(why_nothing(fixed))
            action.edit = self.edit_of(look.file.root, fixed, confirm=unsafe or scope == "project")
        except FullgraphError as error:
            self.desk.tell.show(str(error), types.MessageType.Warning)
            return action
        name = self.desk.memory.offer(look.file.root, fixed)
        action.command = types.Command("Remember for undo", REMEMBER, arguments=[name])
        return action

    async def work_out(self, look: Look, scope: str, key: str, unsafe: bool) -> Fixed:
        live, buffers = self.desk.live(look.file.root), self.desk.buffers(look.file.root)
        if scope == "project":
            return await self.work_out_project(look.file.root, unsafe)
        reviewer = OnlyOne(key) if scope == "finding" else accept_all(unsafe)
        return await self.desk.run(fix_files, live, {look.file.path}, buffers, reviewer, lambda path: None)

    async def work_out_project(self, root: Path, unsafe: bool) -> Fixed:
        """In a thread of its own: looks at single files go on meanwhile."""
        apart, buffers = self.desk.live(root).apart(), self.desk.buffers(root)
        stop = threading.Event()
        loop = asyncio.get_running_loop()
        async with shown(self.desk.server, "fullgraph: fix the project", stop.set) as report:
            told = teller(stop, lambda path: loop.call_soon_threadsafe(report, path))
            work = loop.run_in_executor(self.desk.long, fix_project, apart, buffers, accept_all(unsafe), told)
            try:
                return await work
            except asyncio.CancelledError:
                stop.set()
                raise
            except Stopped:
                raise FullgraphError("stopped; nothing was changed") from None

    def edit_of(self, root: Path, fixed: Fixed, *, confirm: bool) -> types.WorkspaceEdit:
        files = self.desk.files.all()

        def page(path: str, raw: bytes) -> Page:
            own = next((file for file in files if (file.root, file.path) == (root, path)), None)
            if own:
                return own.page(self.desk.encoding)
            return text_page(decode(path, raw), uri_of(root, path, ()), None, self.desk.encoding)

        abilities = Abilities.of(self.desk.server.client_capabilities)
        composer = Composer(abilities, page, lambda path: uri_of(root, path, files))
        return composer.compose(fixed, confirm=confirm or fixed.is_unsafe)

    # Proofs

    def lens(self, proof: Proof, where: types.Location, uri: str) -> types.CodeLens:
        asked = {"uri": uri, "symbol": proof.symbol, "scenario": proof.scenario}
        return types.CodeLens(where.range, types.Command(f"prove ({proof.scenario})", PROVE, arguments=[asked]))

    async def prove(self, uri: str, symbol: str, scenario: str) -> None:
        """Run a scenario on a function; the verdict is a diagnostic at its name."""
        look = await self.desk.current(uri)
        if look is None:
            return
        root, path = look.file.root, look.file.path
        live, buffers = self.desk.live(root), self.desk.buffers(root)
        try:
            task, what = await self.desk.run(task_for, live, path, symbol, scenario, buffers, lambda _: None)
            said = await self.run_proof(task, f"prove {symbol}")
        except (FullgraphError, ValidateError) as error:
            self.desk.tell.show(f"undecided: {error}", types.MessageType.Warning)
            return
        if said is None:
            return
        self.desk.judged = [one for one in self.desk.judged if (one.path, one.symbol) != (path, symbol)]
        self.desk.judged.append(Judged(path, symbol, scenario, what, task.sides, said))
        self.desk.looks.pop((root, path), None)
        self.desk.look_soon(root)

    async def run_proof(self, task: Any, title: str) -> Any:
        proof = await RunningProof.start(task)
        self.desk.proofs.add(proof)
        loop = asyncio.get_running_loop()
        try:
            async with shown(self.desk.server, title, lambda: loop.create_task(proof.stop())) as report:
                return await proof.verdict(lambda stage, detail: report(f"{stage} {detail}".strip()))
        finally:
            self.desk.proofs.discard(proof)

    # Undo

    async def undo(self, uri: str) -> str:
        """Take back what was done last: by a code action, else by a command that the journal knows."""
        root = self.desk.files.home(uri)[0] if uri else self.only_root()
        try:
            said = await self.undo_action(root) or await self.undo_run(root)
        except FullgraphError as error:
            self.desk.tell.show(str(error), types.MessageType.Warning)
            return str(error)
        self.desk.tell.show(said)
        return said

    async def undo_action(self, root: Path | None) -> str:
        """What was done, in words; nothing if there was nothing to take back."""
        while made := self.desk.memory.last(root):
            home, fixed = made
            live, buffers = self.desk.live(home), self.desk.buffers(home)
            back = await self.desk.run(step_back, fixed, live, buffers)
            if back.after:
                edit = self.edit_of(home, back, confirm=False)
                params = types.ApplyWorkspaceEditParams(edit, "fullgraph: undo")
                done = await self.desk.server.workspace_apply_edit_async(params)
                if not done.applied:
                    raise FullgraphError(f"the editor did not take it back: {done.failure_reason or 'no reason given'}")
            self.desk.memory.made.remove(made)
            if back.after:
                return f"Took back {', '.join(sorted({finding.codemod for finding in fixed.applied}))}."
        return ""

    async def undo_run(self, root: Path | None) -> str:
        if root is None:
            raise FullgraphError("there is nothing to take back")
        said = await self.desk.run(undo_on_disk, root, self.desk.buffers(root))
        self.desk.disk_changed()
        self.desk.look_at_everything()
        return said

    def only_root(self) -> Path | None:
        roots = {file.root for file in self.desk.files.all()}
        return next(iter(roots)) if len(roots) == 1 else None


def why_nothing(fixed: Fixed) -> str:
    reasons = [f"{finding.path}:{finding.line}: {reason}" for finding, reason in fixed.left_out]
    return "; ".join(reasons) or "there is nothing to fix"


def teller(stop: threading.Event, tell: Callable[[str], Any]) -> Callable[[str], None]:
    """Tells of each file, unless the user has had enough."""

    def told(path: str) -> None:
        if stop.is_set():
            raise Stopped
        tell(path)

    return told


def as_dict(held: Any) -> dict[str, Any]:
    """What a client gave back of the data that it was given."""
    if isinstance(held, dict):
        return held
    return dict(held._asdict()) if hasattr(held, "_asdict") else {}


def texts_of(held: Any, *keys: str) -> list[str]:
    """What a client gave back under these keys; something else is the client's mistake, and told as one."""
    given = as_dict(held)
    if wrong := [key for key in keys if not isinstance(given.get(key), str)]:
        raise JsonRpcInvalidParams(f"Invalid Params: {', '.join(wrong)} must be a string")
    return [given[key] for key in keys]
