"""What several forms say of a finding in the same words."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

from fullgraph.codemods.ui.ci.model import CiReport
from fullgraph.codemods.ui.report.model import Line
from fullgraph.codemods.ui.view import Badge, view_of


def advice(line: Line) -> Iterator[str]:
    """What is to be done about a finding, or why nothing can be."""
    view = view_of(line.finding, line.reason)
    if view.badge is Badge.SAFE and not view.reason:
        yield "`fullgraph fix` can write it safely"
    yield from (f"{label}: {text}" for label, text in view.remarks() if label != "new")


def fingerprints(report: CiReport, lines: list[Line]) -> list[str]:
    """A name for each finding that survives edits elsewhere, and that no other finding has."""
    seen: Counter[str] = Counter()
    names = []
    for line in lines:
        finding = line.finding
        what = "\0".join((report.file_of(line), finding.codemod, finding.symbol, report.spot_of(line).content))
        seen[what] += 1
        name = hashlib.sha256(f"{what}\0{seen[what]}".encode(errors="surrogatepass")).hexdigest()
        names.append(name)
    return names
