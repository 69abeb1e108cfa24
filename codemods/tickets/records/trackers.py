"""Issues as trackers give them out: GitHub, GitLab, Jira and Linear, all in the words of GitHub."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fullgraph.codemods.tickets.parts.status import is_settled
from fullgraph.codemods.tickets.records.lookup import Record, pick, text

PLACED = ("file", "path", "filename", "file_path", "filepath", "filePath", "line")
LINEAR = {1: "Urgent", 2: "High", 3: "Medium", 4: "Low"}
HEADING = re.compile(r"^h([1-6])\.[ \t]+", re.MULTILINE)
CODE = re.compile(r"\{\{([^{}\n]{1,200})\}\}")
DEEPEST = 8


def as_issue(record: Any) -> Record | None:
    """A tracker's record as `title`, `body`, `number` or `id`, `state`, `severity`, `labels` and `comments`."""
    if not isinstance(record, dict):
        return None
    if isinstance(record.get("fields"), dict) and isinstance(record["fields"].get("summary"), str):
        return from_jira(record, record["fields"])
    if not isinstance(record.get("title"), str):
        return None
    if "identifier" in record:
        return from_linear(record)
    if "iid" in record and isinstance(record.get("description"), str | None):
        return {**record, "body": record.get("description"), "number": record["iid"]}
    is_github = "body" in record and isinstance(record["body"], str | None)
    return record if is_github and not any(record.get(key) for key in PLACED) else None


def from_jira(record: Record, fields: Record) -> Record:
    states = pick(fields, "status"), pick(fields, "resolution"), pick(fields, "status.statusCategory.key")
    return {
        "title": fields["summary"],
        "body": from_wiki(fields.get("description")),
        "id": text(pick(record, "key", "id")),
        "state": settled_first(states),
        "severity": text(pick(fields, "priority")),
        "labels": pick(fields, "labels") or [],
        "comments": said_in(pick(fields, "comment.comments")),
    }


def from_linear(record: Record) -> Record:
    level = pick(record, "priorityLabel") or LINEAR.get(record.get("priority", 0), "")
    return {
        "title": record["title"],
        "body": from_wiki(record.get("description")),
        "id": text(record["identifier"]),
        "state": settled_first((pick(record, "state"), pick(record, "state.type"))),
        "severity": "" if level == "No priority" else text(level),
        "labels": pick(record, "labels.nodes", "labels") or [],
        "comments": said_in(pick(record, "comments.nodes", "comments")),
    }


def settled_first(states: tuple[Any, ...]) -> str:
    """The first of the states that settles an issue, else the first that there is: a name may say anything."""
    said = [text(state) for state in states if text(state)]
    return next((state for state in said if is_settled(state)), said[0] if said else "")


def said_in(comments: Any) -> list[Record]:
    listed = [each for each in comments[:200] if isinstance(each, dict)] if isinstance(comments, list) else []
    return [
        {"body": from_wiki(each.get("body")), "author": pick(each, "author.displayName", "author", "user")}
        for each in listed
    ]


def from_wiki(value: Any) -> str:
    """Jira's own markup, or its tree of nodes, as Markdown; `{code}` is known to the reader."""
    if isinstance(value, dict):
        return "\n\n".join(paragraphs(value, 0))
    if not isinstance(value, str):
        return ""
    return CODE.sub(r"`\1`", HEADING.sub(lambda found: "#" * int(found[1]) + " ", value))


def paragraphs(node: Record, depth: int) -> Iterator[str]:
    """The blocks of a document in nodes, as Markdown."""
    inner = node.get("content")
    children = [each for each in inner[:5_000] if isinstance(each, dict)] if isinstance(inner, list) else []
    words = "".join(marked(each) for each in children if each.get("type") == "text")
    if node.get("type") == "codeBlock":
        yield f"```{text(pick(node, 'attrs.language'))}\n{words}\n```"
    elif node.get("type") == "heading":
        yield f"## {words}"
    elif words:
        yield words
    elif depth < DEEPEST:
        for child in children:
            yield from paragraphs(child, depth + 1)


def marked(node: Record) -> str:
    """The text of one node; code keeps its signs."""
    said = node.get("text") if isinstance(node.get("text"), str) else ""
    marks = node.get("marks")
    is_code = isinstance(marks, list) and any(pick(mark, "type") == "code" for mark in marks)
    return f"`{said}`" if is_code else str(said)
