"""Small proofs: two texts of one module and a scenario in, a verdict out."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

from fullgraph.validate.model import Declared, Settings, Sides, Verdict
from fullgraph.validate.prove import prove
from fullgraph.validate.scenario import read_scenario

CACHE = Path("/tmp") / "fullgraph-tests-inductor"


def prove_texts(
    folder: Path, before: str, after: str, scenario: str, *, declared: tuple[Declared, ...] = (), **settings: Any
) -> Verdict:
    """`module.py` with two texts; the scenario imports it. No times are taken unless a test asks for them."""
    folder.mkdir(exist_ok=True)
    (folder / "module.py").write_text(textwrap.dedent(before))
    (folder / "scenario.py").write_text(textwrap.dedent(scenario))
    sides = Sides(
        folder, {"module.py": textwrap.dedent(before).encode()}, {"module.py": textwrap.dedent(after).encode()}
    )
    given = {"device": "cpu", "python": sys.executable, "backend": "aot_eager", "untimed": True, **settings}
    found = read_scenario(str(folder / "scenario.py"), folder)
    return prove(found, sides, Settings(**given), declared=declared, cache=CACHE)
