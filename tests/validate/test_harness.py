"""`fullgraph harness`: what it writes builds from the config, runs, and fails where something is wrong."""

from __future__ import annotations

import ast
import gc
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from fullgraph.codemods.ui.harness import Wish, write_harness
from fullgraph.codemods.ui.making import Sources
from fullgraph.validate.capture_session import write_archive
from fullgraph.validate.drafting.library import Library
from fullgraph.validate.harness.compose import Place
from fullgraph.validate.new_harness import harness_name, new_harness
from tests.validate.capturing import PATIENCE, environment, fullgraph
from tests.validate.focus_programs import make_focus_project
from tests.validate.harness_programs import make_project

RULES = "E,F,W,I,B,UP,C4,SIM,RUF,PT,N,RET,PIE"
STABILIZE = Path(__file__).parents[2] / "fixtures" / "stabilize"
Draft = Callable[..., str]


@pytest.fixture(scope="module", autouse=True)
def few_objects() -> Iterator[None]:
    """What the tests before have left is out of sight: scripts look for leaks among all objects, again and again."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project to stand in; what a script puts on the path and imports is forgotten afterwards."""
    monkeypatch.chdir(make_project(tmp_path))
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] in ("works", "tuned", "plain")]:
        del sys.modules[name]


@pytest.fixture
def draft(project: Path) -> Draft:
    def write(target: str, config: str = "works.json", mode: str | None = None) -> str:
        assert write_harness(Wish(target, config, "cpu", mode, None, sys.executable)) == 0
        return next((project / "harness").glob("harness_*.py")).read_text()

    return write


@pytest.fixture
def focus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Draft:
    monkeypatch.chdir(make_focus_project(tmp_path))

    def write(target: str, config: str) -> str:
        assert write_harness(Wish(target, config, "cpu", None, None, sys.executable)) == 0
        return next((tmp_path / "harness").glob("harness_*.py")).read_text()

    return write


def load(folder: Path) -> Any:
    (file,) = (folder / "harness").glob("harness_*.py")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def function(text: str, name: str) -> str:
    """What a function of the script returns, on one line."""
    node = next(one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef) and one.name == name)
    returned = node.body[-1]
    assert isinstance(returned, ast.Return)
    return ast.unparse(returned).replace("'", '"')


def run(module: ModuleType, **options: Any) -> dict[str, Any]:
    """All checks, with a backend that compiles at once."""
    vars(module)["COMPILE"] = {"backend": "eager", **options}
    return {check.name: check for check in vars(module)["run"]("cpu", 2)}


def builds(module: ModuleType) -> bool:
    """Whether it is made and called in eager mode; nothing is compiled."""
    names = vars(module)
    return bool(names["attempt"]("runs", names["Session"](torch.device("cpu"), 1)).status == "passed")


def statuses(checks: dict[str, Any]) -> dict[str, str]:
    return {name: check.status for name, check in checks.items() if not name.startswith("cudagraph")}


def failures(checks: dict[str, Any]) -> set[str]:
    return {name for name, check in checks.items() if check.status == "failed"}


# From the config to the constructor


@pytest.mark.parametrize(
    ("name", "made"),
    [
        (
            "Weir",
            'Weir(config=WeirConfig(width=CONFIG["weir"]["width"], depth=CONFIG["weir"]["depth"], '
            'reach=Reach(**CONFIG["weir"]["reach"])), gate=Gate(CONFIG["gate"]))',
        ),
        ("Canal", 'Canal(**CONFIG["canal"])'),
        ("Basin", 'Basin(feeder=Canal(**CONFIG["canal"]), outlet=CONFIG["canal"]["outlet"])'),
        ("Ledger", "Ledger(cfg=namespace(CONFIG))"),
        ("Pump", 'Pump(config=CONFIG["pump"])'),
        ("Mixer", 'Mixer(**CONFIG["mixer"])'),
        ("Survey", 'Survey(**CONFIG["survey"])'),
    ],
)
def test_a_net_is_built_from_the_part_of_the_config_that_is_its_own(draft: Draft, name: str, made: str) -> None:
    assert function(draft(f"works.nets:{name}"), "build") == f"return {made}.to(device)"


@pytest.mark.parametrize("name", ["Weir", "Basin", "Ledger", "Pump", "Mixer"])
def test_every_check_that_can_be_made_passes_on_sound_code(project: Path, draft: Draft, name: str) -> None:
    draft(f"works.nets:{name}")
    assert set(statuses(run(load(project))).values()) == {"passed"}


