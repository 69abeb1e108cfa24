"""What the findings become, for `git apply`."""

from __future__ import annotations

from fullgraph.codemods.ui.ci.model import CiReport


def render(report: CiReport) -> bytes:
    return report.patch
