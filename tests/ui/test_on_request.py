"""Codemods that run only where they are asked for by name."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from fullgraph.codemods.project import Project
from fullgraph.codemods.registry import all_codemods
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.ui.config import Config, choose_codemods
from fullgraph.codemods.ui.explain import ON_REQUEST, explain, list_codemods
from fullgraph.codemods.ui.measured import ROW, proven_cases

NAME = "count_compiled_calls"


def names(config: Config, *select: str) -> list[str]:
    return [codemod.name for codemod in choose_codemods(config, select=select)]


def test_a_plain_run_leaves_them_out_and_nothing_else() -> None:
    asked = {name for name, kind in all_codemods().items() if kind.on_request}
    assert NAME in asked
    assert set(names(Config())) == set(all_codemods()) - asked


def test_what_gains_nothing_on_its_own_fixtures_runs_on_request() -> None:
    for name, kind in all_codemods().items():
        rows = [row for case in proven_cases(name) if (row := case / ROW).is_file()]
        is_neutral = bool(rows) and all(json.loads(row.read_text())["ruling"] == "neutral" for row in rows)
        assert kind.on_request or not is_neutral, name


def test_only_what_the_command_line_names_is_asked() -> None:
    assert not any(codemod.is_asked for codemod in choose_codemods(Config(select=("batch_host_reads",))))
    assert all(codemod.is_asked for codemod in choose_codemods(Config(), select=("batch_host_reads",)))


UNASKED = {
    "batch_host_reads": """
        import torch
        class Net(torch.nn.Module):
            def __init__(self, rate, depth):
                self.rates = [x.item() for x in torch.linspace(0, rate, depth)]
        def rates(rate, depth):
            return [x.item() for x in torch.linspace(0, rate, depth, device="cpu")]
    """,
    "use_public_compiler_api": """
        import torch
        try:
            from torch.compiler import is_compiling
        except ImportError:
            from torch._dynamo import is_compiling
        if hasattr(torch, "amp"):
            scaler = torch.cuda.amp.GradScaler()
    """,
    "disable_compile": """
        import torch
        def log_gradients(model):
            found = {}
            for name, param in model.named_parameters():
                found[name] = param.grad.norm().item()
            return found
    """,
    "cache_loop_queries": """
        import torch
        class Slots(torch.nn.Module):
            def __init__(self, active):
                self.active = active
                self.taken = [slot for slot in range(4) if self.is_active(slot)]
                self.free = [slot for slot in range(4) if not self.is_active(slot)]
            def is_active(self, slot):
                return bool(self.active[slot])
    """,
}


@pytest.mark.parametrize("name", UNASKED)
def test_what_is_rarely_worth_a_look_is_told_only_if_asked(name: str) -> None:
    files = {"a.py": dedent(UNASKED[name]).encode()}
    [asked], [unasked] = choose_codemods(Config(), select=(name,)), choose_codemods(Config(select=(name,)))
    project = Project(Path("/nowhere"), files, files)
    assert find(project, "a.py", [asked]).findings
    assert not find(project, "a.py", [unasked]).findings


def test_the_command_line_and_the_configuration_can_ask_for_them() -> None:
    assert names(Config(), NAME) == [NAME]
    assert names(Config(select=(NAME, "disable_compile"))) == [NAME, "disable_compile"]


def test_ignoring_another_does_not_bring_them_in() -> None:
    assert NAME not in names(Config(ignore=("disable_compile",)))


def test_list_and_explain_say_so() -> None:
    lines = list_codemods().splitlines()
    assert f"  {NAME}  on request" in lines
    assert "  disable_compile" in lines
    assert ON_REQUEST in " ".join(explain(NAME).split())
    assert ON_REQUEST not in " ".join(explain("disable_compile").split())
