"""The lens that proves, and what becomes of its verdict."""

from __future__ import annotations

import json
import os
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from fullgraph.codemods.project import Project
from fullgraph.codemods.ui.scenarios import proofs_in, symbol_span
from tests.lsp.client import Editor
from tests.lsp.conftest import Start

MODEL = """\
import torch


@torch._dynamo.disable
def scale(x):
    return x * 2


class Net(torch.nn.Module):
    def forward(self, x):
        return scale(x) + 1

    def probe(self, x):
        return x

    def unused(self, x):
        return x
"""
SCENARIO = """\
import torch
from model import Net


def build(device):
    return Net().to(device)


def cases(device, seed):
    yield (torch.ones(3),)
"""
SLOW = SCENARIO.replace("yield", "import time; open('started', 'w').close(); time.sleep(600); yield")
SETTINGS = {"select": ["use_public_compiler_api"], "backend": "eager", "device": "cpu"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "net.py").write_text(SCENARIO)
    return tmp_path


async def lenses(used: Editor, uri: str) -> list[types.CodeLens]:
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    return list(await used.client.text_document_code_lens_async(params) or ())


async def press(used: Editor, lens: types.CodeLens) -> None:
    assert lens.command
    await used.command(lens.command.command, *(lens.command.arguments or ()))


def verdicts(used: Editor, uri: str) -> list[types.Diagnostic]:
    return [found for found in used.seen.get(uri, (0, []))[1] if found.code == "proof"]


def progress(used: Editor) -> list[Any]:
    return [report for reports in used.client.progress_reports.values() for report in reports]


def test_functions_that_a_scenario_builds_or_calls_have_one(model: Path) -> None:
    (model / "scenarios" / "other.py").write_text(SCENARIO.replace("Net().to(device)", "Net().probe"))
    (model / "scenarios" / "notes.py").write_text("from model import scale\n")
    (model / "scenarios" / "broken.py").write_text("from model import (\n")
    project = Project(model, ["model.py", *(f"scenarios/{name}.py" for name in ("net", "other", "notes", "broken"))])
    assert [(proof.symbol, proof.scenario) for proof in proofs_in(project, "model.py")] == [
        ("Net.forward", "scenarios/net.py"),
        ("Net.forward", "scenarios/other.py"),
        ("Net.probe", "scenarios/other.py"),
    ]
    spans = [proof.span for proof in proofs_in(project, "model.py")]
    assert [MODEL[span.start : span.end] for span in spans] == ["forward", "forward", "probe"]


@pytest.mark.parametrize(("head", "name"), [("async def e", "e"), ("def  ef", "ef"), ("async def \\\n  d", "d")])
def test_a_lens_stands_at_the_name_of_its_function(tmp_path: Path, head: str, name: str) -> None:
    text = f"import torch\n\n\n{head}(x):\n    return x\n"
    (tmp_path / "m.py").write_text(text)
    span = symbol_span(Project(tmp_path, ["m.py"]), "m.py", name)
    assert span is not None
    assert (span.start, text[span.start :]) == (text.index("(x)") - len(name), f"{name}(x):\n    return x\n")


def test_functions_with_stored_calls_have_one(model: Path) -> None:
    folder = model / ".fullgraph" / "captures"
    folder.mkdir(parents=True)
    for target in ("model:Net.probe", "model:gone", "other:scale"):
        with zipfile.ZipFile(folder / f"{target.replace(':', '.')}.pt", "w") as archive:
            archive.writestr("index.json", json.dumps({"target": target}))
    (folder / "model.scale.pt").write_bytes(b"damaged")
    [proof] = proofs_in(Project(model, ["model.py"]), "model.py")
    assert (proof.symbol, proof.scenario) == ("Net.probe", "model:Net.probe")


