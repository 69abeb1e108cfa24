"""A client as an editor is one: it opens, types, asks for actions, and makes the edits that it is given."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Union

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

from fullgraph.codemods.lsp.positions import Lines

COMMAND = [str(Path(sys.executable).parent / "fullgraph"), "lsp"]
PATIENCE = 300
"""Seconds after which something that should happen never will; a busy machine may be slow."""


class Editor:
    """What a person sees of the server: texts, diagnostics, messages."""

    def __init__(self, client: LanguageClient, encoding: str = "utf-16") -> None:
        self.client = client
        self._told, self._logged = len(client.messages), len(client.log_messages)
        self.encoding = encoding
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.capabilities: types.ServerCapabilities
        self.registered: list[types.Registration] = []
        self.applied: list[types.WorkspaceEdit] = []
        self.seen: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        """What was published last, with its version."""

    @property
    def messages(self) -> list[str]:
        """What the user was told, since this editor was opened."""
        return [message.message for message in self.client.messages[self._told :]]

    @property
    def logged(self) -> list[str]:
        return [message.message for message in self.client.log_messages[self._logged :]]

    # Typing

    def open(self, file: Path | str, text: str | None = None, language: str = "python") -> str:
        uri = file if isinstance(file, str) else uri_of(file)
        if text is None:
            assert isinstance(file, Path)
            text = file.read_bytes().decode()
        self.texts[uri], self.versions[uri] = text, 1
        item = types.TextDocumentItem(uri, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def type(self, uri: str, old: str, new: str) -> None:
        """Replace a piece of text, as typing does: only the change is sent."""
        start = self.texts[uri].index(old)
        self.replace(uri, start, start + len(old), new)

    def replace(self, uri: str, start: int, end: int, new: str) -> None:
        lines = Lines(self.texts[uri], self.encoding)
        where = types.Range(lines.position(start), lines.position(end))
        self.texts[uri] = self.texts[uri][:start] + new + self.texts[uri][end:]
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        change = types.TextDocumentContentChangePartial(where, new)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def save(self, uri: str) -> None:
        Path(path_of(uri)).write_bytes(self.texts[uri].encode())
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def close(self, uri: str) -> None:
        del self.texts[uri]
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    # Looking

    async def diagnostics(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """Those of the text as it is now."""
        wanted = self.versions[uri] if version is None else version
        await self.until(lambda: self.seen.get(uri, (0, []))[0] == wanted)
        return self.seen[uri][1]

    async def until(self, is_so: Any) -> None:
        async with asyncio.timeout(PATIENCE):
            while not is_so():
                await asyncio.sleep(0.01)

    def text_at(self, uri: str, where: types.Range) -> str:
        span = Lines(self.texts[uri], self.encoding).span(where)
        return self.texts[uri][span.start : span.end]

    # Asking

    async def actions(self, uri: str, where: types.Range | None = None, only: str = "") -> list[types.CodeAction]:
        whole = types.Range(types.Position(0, 0), types.Position(10**6, 0))
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri),
                where or whole,
                types.CodeActionContext(self.seen.get(uri, (0, []))[1], only=[only] if only else None),
            )
        )
        return [action for action in found or [] if isinstance(action, types.CodeAction)]

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        return await self.client.code_action_resolve_async(action)

    async def make(self, action: types.CodeAction) -> dict[str, str]:
        """Choose an action: its edit is made, then its command run. The new texts by URI."""
        action = await self.resolve(action)
        assert action.edit is not None, self.messages
        made = self.apply(action.edit)
        if action.command:
            await self.command(action.command.command, *(action.command.arguments or ()))
        return made

    async def command(self, name: str, *arguments: Any) -> Any:
        params = types.ExecuteCommandParams(name, arguments=list(arguments))
        return await self.client.workspace_execute_command_async(params)

    # Editing

    def apply(self, edit: types.WorkspaceEdit) -> dict[str, str]:
        """Make an edit: in buffers that are open, else in files. Versions must be those that are open."""
        self.applied.append(edit)
        made: dict[str, str] = {}
        for change in edit.document_changes or ():
            if isinstance(change, types.CreateFile):
                file = Path(path_of(change.uri))
                assert not file.exists()
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
            elif isinstance(change, types.DeleteFile):
                Path(path_of(change.uri)).unlink()
            elif isinstance(change, types.TextDocumentEdit):
                document = change.text_document
                assert document.version == self.versions.get(document.uri) or document.uri not in self.texts
                made[document.uri] = self.edit_text(document.uri, change.edits)
        for uri, edits in (edit.changes or {}).items():
            made[uri] = self.edit_text(uri, edits)
        return made

    def edit_text(self, uri: str, edits: Any) -> str:
        if uri in self.texts:
            before = self.texts[uri]
            self.replace(uri, 0, len(before), edited(before, edits, self.encoding))
            return self.texts[uri]
        file = Path(path_of(uri))
        after = edited(file.read_bytes().decode(), edits, self.encoding)
        file.write_bytes(after.encode())
        return after


def edited(text: str, edits: Any, encoding: str) -> str:
    """A text after edits, as the specification says: positions count in the text before all of them."""
    lines = Lines(text, encoding)
    spans = sorted((lines.span(edit.range), edit.new_text) for edit in edits)
    pieces, position = [], 0
    for span, new_text in spans:
        assert position <= span.start, "edits overlap"
        pieces += [text[position : span.start], new_text]
        position = span.end
    return "".join([*pieces, text[position:]])


def uri_of(file: Path) -> str:
    return from_fs_path(str(file)) or ""


def path_of(uri: str) -> str:
    return to_fs_path(uri) or ""


@asynccontextmanager
async def editor(*folders: Path, **given: Any) -> AsyncIterator[Editor]:
    """A client with a server of its own, which has ended well when the block ends."""
    used = await started(*folders, **given)
    try:
        yield used
        await used.client.shutdown_session()
    except BaseException:
        if used.client._server:
            used.client._server.kill()  # else `stop` waits for it
        raise
    finally:
        await used.client.stop()  # type: ignore[no-untyped-call]


async def started(
    *folders: Path,
    settings: Mapping[str, Any] | None = None,
    encodings: list[str] | None = None,
    env: Mapping[str, str] | None = None,
    change: Any = lambda capabilities: None,
) -> Editor:
    client = make_test_lsp_client()
    read_actions_well(client)
    if settings is not None:
        client.set_configuration({"fullgraph": dict(settings)})
    await client.start_io(*COMMAND, env={**os.environ, **(env or {})})
    used = Editor(client, (encodings or ["utf-16"])[0])
    listen(client, used)
    capabilities = client_capabilities("visual-studio-code")
    if capabilities.general:
        capabilities.general.position_encodings = list(encodings or ["utf-16"])
    change(capabilities)
    asked = types.InitializeParams(
        capabilities=capabilities,
        workspace_folders=[types.WorkspaceFolder(uri_of(folder), folder.name) for folder in folders] or None,
        initialization_options=dict(settings) if settings else None,
    )
    used.capabilities = (await client.initialize_session(asked)).capabilities
    return used


def read_actions_well(client: LanguageClient) -> None:
    """lsprotocol takes every action that has a command, too, for a command."""
    converter = client.protocol._converter

    def read(held: Any, _: Any) -> types.Command | types.CodeAction:
        if isinstance(held.get("command"), str):
            return converter.structure(held, types.Command)
        return converter.structure(held, types.CodeAction)

    converter.register_structure_hook(Union[types.Command, types.CodeAction], read)  # noqa: UP007


def listen(client: LanguageClient, used: Editor) -> None:
    """Send what the server says to this editor; to nobody else, if there was one before."""
    for name in (types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, types.WORKSPACE_APPLY_EDIT, types.CLIENT_REGISTER_CAPABILITY):
        client.protocol.fm.features.pop(name, None)

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
    def published(params: types.PublishDiagnosticsParams) -> None:
        used.seen[params.uri] = params.version, list(params.diagnostics)

    @client.feature(types.WORKSPACE_APPLY_EDIT)  # type: ignore[untyped-decorator]
    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        used.apply(params.edit)
        return types.ApplyWorkspaceEditResult(applied=True)

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)  # type: ignore[untyped-decorator]
    def register(params: types.RegistrationParams) -> None:
        used.registered += params.registrations
