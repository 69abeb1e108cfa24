"""What SARIF holds of a codemod itself: its name, what it does, and its documentation."""

from __future__ import annotations

import inspect
from typing import Any

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.registry import bundled
from fullgraph.codemods.ui.explain import example_of

LONGEST = 1000
"""Characters that GitHub shows of a description."""


PAGES = "docs/codemods"
"""Where the pages about codemods stand: in fullgraph's repository."""


def describe(name: str, kind: type[Codemod] | None) -> dict[str, Any]:
    """SARIF's descriptor of a codemod."""
    doc = inspect.getdoc(kind) if kind else ""
    summary = (doc or name).partition("\n")[0]
    why = kind.why if kind and kind.why else summary
    return {
        "id": name,
        "name": "".join(part.capitalize() for part in name.split("_")),
        "shortDescription": {"text": summary[:LONGEST]},
        "fullDescription": {"text": why[:LONGEST]},
        **({"helpUri": f"{PAGES}/{name}.md"} if name in bundled() else {}),
        "help": {"text": f"{doc or summary}\n\n{silencing(name)}", "markdown": markdown(name, doc or summary, kind)},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["performance", "pytorch"], "problem.severity": "warning", "precision": "very-high"},
    }


def silencing(name: str) -> str:
    return f"Silence it on a line: # fullgraph: ignore[{name}]"


def markdown(name: str, doc: str, kind: type[Codemod] | None) -> str:
    measured = [f"- {line}" for line in measurements(name)]
    parts = [
        f"# {name}",
        doc,
        f"**Claimed:** {kind.claim}" if kind and kind.claim else "",
        "\n".join(["**Measured:**", "", *measured]) if measured else "",
        f"```diff\n{example}```" if (example := example_of(name).decode(errors="replace")) else "",
        f"`fullgraph explain {name}` shows its options. Silence it on a line with `# fullgraph: ignore[{name}]`.",
    ]
    return "\n\n".join(part for part in parts if part)


def measurements(name: str) -> list[str]:
    from fullgraph.codemods.ui.measured import measured_text

    return list(measured_text(name))
