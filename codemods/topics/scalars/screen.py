"""Where in the bytes of a file a number or a shape may be read from a tensor; asked before anything is parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fullgraph.codemods.project import Project

CANDIDATE = re.compile(
    rb"\.item\(\)|\b(?:float|int|bool)\([^()\n]{0,60}[(\[]|\bnonzero\(|\bwhere\([^,()\n]+\)|"
    rb"\]\.(?:sum|mean|any|all|max|min|amax|amin|numel|std|var|median|prod|norm)\(|"
    rb"\[(\w+)\][ \t]*(?:=[^=\n][^\n]*\[\1\]|[-+*/]=)|\[\w+ ?[<>!=]=? ?-?\w+\]|"
    rb"\bdiv\([^=\n]+\brounding_mode|\bfloor_divide\(|"
    rb"\bfor\s[\w ,]*\(?\w+, *\w+\)?\s+in\s+(?:enumerate\(\w+\)|\w+)\s*:"
)
SETTINGS = re.compile(rb"\b(capture_scalar_outputs|capture_dynamic_output_shape_ops)[\"']?\s*[:=]\s*True")


def candidate_offsets(raw: bytes) -> Iterator[int]:
    """Every place that may be one."""
    return (match.start() for match in CANDIDATE.finditer(raw))


def settings_of(project: Project) -> frozenset[str]:
    """The settings of torch's compiler that a project turns on; looked for once."""
    return project.worked_out(SETTINGS, lambda: frozenset(match[1].decode() for _, match in project.matches(SETTINGS)))
