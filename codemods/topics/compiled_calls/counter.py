"""The file that counts, as it is written into the user's project: it needs torch and nothing else."""

from __future__ import annotations

from fullgraph.codemods.payload import payload

FILE, ENVIRONMENT = "compiled_calls.py", "COUNT_COMPILED_CALLS"


def counter_text(environment: str = ENVIRONMENT) -> str:
    """The whole file, switched on by this variable of the environment."""
    return payload(FILE).replace(ENVIRONMENT, environment)
