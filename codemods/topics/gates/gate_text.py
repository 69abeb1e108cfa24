"""The file that holds the gate, as it goes into the user's package.

How it knows that nothing has run yet when the compiler fails: between the gate and Dynamo's compilation stand only
torch's own entry frames. A graph break, a frame that Dynamo skipped, or a module's hook puts another one between them.
"""

from __future__ import annotations

import re

from fullgraph.codemods.payload import payload

FILE = "compile_gate.py"


def gate_text(retry_after: int) -> str:
    return re.sub(r"(?m)^RETRY_AFTER = \d+$", f"RETRY_AFTER = {retry_after}", payload(FILE))
