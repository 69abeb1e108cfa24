"""Two versions of a tree and a scenario in, a verdict out. Knows nothing of codemods, and never imports torch."""

from fullgraph.validate.model import (
    Declared,
    Measurement,
    Outcome,
    Ratio,
    Reason,
    Ruling,
    Scenario,
    Settings,
    Sides,
    ValidateError,
    Verdict,
)

__all__ = [
    "Declared",
    "Measurement",
    "Outcome",
    "Ratio",
    "Reason",
    "Ruling",
    "Scenario",
    "Settings",
    "Sides",
    "ValidateError",
    "Verdict",
]
