"""The key `i` of the review: a comment in place of the rewrite, so that nobody is asked about it again."""

from __future__ import annotations

from dataclasses import replace

from fullgraph.codemods.model import IGNORE, Edit, Finding, FullgraphError, Safety, SourceError, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.suppress import Suppression, suppressions_in
from fullgraph.codemods.source import decode


def ignored(finding: Finding, project: Project) -> Finding:
    """The finding with a comment as its only edit, on its first line, or on its last where that one has no room."""
    module = project.module(finding.path)
    for line in dict.fromkeys((finding.line, finding.last_line)):
        edit = comment_on(line, finding.codemod, module)
        if silences(edit, line, finding.codemod, module):
            return replace(finding, edits=(edit,), safety=Safety.SAFE, caveat="")
    raise FullgraphError(f"no comment can stand at the end of {finding.path}:{finding.line}")


def comment_on(line: int, name: str, module: Module) -> Edit:
    start = module.line_starts[line - 1]
    text = module.text[start : module.line_end(start)].rstrip("\r\n")
    end = start + len(text)
    return Edit(module.path, Span(end, end), f"  {IGNORE}[{name}]")


def silences(edit: Edit, line: int, name: str, module: Module) -> bool:
    """Whether Python reads it as a comment there, and not as part of a string or of a line that goes on."""
    try:
        after = Module(decode(module.path, module.source.splice([edit])))
    except (SourceError, ValueError):
        return False
    return Suppression(line, name) in set(suppressions_in(after))
