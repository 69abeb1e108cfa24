"""The messages of the protocol, each handed to whoever does its work."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from fullgraph.codemods.lsp.actions import KINDS, actions_for, can_resolve, findings_at
from fullgraph.codemods.lsp.buffers import Buffers
from fullgraph.codemods.lsp.commands import Commands
from fullgraph.codemods.lsp.desk import Desk
from fullgraph.codemods.lsp.hover import hover_text, torch_version
from fullgraph.codemods.lsp.settings import SECTION, read_settings
from fullgraph.codemods.lsp.telling import Teller
from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.ui.scenarios import proofs_in

NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(
            notebook=types.NotebookDocumentFilterNotebookType(notebook_type="jupyter-notebook"),
            cells=[types.NotebookCellLanguage(language="python")],
        )
    ],
    save=True,
)
WATCHED = ("**/*.py", "**/*.ipynb", "**/pyproject.toml", "**/.gitignore", "**/.fullgraph/captures/*.pt")


class Server(LanguageServer):
    """The language server of fullgraph."""

    def __init__(self) -> None:
        super().__init__("fullgraph", version("fullgraph"), notebook_document_sync=NOTEBOOKS, max_workers=2)
        self.desk = Desk(self, Teller(self))
        self.commands = Commands(self.desk)
        self.was_shut_down = False

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A line in the log: a mistake of ours is no reason to interrupt anybody."""
        self.desk.tell.log(f"{type(error).__name__}: {error}")


def make_server() -> Server:
    server = Server()
    add_lifecycle(server)
    add_synchronisation(server)
    add_configuration(server)
    add_features(server)
    server.commands.add_to(server)
    return server


def add_lifecycle(server: Server) -> None:
    desk = server.desk

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        plain = server.workspace
        folders = params.workspace_folders or []
        server.protocol._workspace = Buffers(
            plain.root_uri, types.TextDocumentSyncKind.Incremental, folders, plain.position_encoding
        )
        take_settings(server, params.initialization_options)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        desk.start(desk.run(desk.warm_up))
        await register_watching(server)
        await ask_for_settings(server)

    @server.feature(types.SHUTDOWN)
    async def shutdown(params: None) -> None:
        server.was_shut_down = True
        await desk.close()


def add_synchronisation(server: Server) -> None:
    desk = server.desk

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_open(params: types.DidOpenTextDocumentParams | types.DidSaveTextDocumentParams) -> None:
        desk.disk_changed()
        desk.typed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        desk.typed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams | types.DidCloseNotebookDocumentParams) -> None:
        desk.forget_closed()
        desk.look_at_everything()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def notebook_changed(params: Any) -> None:
        desk.notebook_typed(params.notebook_document.uri)


def add_configuration(server: Server) -> None:
    desk = server.desk

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        if params.settings is not None:
            take_settings(server, params.settings)
        await ask_for_settings(server)
        desk.look_at_everything()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def disk_changed(params: Any) -> None:
        desk.disk_changed()
        desk.look_at_everything()
        refresh_lenses(server)


def add_features(server: Server) -> None:
    desk = server.desk

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=list(KINDS), resolve_provider=True)
    )
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        look = await desk.current(params.text_document.uri)
        offered = actions_for(look.result, look.page, params) if look else []
        if can_resolve(server.client_capabilities):
            return offered
        is_asked = bool(params.context.only)
        cheap = [one for one in offered if is_asked or one.data["scope"] != "project"]  # type: ignore[index]
        return [await server.commands.complete(action) for action in cheap]

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(params: types.CodeAction) -> types.CodeAction:
        return await server.commands.complete(params)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        look = await desk.current(params.text_document.uri)
        if look is None:
            return None
        here = types.Range(params.position, params.position)
        findings = findings_at(look.result.findings, look.page, params.text_document.uri, here)
        if not findings:
            return None
        live = desk.live(look.file.root)
        torch = await desk.run(torch_version, live.root, desk.settings.python)
        text = await desk.run(hover_text, findings, live.codemods, torch)
        content = types.MarkupContent(types.MarkupKind.Markdown, text)
        return types.Hover(content, look.page.locate(findings[0].span).range)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lens(params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri
        look = await desk.current(uri)
        if look is None:
            return []
        live, buffers = desk.live(look.file.root), desk.buffers(look.file.root)
        proofs = await desk.run(lambda: proofs_in(live.laid_over(buffers), look.file.path))
        placed = [(proof, look.page.locate(proof.span)) for proof in proofs]
        return [server.commands.lens(proof, where, uri) for proof, where in placed if where.uri == uri]


def take_settings(server: Server, given: Any) -> None:
    """New settings of the client; wrong ones are told, and the old ones count on."""
    try:
        server.desk.take_settings(read_settings(given))
    except FullgraphError as error:
        server.desk.tell.show(str(error), types.MessageType.Warning)


async def ask_for_settings(server: Server) -> None:
    workspace = server.client_capabilities.workspace
    if workspace and workspace.configuration:
        asked = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        given = await server.workspace_configuration_async(asked)
        if given and given[0] is not None:
            take_settings(server, given[0])


async def register_watching(server: Server) -> None:
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    if not (watching and watching.dynamic_registration):
        return
    watchers = [types.FileSystemWatcher(glob_pattern=glob) for glob in WATCHED]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
    registration = types.Registration("watching", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    with suppress(JsonRpcException):  # a client that promises what it cannot do
        await server.client_register_capability_async(types.RegistrationParams([registration]))


def refresh_lenses(server: Server) -> None:
    workspace = server.client_capabilities.workspace
    if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
        server.workspace_code_lens_refresh(None)
