"""What a finding claims and what was measured of it."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from fullgraph.codemods.lsp.hover import measured, torch_version
from fullgraph.codemods.ui.measured import measured_text
from tests.lsp.client import Editor
from tests.lsp.conftest import Start

DISABLED = "import torch\n\n\n@torch._dynamo.disable\ndef f(x):\n    return x\n"


async def hover(used: Editor, uri: str, line: int, column: int) -> str:
    place = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, column))
    found = await used.client.text_document_hover_async(place)
    if found is None:
        return ""
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def test_hover_tells_claim_and_measurement(start: Start, tmp_path: Path) -> None:
    async with start(tmp_path, settings={}) as used:
        uri = used.open(tmp_path / "a.py", DISABLED)
        text = await hover(used, uri, 3, 10)
        assert await hover(used, uri, 0, 0) == ""
    assert "use_public_compiler_api.md)**" in text
    assert "`torch._dynamo.disable` has a public name" in text
    assert "Claimed: " in text
    assert "- Measured: torch 2.13" in text


async def test_hover_tells_of_every_finding_at_a_place(start: Start, project: Path) -> None:
    async with start(project) as used:
        uri = used.open(project / "d.py", "slow(nest())\n")
        text = await hover(used, uri, 0, 6)
    assert text.index("**call_fast**") < text.index("**flatten_nest**")
    assert "slow() waits a second for nothing; fast() does not." in text
    assert "unsafe: fast() may read its argument twice" in text
    assert text.count("Nothing was measured of it yet.") == 2


def test_every_stored_measurement_is_told() -> None:
    name = "flatten_tuple_keys"
    told = "\n".join(measured(name, "2.13.0+cpu"))
    assert told.count("Measured: ") == len(measured_text(name)) > 0
    assert "This project has torch" not in told


def test_another_torch_than_the_measured_one_is_named() -> None:
    told = "\n".join(measured("flatten_tuple_keys", "2.9.1"))
    assert "This project has torch 2.9.1: `fullgraph explain flatten_tuple_keys --measure`" in told


def test_the_version_of_torch_is_read_and_torch_not_imported(tmp_path: Path) -> None:
    package = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages" / "torch"
    package.mkdir(parents=True)
    (package / "version.py").write_text("__version__ = '2.9.1+cu128'\n")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir()
    python.touch()
    assert torch_version(tmp_path, str(python)) == "2.9.1+cu128"
    assert torch_version(tmp_path, "/nowhere/bin/python") == ""