async def test_a_verdict_comes_as_a_diagnostic_and_goes_with_the_text(start: Start, model: Path) -> None:
    async with start(model, settings=SETTINGS) as used:
        uri = used.open(model / "model.py")
        [lens] = await lenses(used, uri)
        assert lens.command
        assert lens.command.title == "prove (scenarios/net.py)"
        await press(used, lens)
        await used.until(lambda: verdicts(used, uri))
        [verdict] = verdicts(used, uri)
        assert used.text_at(uri, verdict.range) == "forward"
        assert verdict.message.startswith("neutral: ")
        assert "with use_public_compiler_api; scenarios/net.py" in verdict.message
        assert "torch 2." in verdict.message
        assert verdict.severity is types.DiagnosticSeverity.Information
        begin, *stages, end = progress(used)
        assert begin == types.WorkDoneProgressBegin("prove Net.forward", cancellable=True)
        assert any(stage.message.startswith("eager") for stage in stages)
        assert end == types.WorkDoneProgressEnd(message="done")
        used.type(uri, "x * 2", "x * 3")
        await used.diagnostics(uri)
        assert not verdicts(used, uri)
        used.type(uri, "x * 3", "x * 2")
        await used.diagnostics(uri)
        assert verdicts(used, uri)
        [action] = await used.actions(uri, only="source.fixAll")
        await used.make(action)
        await used.diagnostics(uri)
        assert [found.code for found in used.seen[uri][1]] == ["proof"]


async def test_a_proof_can_be_stopped_and_leaves_no_process(start: Start, model: Path) -> None:
    (model / "scenarios" / "net.py").write_text(SLOW)
    async with start(model, settings=SETTINGS) as used:
        uri = used.open(model / "model.py")
        [lens] = await lenses(used, uri)
        await press(used, lens)
        await used.until((model / "started").exists)
        used.type(uri, "x * 2", "x * 3")
        assert len(await used.diagnostics(uri)) == 1
        [token] = used.client.progress_reports
        used.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
        await used.until(lambda: any(getattr(one, "message", "") == "stopped" for one in progress(used)))
        await used.until(lambda: not workers_in(model))
        assert not verdicts(used, uri)


async def test_a_shutdown_ends_a_proof(start: Start, model: Path) -> None:
    (model / "scenarios" / "net.py").write_text(SLOW)
    async with start(model, settings=SETTINGS) as used:
        uri = used.open(model / "model.py")
        await press(used, (await lenses(used, uri))[0])
        await used.until((model / "started").exists)
        assert workers_in(model)
    await used.until(lambda: not workers_in(model))


async def test_a_proof_ends_with_a_server_that_was_killed(start: Start, model: Path) -> None:
    (model / "scenarios" / "net.py").write_text(SLOW)
    with suppress(Exception):  # no shutdown is possible any more
        async with start(model, settings=SETTINGS) as used:
            uri = used.open(model / "model.py")
            await press(used, (await lenses(used, uri))[0])
            await used.until((model / "started").exists)
            assert used.client._server
            used.client._server.kill()
            raise ConnectionError
    assert (model / "started").exists()
    await used.until(lambda: not workers_in(model))


async def test_a_scenario_that_cannot_run_is_undecided(start: Start, model: Path) -> None:
    (model / "scenarios" / "net.py").write_text(SCENARIO.replace("yield", "raise ValueError('no data'); yield"))
    async with start(model, settings=SETTINGS) as used:
        uri = used.open(model / "model.py")
        await press(used, (await lenses(used, uri))[0])
        await used.until(lambda: verdicts(used, uri))
        [verdict] = verdicts(used, uri)
    assert verdict.message.startswith("undecided: ")
    assert "no data" in verdict.message
    assert verdict.severity is types.DiagnosticSeverity.Warning


async def test_without_findings_or_changes_there_is_nothing_to_prove(start: Start, model: Path) -> None:
    (model / "model.py").write_text(MODEL.replace("@torch._dynamo.disable\n", ""))
    async with start(model, settings=SETTINGS) as used:
        uri = used.open(model / "model.py")
        await press(used, (await lenses(used, uri))[0])
        await used.until(lambda: used.messages)
        assert used.messages[0].startswith("fullgraph: undecided: ")


def workers_in(root: Path) -> list[str]:
    """Processes that run in a folder, where the system tells."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") == str(root) and (entry / "stat").read_text().rpartition(")")[2][1] != "Z":
                found.append(entry.name)
        except OSError:
            continue
    return found