def test_a_section_that_is_named_like_the_class_wins(project: Path, draft: Draft) -> None:
    (project / "works.json").write_text('{"outlet": {"days": 3}, "inlet": {"days": 4, "plots": 5}}')
    assert function(draft("works.nets:Outlet"), "build") == 'return Outlet(**CONFIG["outlet"]).to(device)'


def test_a_class_that_takes_anything_gets_what_it_reads(project: Path, draft: Draft) -> None:
    text = draft("works.nets:Counter")
    assert function(text, "build") == 'return works.nets.Counter(**CONFIG["survey"]).to(device)'
    assert builds(load(project))


def test_what_has_no_name_for_callers_is_passed_by_position(project: Path, draft: Draft) -> None:
    made = 'Spillway(CONFIG["spillway"]["fall"], lanes=CONFIG["spillway"]["lanes"])'
    assert function(draft("works.nets:Spillway"), "build") == f"return {made}.to(device)"
    assert builds(load(project))


def test_a_class_that_the_project_makes_for_a_net_is_made_from_the_config(project: Path, draft: Draft) -> None:
    """The net reads more than the config says; its class has defaults for it."""
    (project / "src" / "works" / "make.py").write_text(
        "from works.nets import Dam, DamConfig\n\n\ndef make(cfg):\n"
        '    settings = DamConfig(**cfg["dam"])\n    return Dam(settings)\n'
    )
    (project / "works.json").write_text('{"dam": {"days": 3}}')
    assert function(draft("works.nets:Dam"), "build") == 'return Dam(config=DamConfig(**CONFIG["dam"])).to(device)'
    assert builds(load(project))


def test_what_a_net_asks_for_first_need_not_be_in_the_config(project: Path, draft: Draft) -> None:
    (project / "works.json").write_text('{"dam": {"days": 3, "slope": 0.1}}')
    assert function(draft("works.nets:Dam"), "build") == (
        'return Dam(config=SimpleNamespace(**CONFIG["dam"])).to(device)'
    )
    assert builds(load(project))


def test_a_config_that_cannot_be_read_is_handed_on_as_it_is(project: Path, draft: Draft) -> None:
    (project / "src" / "tuned.py").write_text("from elsewhere import Settings\n\nSMALL = Settings(days=3)\n")
    text = draft("works.nets:Dam", "tuned:SMALL")
    assert "# Guessed: CONFIG for `config`." in text
    assert function(text, "build") == "return Dam(config=CONFIG).to(device)"


def test_a_long_section_name_breaks_the_line_and_nothing_else(project: Path, draft: Draft) -> None:
    name = "a_section_with_a_name_that_no_formatter_would_leave_on_the_line_that_it_was_written_on_at_first"
    (project / "works.json").write_text(json.dumps({name: {"inlet": 3, "hidden": 4, "outlet": 2}}))
    assert function(draft("works.nets:Canal"), "build") == f'return Canal(**CONFIG["{name}"]).to(device)'


def test_a_key_may_be_any_text(project: Path, draft: Draft) -> None:
    (project / "works.json").write_text(json.dumps({'the "big" one\\': {"inlet": 3, "hidden": 4, "outlet": 2}}))
    draft("works.nets:Canal")
    assert builds(load(project))


def test_a_config_may_be_a_value_of_a_module(project: Path, draft: Draft) -> None:
    (project / "src" / "tuned.py").write_text("from works.nets import WeirConfig\n\nSMALL = WeirConfig(width=7)\n")
    text = draft("works.nets:Weir", "tuned:SMALL")
    assert function(text, "build") == "return Weir(config=CONFIG).to(device)"
    assert "torch.randn(batch, 7," in text
    assert builds(load(project))


def test_a_config_may_be_a_class_with_defaults(project: Path, draft: Draft) -> None:
    (project / "src" / "tuned.py").write_text(
        "from dataclasses import dataclass, field\n\nfrom works.nets import WeirConfig\n\n\n"
        "@dataclass\nclass Config:\n    weir: WeirConfig = field(default_factory=lambda: WeirConfig(width=8))\n"
    )
    text = draft("works.nets:Weir", "src/tuned.py")
    assert "CONFIG = Config()" in text
    assert function(text, "build") == "return Weir(config=CONFIG.weir).to(device)"


