"""The key `e` of the review: the diff of a finding in the user's editor, and what comes back as its edits."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.difference import replacements
from fullgraph.codemods.model import Edit, Finding, FullgraphError, Span
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.diff import apply_patch, patch
from fullgraph.codemods.rewrite.plan import before_of, plan, splice_all
from fullgraph.codemods.source import decode

HOW = b"""\
# Change or delete lines that begin with +. To keep a line that begins with -, put a space in the place of the -.
# What you save is applied; if you change nothing, nothing happens. Lines that begin with # are not read.
"""


def finding_patch(finding: Finding, project: Project) -> bytes:
    """The diff of all edits of one finding over all files."""
    return patch(before_of([finding], project), splice_all([finding], project))


def edit_by_hand(
    finding: Finding, project: Project, accepted: Sequence[Finding], codemods: Sequence[Codemod]
) -> tuple[Finding | None, str]:
    """The finding with the edits that a person made of its diff; or None and why these cannot be written."""
    original = HOW + finding_patch(finding, project)
    try:
        edited = open_editor(original)
        if edited == original:
            return None, "The diff was not changed."
        changed = with_patch(finding, project, edited)
        if not changed.edits:
            return None, "The diff changes nothing any more; n declines the finding."
        left_out = dict(plan([*accepted, changed], project, codemods).left_out)
    except FullgraphError as error:
        return None, f"Not taken: {error}."
    return (None, f"Not taken: {left_out[changed]}.") if changed in left_out else (changed, "")


def with_patch(finding: Finding, project: Project, edited: bytes) -> Finding:
    """The finding with the edits that a patch makes."""
    before = before_of([finding], project)
    return replace(finding, edits=edits_between(before, apply_patch(before, edited)))


def edits_between(before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> tuple[Edit, ...]:
    edits = []
    for path, old in before.items():
        new = after[path]
        if new is not None:
            text = decode(path, new).text
            pieces = [(Span(0, 0), text)] if old is None else replacements(decode(path, old).text, text)
            edits += [Edit(path, span, piece, creates=old is None) for span, piece in pieces]
    return tuple(edits)


def open_editor(content: bytes) -> bytes:
    """What the user's editor makes of a patch. As bytes: the files may have any encoding."""
    with tempfile.TemporaryDirectory(prefix="fullgraph-") as folder:
        file = Path(folder, "finding.patch")
        file.write_bytes(content)
        try:
            click.edit(filename=os.fspath(file))
            return file.read_bytes()
        except click.ClickException as error:
            raise FullgraphError(error.format_message()) from error
        except (OSError, ValueError) as error:
            raise FullgraphError(f"the editor left nothing to read: {error}") from error
