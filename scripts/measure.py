"""Prove every codemod's fixtures on the installed torch, and store the rows that `fullgraph explain` shows."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from codemods.registry import bundled
from codemods.ui.measured import ROW, codemod_of, prove_case, proven_cases, row_of


def main() -> int:
    with tempfile.TemporaryDirectory() as cache:
        for name in bundled():
            for case in proven_cases(name):
                row = row_of(prove_case(case, codemod_of(case), sys.executable, Path(cache), untimed=True))
                (case / ROW).write_text(json.dumps(row, indent=2) + "\n")
                print(f"{name}/{case.name}: {row['ruling']}: {'; '.join(row['numbers'].values())}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