def test_required_fields_of_a_config_class_are_filled(focus: Draft) -> None:
    text = focus("lens.nets:GistNet", "lens.settings:Run")
    assert 'CONFIG = Run(name="name", sizes=Sizes(width=12, depth=2))' in text
    assert function(text, "build") == "return GistNet(sizes=CONFIG.sizes).to(device)"
    assert "# Guessed: `name`." in text


def test_a_config_class_that_cannot_be_filled_says_what_it_needs(
    focus: Draft, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("src/lens/odd.py").write_text("class Odd:\n    def __init__(self, what): ...\n")
    assert write_harness(Wish("lens.nets:GistNet", "lens.odd:Odd", "cpu", None, None, sys.executable)) == 4
    assert "lens.odd:Odd needs what" in capsys.readouterr().err


def test_a_config_may_be_the_constants_of_a_file(project: Path, draft: Draft) -> None:
    (project / "src" / "plain.py").write_text("inlet = 4\nhidden = 6\noutlet = 2\n")
    text = draft("works.nets:Canal", "src/plain.py")
    made = "Canal(inlet=CONFIG.inlet, hidden=CONFIG.hidden, outlet=CONFIG.outlet)"
    assert function(text, "build") == f"return {made}.to(device)"
    assert builds(load(project))


def test_a_config_may_be_toml(project: Path, draft: Draft) -> None:
    (project / "works.toml").write_text("[canal]\ninlet = 4\nhidden = 6\noutlet = 2\n")
    text = draft("works.nets:Canal", "works.toml")
    assert 'CONFIG = tomllib.loads((ROOT / "works.toml").read_text(encoding="utf-8"))' in text
    assert builds(load(project))


def test_a_config_may_be_yaml_if_the_users_python_reads_it(project: Path, draft: Draft) -> None:
    pytest.importorskip("yaml")
    (project / "works.yaml").write_text("canal:\n  inlet: 4\n  hidden: 6\n  outlet: 2\n")
    assert "CONFIG = yaml.safe_load(" in draft("works.nets:Canal", "works.yaml")


def test_a_python_without_yaml_is_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "works.yaml").write_text("canal:\n  inlet: 4\n")
    bare = project / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    assert write_harness(Wish("works.nets:Canal", "works.yaml", "cpu", None, None, str(bare))) == 4
    assert "install pyyaml there" in capsys.readouterr().err


def test_the_projects_own_call_says_which_part_is_meant(project: Path, draft: Draft) -> None:
    (project / "works.json").write_text('{"wide": {"in": 30, "mid": 4}, "narrow": {"in": 3, "mid": 5}, "out": 2}')
    (project / "src" / "works" / "make.py").write_text(
        "from works.nets import Canal\n\n\ndef make(cfg):\n"
        '    return Canal(cfg["narrow"]["in"], cfg["narrow"]["mid"], outlet=cfg["out"])\n'
    )
    made = 'Canal(inlet=CONFIG["narrow"]["in"], hidden=CONFIG["narrow"]["mid"], outlet=CONFIG["out"])'
    assert function(draft("works.nets:Canal"), "build") == f"return {made}.to(device)"


def test_what_has_two_values_in_the_config_is_called_a_guess(project: Path, draft: Draft) -> None:
    (project / "works.json").write_text('{"a": {"days": 3}, "b": {"days": 4}}')
    assert '# Guessed: CONFIG["a"]["days"] for `days`.' in draft("works.nets:Survey")


def test_what_the_config_does_not_have_is_called_a_guess(project: Path, draft: Draft) -> None:
    (project / "works.json").write_text('{"canal": {"inlet": 3, "hidden": 4}}')
    assert "# Guessed: `outlet`, which the config does not have." in draft("works.nets:Canal")


def test_what_cannot_be_found_raises_and_says_so(project: Path, draft: Draft) -> None:
    draft("works.nets:Stranger")
    checks = run(load(project))
    assert "fill in below" in checks["runs"].detail
    assert "`atlas`" in checks["runs"].detail
    assert failures(checks) == {"runs"}
    assert {check.detail for check in checks.values() if check.status == "skipped"} == {"it does not run in eager mode"}


