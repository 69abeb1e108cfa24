"""What the client is told without having asked: diagnostics, messages, lines in its log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from fullgraph.codemods.lsp.diagnostics import diagnose
from fullgraph.codemods.lsp.files import OpenFile
from fullgraph.codemods.lsp.pages import Page
from fullgraph.codemods.lsp.proofs import Judged
from fullgraph.codemods.model import Span
from fullgraph.codemods.rewrite.find import FileResult

Here = tuple[Path, str]
"""A project's root, and the path of a file below it."""


@dataclass(frozen=True)
class Look:
    """What was found in an open file."""

    file: OpenFile
    page: Page
    result: FileResult


@dataclass
class Teller:
    """Says each thing once, and takes back what no longer holds."""

    server: LanguageServer
    said: set[str] = field(default_factory=set)
    shown: dict[Here, set[str]] = field(default_factory=dict)
    """The texts of each file for which the client was sent diagnostics."""

    def publish(self, look: Look, marks: list[tuple[Judged, Span]]) -> None:
        """Everything there is to say of a file; for its texts without anything, that there is nothing."""
        found = list(diagnose(look.result, look.page))
        for judged, span in marks:
            where = look.page.locate(span)
            found.append((where.uri, judged.diagnostic(where)))
        versions = dict(look.file.parts)
        here = look.file.root, look.file.path
        for uri in {*versions, *self.shown.get(here, ())}:
            self.send(uri, versions.get(uri), [diagnostic for place, diagnostic in found if place == uri])
        self.shown[here] = set(versions)

    def send(self, uri: str, version: int | None, found: list[types.Diagnostic]) -> None:
        self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    def forget_all_but(self, open_now: set[Here]) -> Iterator[Here]:
        """Take back what was shown of files that are no longer open; these."""
        for here in [here for here in self.shown if here not in open_now]:
            for uri in self.shown.pop(here):
                self.send(uri, None, [])
            yield here

    def problems(self, configuration: str, file: str) -> None:
        """Say once what is wrong: about the configuration to the user, about a file in the log."""
        if configuration and configuration not in self.said:
            self.show(configuration, types.MessageType.Warning)
        if file and file not in self.said:
            self.log(file)
        self.said |= {configuration, file}

    def show(self, message: str, kind: types.MessageType = types.MessageType.Info) -> None:
        self.server.window_show_message(types.ShowMessageParams(kind, f"fullgraph: {message}"))

    def log(self, message: str) -> None:
        self.server.window_log_message(types.LogMessageParams(types.MessageType.Warning, f"fullgraph: {message}"))
