"""A finding's edits as SARIF has them: what to replace, in lines and columns of each file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from fullgraph.codemods.model import Edit, SourceError
from fullgraph.codemods.ui.ci.forms.sarif_places import artifact, as_region
from fullgraph.codemods.ui.ci.model import CiReport
from fullgraph.codemods.ui.report.model import Line
from fullgraph.codemods.ui.report.spot import Region

START = Region(1, 1, 1, 1)


def fix_of(report: CiReport, line: Line) -> dict[str, Any] | None:
    """All the edits that belong together; None where they were refused, or a file can no longer be read."""
    finding = line.finding
    if not finding.edits or (line.reason and not line.reason.startswith("unsafe: ")):
        return None
    changes = []
    try:
        for path, edits in groupby(sorted(finding.edits), lambda edit: edit.path):
            pairs = replaced(report, line.root / path, list(edits))
            replacements = [
                {"deletedRegion": as_region(region), "insertedContent": {"text": text}} for region, text in pairs
            ]
            changes.append(
                {"artifactLocation": artifact(report.path_of(line.root / path)), "replacements": replacements}
            )
    except (OSError, SourceError):
        return None
    safety = f"unsafe: {finding.caveat}" if finding.caveat else "safe"
    return {"description": {"text": f"{finding.codemod} ({safety})"}, "artifactChanges": changes}


def replaced(report: CiReport, file: Path, edits: Sequence[Edit]) -> list[tuple[Region, str]]:
    if any(edit.creates for edit in edits):
        return [(START, edits[0].new_text)]
    return list(report.text_before(file).replaced(edits))
