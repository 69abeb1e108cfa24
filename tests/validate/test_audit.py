"""Lifetimes: every output that outlives its step is found, and no other."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from fullgraph.validate.worker.lifetimes.auditor import Auditor
from fullgraph.validate.worker.lifetimes.hazards import Hazard
from tests.validate import lifetime_programs
from tests.validate.lifetime_programs import CLEAN, PLANTED


@pytest.fixture(scope="module")
def auditor() -> Iterator[Auditor]:
    torch._dynamo.reset()
    auditor = Auditor()
    with auditor.installed():
        yield auditor
    torch._dynamo.reset()


@pytest.fixture(scope="module")
def net(auditor: Auditor) -> Any:
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
    return torch.compile(layers, mode="reduce-overhead")


@pytest.fixture(scope="module")
def programs(auditor: Auditor) -> Any:
    """The programs as a module that was imported after the audit had begun, as the user's are."""
    spec = importlib.util.spec_from_file_location("audited_programs", lifetime_programs.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["audited_programs"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["audited_programs"]


def batches() -> list[Tensor]:
    make = torch.Generator().manual_seed(1)
    return [torch.randn(3, 4, generator=make) for _ in range(4)]


def run(auditor: Auditor, program: Any, *args: Any) -> list[Hazard]:
    auditor.begin_anew()
    with torch.no_grad(), auditor.watching():
        auditor.note_returned(program(*args))
    auditor.finish()
    return list(auditor.hazards.by_key.values())


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_hazard_is_found_with_its_holder(name: str, auditor: Auditor, net: Any, programs: Any) -> None:
    program, kind, holder = programs.PLANTED[name]
    hazards = run(auditor, program, net, batches())
    assert (kind, holder) in {(hazard.kind, hazard.holder) for hazard in hazards}


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_program_raises_no_alarm(name: str, auditor: Auditor, net: Any, programs: Any) -> None:
    assert run(auditor, programs.CLEAN[name], net, batches()) == []


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_program_computes_what_it_would_without_audit(
    name: str, auditor: Auditor, net: Any, programs: Any
) -> None:
    auditor.begin_anew()
    with torch.no_grad(), auditor.watching():
        audited = programs.CLEAN[name](net, batches())
    with torch.no_grad():
        plain = programs.CLEAN[name](net._orig_mod, batches())
    torch.testing.assert_close(audited, plain, rtol=0, atol=0, equal_nan=False)
