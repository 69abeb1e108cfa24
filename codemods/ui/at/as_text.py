"""The answer for people, and for tools that only show what a command says."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.ui.at.command import Answer
from fullgraph.codemods.ui.report.as_text import count, line_text, undo_command
from fullgraph.codemods.ui.report.model import FOUND, Line, place_of, shown_path


def render(answer: Answer, color: bool) -> str:
    """The findings as `check` shows them, each with the number that applies it; or what was written."""
    lines = written_lines(answer) if answer.run else found_lines(answer, color)
    return "".join(f"{line}\n" for line in lines)


def found_lines(answer: Answer, color: bool) -> Iterator[str]:
    root = answer.project.root
    seen = {answer.path: answer.project.read(answer.path)} if answer.findings else {}
    for number, finding in enumerate(answer.findings, 1):
        line = Line(root, place_of(root, finding, seen), finding, FOUND, finding.left_alone)
        yield from line_text(line, quiet=False, color=color)
        if finding.is_fixable:
            yield f"    --apply {number} rewrites {count(len(finding.paths()), 'file')}"
    if not answer.findings and not answer.error:
        yield "No findings here."


def written_lines(answer: Answer) -> Iterator[str]:
    assert answer.change is not None, "a run wrote something"
    root = answer.project.root
    names = ", ".join(shown_path(root, path) for path in answer.change.after)
    (finding,) = answer.change.applied
    yield f"Run {answer.run}: {finding.codemod} written in {names}; {undo_command(root, answer.run)} takes it back."


def new_text(answer: Answer) -> bytes:
    """The buffer as it is to be. What would need other files too cannot be told by one text."""
    assert answer.change is not None, "something was applied"
    others = [path for path in answer.change.after if path != answer.path]
    if others:
        raise FullgraphError(
            f"this finding changes {', '.join(others)} too: save the buffer and leave out --stdin, or add --json for "
            "the text of all files"
        )
    return answer.change.written.get(answer.path, b"")
