"""From a change to a WorkspaceEdit: versions, new files, and annotations by which a client shows a preview."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from lsprotocol import types

from fullgraph.codemods.lsp.fixing import Fixed
from fullgraph.codemods.lsp.pages import Page, Piece, Sheet
from fullgraph.codemods.model import FullgraphError, Safety, Span

Pages = Callable[[str, bytes], Page]
"""The page of a file, by its path and its bytes."""

Locate = Callable[[str], str]
"""The URI of a file, by its path."""


@dataclass(frozen=True)
class Abilities:
    """What the client can do with an edit."""

    documents: bool = False
    annotations: bool = False
    operations: frozenset[str] = frozenset()

    @staticmethod
    def of(capabilities: types.ClientCapabilities) -> Abilities:
        workspace = capabilities.workspace
        held = workspace.workspace_edit if workspace else None
        if held is None:
            return Abilities()
        kinds = frozenset(str(getattr(kind, "value", kind)) for kind in held.resource_operations or ())
        return Abilities(bool(held.document_changes), held.change_annotation_support is not None, kinds)


@dataclass
class Composer:
    """Puts an edit together, file by file."""

    abilities: Abilities
    pages: Pages
    locate: Locate
    changes: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = field(
        default_factory=list
    )
    annotations: dict[str, types.ChangeAnnotation] = field(default_factory=dict)

    def compose(self, fixed: Fixed, *, confirm: bool) -> types.WorkspaceEdit:
        """The whole change. `confirm`: whether the client is to ask before it is made."""
        for path, after in sorted(fixed.after.items()):
            names = fixed.codemods(path)
            note = self.annotate(names, fixed, confirm) if self.abilities.annotations else None
            before = fixed.before[path]
            if after is None:
                self.remove(path, note)
            elif before is None:
                self.create(path, after, note)
            else:
                self.change(self.pages(path, before).pieces(fixed.edits(path), after), note)
        return self.whole()

    def annotate(self, names: list[str], fixed: Fixed, confirm: bool) -> str:
        """One annotation for each set of codemods that changes a file."""
        label = ", ".join(names) or "fullgraph"
        caveats = {f.caveat for f in fixed.applied if f.codemod in names and f.safety is Safety.UNSAFE and f.caveat}
        said = "; ".join(sorted(caveats)) or None
        self.annotations[label] = types.ChangeAnnotation(label, needs_confirmation=confirm, description=said)
        return label

    def change(self, pieces: Iterable[Piece], note: str | None) -> None:
        by_sheet: dict[str, tuple[Sheet, list[tuple[Span, str]]]] = {}
        for sheet, span, text in pieces:
            by_sheet.setdefault(sheet.uri, (sheet, []))[1].append((span, text))
        for sheet, replaced in by_sheet.values():
            self.change_sheet(sheet, [(sheet.range(span), text) for span, text in joined(replaced)], note)

    def change_sheet(self, sheet: Sheet, edits: list[tuple[types.Range, str]], note: str | None) -> None:
        document = types.OptionalVersionedTextDocumentIdentifier(uri=sheet.uri, version=sheet.version)
        made: list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit] = [
            types.AnnotatedTextEdit(note, where, text) if note else types.TextEdit(where, text) for where, text in edits
        ]
        self.changes.append(types.TextDocumentEdit(document, made))

    def create(self, path: str, text: bytes, note: str | None) -> None:
        self.need("create", path)
        uri = self.locate(path)
        self.changes.append(types.CreateFile(uri, annotation_id=note))
        start = types.Range(types.Position(0, 0), types.Position(0, 0))
        if text:
            self.change_sheet(Sheet(uri, None, "", "utf-16"), [(start, text.decode())], note)

    def remove(self, path: str, note: str | None) -> None:
        self.need("delete", path)
        self.changes.append(types.DeleteFile(self.locate(path), annotation_id=note))

    def need(self, operation: str, path: str) -> None:
        if not self.abilities.documents or operation not in self.abilities.operations:
            raise FullgraphError(f"{path} would have to be {operation}d, and this editor cannot {operation} files")

    def whole(self) -> types.WorkspaceEdit:
        if self.abilities.documents:
            return types.WorkspaceEdit(
                document_changes=self.changes, change_annotations=self.annotations if self.annotations else None
            )
        plain = [change for change in self.changes if isinstance(change, types.TextDocumentEdit)]
        return types.WorkspaceEdit(changes={change.text_document.uri: list(change.edits) for change in plain})  # type: ignore[arg-type]


def joined(replaced: list[tuple[Span, str]]) -> list[tuple[Span, str]]:
    """The replacements in order, those that touch as one: no client can then take them in another order."""
    found: list[tuple[Span, str]] = []
    for span, text in sorted(replaced):
        if found and found[-1][0].end == span.start:
            found[-1] = Span(found[-1][0].start, span.end), found[-1][1] + text
        else:
            found.append((span, text))
    return found
