"""Places as SARIF has them: addresses that count from the repository's folder, and regions."""

from __future__ import annotations

import os
from urllib.parse import quote

from fullgraph.codemods.ui.report.spot import Region

ROOT = "SRCROOT"


def artifact(path: str) -> dict[str, str]:
    return {"uri": quote(os.fsencode(path)), "uriBaseId": ROOT}


def as_region(region: Region) -> dict[str, int]:
    return {
        "startLine": region.first_line,
        "startColumn": region.first_column,
        "endLine": region.last_line,
        "endColumn": region.last_column,
    }
