"""The process that does one call's work, so that a call can be ended whatever it is doing.

The request comes on standard input, the answer goes to what standard output was; whatever is printed meanwhile goes to
standard error.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

FAILED = 2


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    request = json.load(sys.stdin)
    answers.write(json.dumps(answer(**request)))
    answers.close()


def answer(tool: str, arguments: dict[str, Any], roots: list[str], python: str) -> dict[str, Any]:
    """What the tool says, or `{"error", "fix"}`."""
    from fullgraph.codemods.mcp.limits import fit
    from fullgraph.codemods.mcp.roots import Roots
    from fullgraph.codemods.mcp.tools import TOOLS, Desk
    from fullgraph.codemods.model import FullgraphError
    from fullgraph.codemods.ui.failure import failure
    from fullgraph.validate.model import ValidateError

    desk = Desk(Roots(tuple(map(Path, roots))), python)
    os.chdir(desk.roots.folders[0])
    try:
        return fit(TOOLS[tool](desk, **arguments))
    except (FullgraphError, ValidateError) as error:
        return failure(str(error), FAILED, tool)
    except OSError as error:
        return failure(f"{error.filename or tool}: {error.strerror}", FAILED, tool)


if __name__ == "__main__":
    main()