@pytest.mark.parametrize(("name", "section"), [("DemandNet", "demand"), ("SoilNet", "soil")])
def test_the_nets_of_the_bundled_example_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, section: str
) -> None:
    shutil.copytree(STABILIZE, tmp_path, dirs_exist_ok=True)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert write_harness(Wish(f"sluice.nets:{name}", "sluice.toml", "cpu", None, None, sys.executable)) == 0
    text = next((tmp_path / "harness").glob("harness_*.py")).read_text()
    kind = f"{section.capitalize()}Config"
    assert function(text, "build") == f'return {name}(config={kind}(**CONFIG["{section}"])).to(device)'
    assert 'COMPILE: dict[str, Any] = {"mode": "reduce-overhead", "backend": BACKEND}' in text
    checks = run(load(tmp_path))
    for module in [module for module in sys.modules if module.partition(".")[0] == "sluice"]:
        del sys.modules[module]
    assert set(statuses(checks).values()) == {"passed"}


# How it is compiled


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("works.nets:Weir", '{"mode": CONFIG["compile"]["mode"], "dynamic": True}'),
        ("works.nets:Canal", '{"mode": MODE, "fullgraph": True}'),
        ("works.nets:Pump", '{"mode": "reduce-overhead", "dynamic": False}'),
        ("works.nets:Mixer", '{"mode": "reduce-overhead"}'),
        ("works.train:smooth", '{"backend": "eager"}'),
        ("works.nets:Early", '{"mode": "reduce-overhead"}'),
    ],
)
def test_it_is_compiled_as_the_project_does_it(draft: Draft, target: str, options: str) -> None:
    assert f"COMPILE: dict[str, Any] = {options}" in draft(target)


@pytest.mark.parametrize(
    ("target", "options", "place"),
    [
        ("lens.nets:FocusNet", '{"mode": "max-autotune-no-cudagraphs"}', "src/lens/controller.py:10"),
        ("lens.nets:GistNet", '{"dynamic": True}', "src/lens/controller.py:11"),
        ("lens.nets:TileNet", '{"fullgraph": True}', "src/lens/controller.py:13"),
        ("lens.nets:WideTileNet", '{"fullgraph": True}', "src/lens/controller.py:13"),
    ],
)
def test_of_several_requests_the_one_that_is_meant_is_taken(
    focus: Draft, target: str, options: str, place: str
) -> None:
    """By what is compiled or what it is called; also that of a base; before one in a program."""
    text = focus(target, "")
    assert f"# As in {place}." in text
    assert f"COMPILE: dict[str, Any] = {options}" in text


def test_the_comment_says_where_the_options_come_from(draft: Draft) -> None:
    assert "# As in src/works/train.py:11." in draft("works.nets:Weir")


def test_an_option_that_cannot_be_read_is_called_a_guess(draft: Draft) -> None:
    assert "Guessed: its mode=choose(flag) cannot be read from outside" in draft("works.nets:Pump")


def test_the_mode_of_the_command_line_wins(draft: Draft) -> None:
    text = draft("works.nets:Weir", mode="max-autotune")
    assert '{"mode": "max-autotune", "dynamic": True}' in text


def test_fixed_sizes_may_recompile_for_each(draft: Draft) -> None:
    assert "MOST_RECOMPILES = 7" in draft("works.nets:Pump")


# What goes in


def test_the_first_batch_is_as_big_as_the_config_says(draft: Draft) -> None:
    assert "BATCHES = (16, 4, 7, 9)" in draft("works.nets:Canal")


def test_captured_calls_say_what_goes_in(draft: Draft) -> None:
    seen = {"kind": "tensor", "shape": [6, 5], "dtype": "float32", "device": "cpu"}
    index = {"calls": [{"arguments": [["x", seen]]}]}
    read = Sources(Path.cwd()).read
    script, _ = new_harness("works.nets:blend", Library(read), Place("a/b.py", "a/c.py", ("src",)), captured=index)
    assert "BATCHES = (6, 9, 4, 7)" in script
    assert "torch.randn(batch, 5, generator=generator)" in script


def test_captured_calls_of_forward_are_those_of_the_class(focus: Draft) -> None:
    seen = {"kind": "tensor", "shape": [6, 4, 20, 20], "dtype": "float32", "device": "cpu"}
    stored = Path(".fullgraph/captures/lens.nets.TileNet.forward.pt")
    stored.parent.mkdir(parents=True)
    write_archive(stored, {"calls": [{"arguments": [["tiles", seen]]}]}, [])
    assert "torch.randn(batch, 4, 20, 20, generator=generator)" in focus("lens.nets:TileNet", "")


