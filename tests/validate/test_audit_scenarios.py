"""Audits of scenarios: files and tests, in processes of their own, and what CUDA graphs say themselves."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch

from fullgraph.validate.audit import audit, judge
from fullgraph.validate.audit_model import Audit, Conclusion
from fullgraph.validate.launch import Died, Worker
from fullgraph.validate.model import Outcome, Settings, ValidateError
from fullgraph.validate.scenario import read_scenario
from fullgraph.validate.worker.lifetimes.real import collect_errors, read_error
from tests.validate.capturing import capture
from tests.validate.in_process import opened

pytestmark = pytest.mark.everything

CONTROLLER = """\
    import torch


    class Controller:
        def __init__(self, **options):
            self.net = torch.compile(torch.nn.Linear(4, 2), **options)
            self.scores = None
            self.log = []

        @torch.no_grad()
        def step(self, x):
            out = self.net(x)
            self.remember(out)
            return out.sum().item()

        def remember(self, scores):
            shown = scores[0]
            self.log.append(
                shown
            )
            self.scores = scores


    class Careful(Controller):
        def remember(self, scores):
            self.scores = scores.clone()
    """

SCENARIO = """\
    import torch
    from module import {name}


    def build(device):
        return {name}({options}).step


    def cases(device, seed):
        return [(torch.ones(3, 4),)]
    """

REDUCED = 'mode="reduce-overhead"'


def run_audit(folder: Path, scenario: str, name: str = "scenario.py", **given: Any) -> Audit:
    (folder / "module.py").write_text(textwrap.dedent(CONTROLLER))
    (folder / name).write_text(textwrap.dedent(scenario))
    settings = Settings(device="cpu", python=sys.executable, time_limit=120)
    return audit(read_scenario(str(folder / name), folder), folder, settings, **given)


def test_a_hazard_is_told_with_the_lines_that_made_and_kept_it(tmp_path: Path) -> None:
    found = run_audit(tmp_path, SCENARIO.format(name="Controller", options=REDUCED))
    told = {
        (one.kind, one.holder, one.made and one.made.line, one.kept and (one.kept.file, one.kept.line))
        for one in found.hazards
    }
    assert found.conclusion is Conclusion.HAZARDS
    assert told == {
        ("attribute", "Controller.scores", 12, ("module.py", 21)),
        ("list item", "Controller.log[...]", 12, ("module.py", 18)),
    }


def test_a_program_that_clones_is_clean(tmp_path: Path) -> None:
    found = run_audit(tmp_path, SCENARIO.format(name="Careful", options=REDUCED))
    assert found.conclusion is Conclusion.CLEAN
    assert found.hazards == ()
    assert found.generations == 2


def test_calls_without_cuda_graphs_are_undecided_until_all_are_asked_for(tmp_path: Path) -> None:
    scenario = SCENARIO.format(name="Controller", options="")
    found = run_audit(tmp_path, scenario)
    assert found.conclusion is Conclusion.UNDECIDED
    assert "--all" in found.reason
    assert len(run_audit(tmp_path, scenario, everything=True).hazards) == 2


def test_what_compiles_nothing_is_compiled_and_its_own_keeping_is_found(tmp_path: Path) -> None:
    scenario = """\
        import torch


        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(4, 2)
                self.hidden = None

            def forward(self, x):
                self.hidden = self.layer(x)
                return self.hidden.relu()


        def build(device):
            return Net().to(device)


        def cases(device, seed):
            return [(torch.ones(3, 4),), (torch.zeros(3, 4),)]
        """
    [hazard] = run_audit(tmp_path, scenario).hazards
    assert hazard.holder == "Net.hidden"
    assert hazard.made
    assert (hazard.made.file, hazard.made.line) == ("scenario.py", 10)


def test_captured_calls_are_a_scenario_too(tmp_path: Path) -> None:
    module = f"""\
        import torch

        net = torch.compile(torch.nn.Linear(4, 2), {REDUCED})
        seen = []


        def score(x):
            with torch.no_grad():
                seen.append(net(x))
            return len(seen)
        """
    (tmp_path / "scoring.py").write_text(textwrap.dedent(module))
    (tmp_path / "main.py").write_text(
        "import scoring, torch\nfor _ in range(2):\n    scoring.score(torch.ones(3, 4))\n"
    )
    assert capture(tmp_path, "scoring:score", ["python", "main.py"]).returncode == 0
    settings = Settings(device="cpu", python=sys.executable, time_limit=120)
    [hazard] = audit(read_scenario("scoring:score", tmp_path), tmp_path, settings).hazards
    assert (hazard.holder, hazard.kept and hazard.kept.line) == ("seen[...]", 9)


def test_without_time_for_another_run_hazards_are_told_without_their_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(self: Worker, request: str, **given: Any) -> Any:
        if request == "find_lines":
            raise Died(Outcome("hang", request, "no end after 120 s"))
        return answered(self, request, **given)

    answered = Worker.ask
    monkeypatch.setattr(Worker, "ask", ask)
    found = run_audit(tmp_path, SCENARIO.format(name="Controller", options=REDUCED))
    assert [hazard.kept for hazard in found.hazards] == [None, None]
    assert any("no end after 120 s" in notice for notice in found.notices)


def test_a_test_of_the_users_is_a_scenario_too(tmp_path: Path) -> None:
    tests = f"""\
        import torch
        from module import Careful, Controller


        def test_careful():
            controller = Careful({REDUCED})
            assert controller.step(torch.ones(3, 4)) == controller.step(torch.ones(3, 4))


        def test_careless():
            controller = Controller({REDUCED})
            for _ in range(2):
                controller.step(torch.ones(3, 4))
            assert controller.log[0].isfinite().all()
        """
    found = run_audit(tmp_path, tests, "test_controller.py")
    used = [hazard for hazard in found.hazards if hazard.is_used]
    assert {hazard.case for hazard in found.hazards} == {"test_controller.py::test_careless"}
    assert [(hazard.holder, hazard.used and hazard.used.line) for hazard in used] == [("Controller.log[...]", 14)]


def test_a_scenario_that_raises_is_undecided(tmp_path: Path) -> None:
    scenario = "def build(device):\n    return len\n\n\ndef cases(device, seed):\n    return [(1,)]\n"
    found = run_audit(tmp_path, scenario)
    assert found.conclusion is Conclusion.UNDECIDED
    assert any("TypeError" in notice for notice in found.notices)


def test_a_device_without_values_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scenario.py").write_text("")
    scenario = read_scenario(str(tmp_path / "scenario.py"), tmp_path)
    with pytest.raises(ValidateError, match="no values"):
        audit(scenario, tmp_path, Settings(device="fake-cuda"))


SEEN: dict[str, Any] = {"raised": [], "graph_runs": 4, "compiled_calls": 4, "generations": 2}


@pytest.mark.parametrize(
    ("seen", "conclusion"),
    [
        ({}, Conclusion.CLEAN),
        ({"generations": 1}, Conclusion.UNDECIDED),
        ({"graph_runs": 0}, Conclusion.UNDECIDED),
        ({"raised": [["case 1", "ValueError"]]}, Conclusion.UNDECIDED),
    ],
)
def test_clean_is_said_only_where_something_could_have_been_overwritten(
    seen: dict[str, Any], conclusion: Conclusion
) -> None:
    assert judge({**SEEN, **seen}, (), ())[0] is conclusion


# What CUDA graphs say themselves

MESSAGE = (
    "Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run. Stack trace: "
    'File "/project/net.py", line 7, in forward\n    return self.layer(x). To prevent overwriting, clone the tensor.'
)

RAISING = """\
    import torch
    from torch._dynamo.backends.registry import register_backend

    runs = 0


    def overwriting(module, inputs):
        def run(*args):
            global runs
            runs += 1
            if runs % 2 == 0:
                raise RuntimeError(MESSAGE)
            return module(*args)

        return run


    MESSAGE = {message!r}
    call = torch.compile(torch.nn.Linear(4, 2), backend=overwriting)


    def step(x):
        return call(x)
    """

STEPS = """\
    import torch
    from module import step


    def build(device):
        return step


    def cases(device, seed):
        return [(torch.ones(3, 4),), (torch.ones(3, 4),)]
    """


def test_an_error_of_cuda_graphs_tells_where_the_output_was_made_and_read(tmp_path: Path) -> None:
    with opened(tmp_path, textwrap.dedent(RAISING).format(message=MESSAGE), STEPS) as stages:
        [found] = collect_errors(stages, compiles_itself=True, mode="reduce-overhead")
    assert found["made"] == {"file": "/project/net.py", "line": 7, "function": "forward"}
    assert found["used"]["file"] == str(tmp_path / "module.py")
    assert found["text"].startswith("accessing tensor output of CUDAGraphs")


def test_other_errors_are_not_taken_for_theirs() -> None:
    assert read_error(RuntimeError("shapes cannot be multiplied"), "case 1") is None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA graphs")
def test_real_cuda_graphs_raise_where_the_audit_finds_a_hazard(tmp_path: Path) -> None:
    scenario = """\
        import torch


        def build(device):
            net = torch.compile(torch.nn.Linear(4, 2).to(device), mode="reduce-overhead")

            def step(x):
                with torch.no_grad():
                    first = net(x)
                    second = net(x)
                    return (first + second).sum().item()

            return step


        def cases(device, seed):
            return [(torch.ones(3, 4, device=device),)]
        """
    (tmp_path / "scenario.py").write_text(textwrap.dedent(scenario))
    settings = Settings(device="cuda", python=sys.executable)
    found = audit(read_scenario(str(tmp_path / "scenario.py"), tmp_path), tmp_path, settings)
    assert [hazard.kind for hazard in found.hazards] == ["local"]
    assert found.errors
