"""Code actions: one for each finding, and for all of a file or a project. What they change is worked out on request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lsprotocol import types

from fullgraph.codemods.lsp.diagnostics import finding_diagnostic
from fullgraph.codemods.lsp.pages import Page
from fullgraph.codemods.model import Finding, Safety
from fullgraph.codemods.rewrite.find import FileResult

FIX_ALL = "source.fixAll.fullgraph"
FIX_FILE = "source.fullgraph.file"
FIX_PROJECT = "source.fullgraph.project"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL, FIX_FILE, FIX_PROJECT)


def actions_for(result: FileResult, page: Page, params: types.CodeActionParams) -> list[types.CodeAction]:
    """What is offered for a place in a file, as far as the client asks for it."""
    only = params.context.only
    uri = params.text_document.uri
    offered = [*for_findings(result.findings, page, uri, params.range), *for_all(result.findings, uri)]
    return [action for action in offered if is_wanted(str(getattr(action.kind, "value", action.kind)), only)]


def is_wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether a kind is among those asked for, or below one of them."""
    asked = [str(getattr(one, "value", one)) for one in only or ()]
    return not asked or any(not one or kind == one or kind.startswith(one + ".") for one in asked)


def for_findings(findings: Sequence[Finding], page: Page, uri: str, wanted: types.Range) -> Iterator[types.CodeAction]:
    for finding in findings_at(findings, page, uri, wanted):
        if finding.is_fixable:
            unsafe = " (unsafe)" if finding.safety is Safety.UNSAFE else ""
            yield types.CodeAction(
                title=f"{finding.codemod}: {finding.message}{unsafe}",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[finding_diagnostic(finding, page.locate(finding.span))[1]],
                is_preferred=finding.safety is Safety.SAFE,
                data=data_of("finding", uri, key=finding.key),
            )


def for_all(findings: Sequence[Finding], uri: str) -> Iterator[types.CodeAction]:
    """All safe ones of the file; all of them, if some are unsafe; and the same for the project."""
    fixable = [finding for finding in findings if finding.is_fixable]
    unsafe = [finding for finding in fixable if finding.safety is Safety.UNSAFE]
    if safe := len(fixable) - len(unsafe):
        title = "Fix the safe finding in this file" if safe == 1 else f"Fix all {safe} safe findings in this file"
        yield types.CodeAction(title, kind=FIX_ALL, data=data_of("file", uri))
    if unsafe:
        title = f"Fix all {len(fixable)} findings in this file, {len(unsafe)} of them unsafe"
        yield types.CodeAction(title, kind=FIX_FILE, data=data_of("file", uri, unsafe=True))
    title = "Fix all safe findings in the project"
    yield types.CodeAction(title, kind=FIX_PROJECT, data=data_of("project", uri))
    title = "Fix all findings in the project, unsafe ones too"
    yield types.CodeAction(title, kind=f"{FIX_PROJECT}.unsafe", data=data_of("project", uri, unsafe=True))


def data_of(scope: str, uri: str, key: str = "", unsafe: bool = False) -> Any:
    return {"scope": scope, "uri": uri, "key": key, "unsafe": unsafe}


def findings_at(findings: Sequence[Finding], page: Page, uri: str, wanted: types.Range) -> list[Finding]:
    """The findings that touch a range of one of the client's texts."""
    located = [(finding, page.locate(finding.span)) for finding in findings]
    return [finding for finding, where in located if where.uri == uri and touches(where.range, wanted)]


def touches(one: types.Range, other: types.Range) -> bool:
    return key_of(one.start) <= key_of(other.end) and key_of(other.start) <= key_of(one.end)


def key_of(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def can_resolve(capabilities: types.ClientCapabilities) -> bool:
    """Whether the client asks for an action's edit when the user has chosen it."""
    document = capabilities.text_document
    support = document.code_action.resolve_support if document and document.code_action else None
    return bool(support and "edit" in support.properties)