def test_a_net_is_as_wide_as_what_was_captured(focus: Draft) -> None:
    seen = {"kind": "tensor", "shape": [6, 5, 64], "dtype": "float32", "device": "cpu"}
    levels = {"kind": "tensor", "shape": [6, 5], "dtype": "int64", "device": "cpu"}
    stored = Path(".fullgraph/captures/lens.nets.FocusNet.forward.pt")
    stored.parent.mkdir(parents=True)
    write_archive(stored, {"calls": [{"arguments": [["blocks", seen], ["levels", levels]]}]}, [])
    text = focus("lens.nets:FocusNet", "")
    assert function(text, "build") == "return FocusNet(width=64).to(device)"
    assert "torch.randn(batch, 5, 64, generator=generator)" in text
    assert "pad_mask" not in text.partition("def loss_of")[0]


def test_joined_tensors_share_the_width_of_the_layer(draft: Draft) -> None:
    text = function(draft("works.nets:Mixer"), "inputs")
    assert [text.count(f"torch.randn(batch, {width},") for width in (6, 3)] == [2, 1]


def test_sizes_that_a_docstring_names_are_looked_up_in_the_config(draft: Draft) -> None:
    assert "torch.randn(batch, 6, 11," in draft("works.nets:Survey")


# What a harness catches


@pytest.mark.parametrize(
    ("name", "failed"),
    [
        ("Talking", {"graph_breaks"}),
        ("GivenUp", {"graph_breaks"}),
        ("EvalOnly", {"graph_breaks"}),
        ("Stormy", {"recompiles"}),
        ("Copying", {"graph_breaks", "leaks"}),
        ("Latest", {"graph_breaks"}),
        ("Moody", {"repeated_calls", "train_and_eval", "batch_sizes"}),
        ("Broken", {"runs"}),
        ("Restless", {"runs"}),
    ],
)
def test_a_planted_fault_fails_its_check_and_no_other(project: Path, draft: Draft, name: str, failed: set[str]) -> None:
    draft(f"works.faulty:{name}")
    assert failures(run(load(project))) == failed


def test_an_error_of_eager_mode_is_not_blamed_on_compiling(project: Path, draft: Draft) -> None:
    draft("works.faulty:Folding")
    checks = run(load(project))
    assert failures(checks) == {"batch_sizes"}
    assert "training, batch size 7, seed 7: eager mode itself raises" in checks["batch_sizes"].detail


def test_a_leak_is_named_by_its_holder(project: Path, draft: Draft) -> None:
    draft("works.faulty:Hoarding")
    checks = run(load(project))
    assert failures(checks) == {"graph_breaks", "leaks"}
    assert "2 tensors in Hoarding.history" in checks["leaks"].detail


def test_a_frame_that_torch_gives_up_is_told_of_with_the_reason(project: Path, draft: Draft) -> None:
    draft("works.faulty:Recurrent")
    checks = run(load(project))
    assert failures(checks) == {"graph_breaks"}
    assert "RNN" in checks["graph_breaks"].detail


def test_a_distribution_is_compared_too(project: Path, draft: Draft) -> None:
    draft("works.faulty:Chance")
    assert failures(run(load(project))) == {"repeated_calls", "train_and_eval", "batch_sizes"}


def wrong_forward(graph: torch.fx.GraphModule, example: list[torch.Tensor]) -> Callable[..., Any]:
    return lambda *args: [one * 1.01 if one.is_floating_point() else one for one in graph(*args)]


def test_a_backend_that_computes_something_else_is_caught(project: Path, draft: Draft) -> None:
    draft("works.faulty:Sound")
    found = failures(run(load(project), backend=wrong_forward))
    assert found == {"training_steps", "repeated_calls", "train_and_eval", "batch_sizes"}


class WrongGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0] * 1.01


def wrong_backward(graph: torch.fx.GraphModule, example: list[torch.Tensor]) -> Callable[..., Any]:
    return lambda *args: [WrongGradient.apply(one) if one.requires_grad else one for one in graph(*args)]  # type: ignore[no-untyped-call]


def test_a_backend_with_wrong_gradients_is_caught_in_training(project: Path, draft: Draft) -> None:
    draft("works.faulty:Sound")
    checks = run(load(project), backend=wrong_backward)
    assert failures(checks) == {"training_steps", "train_and_eval", "batch_sizes"}
    assert "gradient 0 is not as in eager mode" in checks["training_steps"].detail


