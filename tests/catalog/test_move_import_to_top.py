"""Rewritten fixtures run as before; and what is said of torch's modules holds for the torch that is installed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

from fullgraph.codemods.topics.inner_imports.known import LOADED_WITH_TORCH, comes_with_torch, is_standard
from fullgraph.codemods.topics.inner_imports.screen import inner_imports
from tests.cases import FIXTURES


def run(case: str, side: str) -> dict[str, Any]:
    text = (FIXTURES / "move_import_to_top" / case / f"{side}.py").read_text()
    bound: dict[str, Any] = {"__name__": side}
    exec(compile(text, f"{side}.py", "exec"), bound)
    return bound


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_a_forward_gives_the_same(rows: int) -> None:
    results = []
    for side in ("before", "after"):
        torch.manual_seed(rows)
        head = run("basic", side)["EntropyHead"](4, 3)
        results.append(head(torch.randn(rows, 4)))
    assert all(torch.equal(first, second) for first, second in zip(*results, strict=True))


def test_a_block_that_held_nothing_else_still_runs() -> None:
    for side in ("before", "after"):
        hook = run("nothing_else", side)["Hook"]()
        assert hook(torch.ones(1))() == pytest.approx(3.14159, abs=1e-4)
        assert isinstance(hook.train_step(), int)


def test_joined_imports_bind_the_same_objects() -> None:
    before, after = run("joins_an_import", "before")["Net"](), run("joins_an_import", "after")["Net"]()
    x = torch.tensor([-2.0, 0.0, 2.0])
    assert torch.equal(before(x), after(x))
    first, second = before.step(x), after.step(x)
    assert torch.equal(first[0], second[0])
    assert first[1:] == second[1:]


def test_torch_loads_what_is_said_to_come_with_it() -> None:
    code = "import sys, torch; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(loaded) >= LOADED_WITH_TORCH


def test_modules_that_are_not_loaded_are_known() -> None:
    assert comes_with_torch("torch.nn", ["functional", "Module"])
    assert not comes_with_torch("torch.utils", ["checkpoint"])
    assert not comes_with_torch("torch", ["_dynamo"])
    assert is_standard("os.path")
    assert not is_standard("resource")
    assert not is_standard("numpy")


HOT = b"import torch\ndef forward(x):\n    import math\n"


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        (HOT, 1),
        (HOT.replace(b"\n", b"\r\n"), 1),
        (HOT.replace(b"torch", b"jaxon"), 0),
        (b"import torch\ndef main():\n    import math\n", 0),
        (b"import torch\ndef main():\n    for x in y:\n        import math\n", 1),
        (b"import torch\ndef main():\n    for x in y:\n        if x:\n            import math\n", 0),
        (b"import torch\ndef main():\n    for x in y:\n        pass\n    import math\n", 0),
        (b"import torch\ndef main(x: torch.Tensor):\n    import math\n", 1),
        (b"import torch\ndef main(x: torch.Tensor):\n    import numpy\n", 0),
        (b"import torch\nfor x in y:\n\timport math\n", 1),
    ],
)
def test_few_files_are_parsed(raw: bytes, count: int) -> None:
    assert len(list(inner_imports(raw))) == count