def overwritten(graph: torch.fx.GraphModule, example: list[torch.Tensor]) -> Callable[..., Any]:
    def fail(*args: torch.Tensor) -> Any:
        raise RuntimeError("Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run")

    return fail


def test_an_error_of_cuda_graphs_is_caught_on_any_device(project: Path, draft: Draft) -> None:
    draft("works.faulty:Sound")
    checks = run(load(project), backend=overwritten)
    assert "overwritten by a subsequent run" in checks["cudagraph_errors"].detail
    assert checks["cudagraph_errors"].status == checks["training_steps"].status == "failed"


def on_cuda(harness: Any, monkeypatch: pytest.MonkeyPatch, has_recorded: bool) -> None:
    """As if the device were a GPU, where the checks ask; the tensors stay where they are."""
    monkeypatch.setattr(harness, "is_cuda", lambda device: True)
    monkeypatch.setattr(harness, "has_recorded", lambda device: has_recorded)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 0)


def skip_a_graph(graph: torch.fx.GraphModule, example: list[torch.Tensor], **options: Any) -> Callable[..., Any]:
    torch._dynamo.utils.counters["inductor"]["cudagraph_skips"] += 1
    return graph.forward


def keep_a_graph(graph: torch.fx.GraphModule, example: list[torch.Tensor], **options: Any) -> Callable[..., Any]:
    return graph.forward


def test_a_graph_that_cuda_graphs_skip_is_caught(project: Path, draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    draft("works.faulty:Sound")
    harness = load(project)
    on_cuda(harness, monkeypatch, has_recorded=True)
    checks = run(harness, backend=skip_a_graph, options={"triton.cudagraphs": True})
    assert failures(checks) == {"cudagraph_skips"}
    assert "graphs were skipped" in checks["cudagraph_skips"].detail


def test_cuda_without_a_recorded_graph_is_no_pass(project: Path, draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    draft("works.faulty:Sound")
    harness = load(project)
    on_cuda(harness, monkeypatch, has_recorded=False)
    checks = run(harness, backend=keep_a_graph, options={"triton.cudagraphs": True})
    assert checks["cudagraph_skips"].detail == "no CUDA graph was recorded"


def test_without_cuda_its_checks_are_skipped_and_never_passed(project: Path, draft: Draft) -> None:
    draft("works.faulty:Sound")
    checks = run(load(project))
    assert failures(checks) == set()
    assert {(checks[name].status, checks[name].detail) for name in ("cudagraph_errors", "cudagraph_skips")} == {
        ("skipped", "needs CUDA")
    }


def test_a_function_is_compared_by_the_gradients_of_its_inputs(project: Path, draft: Draft) -> None:
    draft("works.nets:blend")
    checks = run(load(project))
    assert checks["training_steps"].status == "passed"
    assert checks["train_and_eval"].detail == "it has no train and eval mode"


def test_what_has_no_gradient_is_not_said_to_be_trained(project: Path, draft: Draft) -> None:
    draft("works.nets:rank")
    checks = run(load(project))
    assert (checks["training_steps"].status, checks["repeated_calls"].status) == ("skipped", "passed")


def test_an_object_is_compared_by_what_it_keeps(project: Path, draft: Draft) -> None:
    draft("works.nets:Gauge.update")
    assert failures(run(load(project))) == set()
    assert failures(run(load(project), backend=wrong_forward)) >= {"repeated_calls", "batch_sizes"}


def test_state_that_is_no_buffer_is_alike_on_both_sides(project: Path, draft: Draft) -> None:
    draft("works.nets:Tide")
    assert failures(run(load(project))) == set()


def test_what_compiles_itself_is_still_compared_with_eager_mode(project: Path, draft: Draft) -> None:
    draft("works.nets:Early")
    module = load(project)
    vars(module)["torch"]._dynamo.reset()
    plain = module.Side(torch.device("cpu"), None)
    torch._dynamo.utils.counters.clear()
    plain.step(4, 0, training=False)
    assert not torch._dynamo.utils.counters["stats"]


def test_what_gives_nothing_to_compare_is_no_pass(project: Path, draft: Draft) -> None:
    draft("works.nets:listen")
    checks = run(load(project))
    assert failures(checks) == {"runs"}
    assert "nothing to compare" in checks["runs"].detail


# The files


@pytest.mark.parametrize("name", ["nets:Weir", "nets:Ledger", "nets:Mixer", "nets:blend", "nets:Stranger"])
def test_both_files_are_clean(project: Path, draft: Draft, name: str) -> None:
    draft(f"works.{name}")
    ruff = [str(Path(sys.executable).with_name("ruff")), "--isolated"]
    where = ["--line-length", "120", "harness"]
    check = [ruff[0], "check", ruff[1], "--select", RULES, "--target-version", "py311", *where]
    assert subprocess.run(check, capture_output=True, text=True, check=False).stdout.strip() == "All checks passed!"
    done = subprocess.run([ruff[0], "format", ruff[1], "--check", *where], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_files_need_torch_and_pytest_only(project: Path, draft: Draft) -> None:
    draft("works.nets:Ledger")
    names = set()
    for file in (project / "harness").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or "").partition(".")[0])
    assert names - set(sys.stdlib_module_names) == {"torch", "pytest", "works", "harness_ledger"}


@pytest.mark.parametrize("name", ["Weir", "Stranger", "Ledger"])
def test_the_files_parse_as_python_3_9(project: Path, draft: Draft, name: str) -> None:
    draft(f"works.nets:{name}")
    for file in (project / "harness").glob("*.py"):
        ast.parse(file.read_text(), feature_version=(3, 9))


def test_they_stand_beside_the_projects_scripts_and_tests(tmp_path: Path) -> None:
    make_project(tmp_path, scripts=True)
    done = fullgraph(tmp_path, "harness", "works.nets:Canal", "--config", "works.json")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "scripts" / "harness_canal.py").is_file()
    assert (tmp_path / "tests" / "test_harness_canal.py").is_file()


def test_a_file_that_is_there_stays_and_nothing_is_written(tmp_path: Path) -> None:
    make_project(tmp_path)
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "test_harness_canal.py").write_text("mine")
    done = fullgraph(tmp_path, "harness", "works.nets:Canal", "--config", "works.json")
    assert done.returncode == 2
    assert "is there already" in done.stderr
    assert [file.name for file in (tmp_path / "harness").iterdir()] == ["test_harness_canal.py"]


def test_a_class_that_is_not_there_writes_nothing(tmp_path: Path) -> None:
    make_project(tmp_path)
    done = fullgraph(tmp_path, "harness", "works.nets:Canals", "--config", "works.json")
    assert (done.returncode, (tmp_path / "harness").exists()) == (4, False)
    assert "did you mean Canal?" in done.stderr


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment(PYTHONPATH=""),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_script_speaks_json(
    project: Path, draft: Draft, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draft("works.train:smooth")
    monkeypatch.setattr(sys, "argv", ["harness_smooth.py", "--json", "--steps", "1"])
    capsys.readouterr()
    assert load(project).main() == 0
    report = json.loads(capsys.readouterr().out)
    assert report["device"] == "cpu"
    assert {check["name"] for check in report["checks"]} > {"training_steps", "leaks", "cudagraph_skips"}


def test_a_short_name_stays_one_word() -> None:
    names = [harness_name(f"nets:{name}") for name in ("ViT", "SimpleViT", "CharRNN", "DemandNet", "Gauge.update")]
    assert names == [
        *("harness_vit", "harness_simple_vit", "harness_char_rnn", "harness_demand_net", "harness_gauge_update"),
    ]


def test_the_test_file_has_a_test_for_each_check_and_device(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    assert fullgraph(folder, "harness", "works.train:smooth", "--out", "checks").returncode == 0
    done = python(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", "checks")
    assert done.returncode == 0, done.stdout
    assert "needs CUDA" in done.stdout
    passed = 7 if not torch.cuda.is_available() else 14
    assert f"{passed} passed" in done.stdout


def test_a_fault_is_exit_code_1(
    project: Path, draft: Draft, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draft("works.faulty:Broken")
    monkeypatch.setattr(sys, "argv", ["harness_broken.py"])
    assert load(project).main() == 1
    assert "failed   runs              ValueError: the sluice is shut" in capsys.readouterr().out


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_sound_code_passes_with_cuda_graphs(project: Path, draft: Draft) -> None:
    draft("works.nets:Canal", mode="reduce-overhead")
    harness = load(project)
    assert {check.status for check in harness.run("cuda")} == {"passed"}
