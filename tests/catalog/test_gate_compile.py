"""What `gate_compile` writes runs: the same values, compiled as before, and nothing compiled where the flags say no."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Finding
from fullgraph.codemods.project import Project
from fullgraph.codemods.registry import codemod_named
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.ui.config import Config, choose_codemods
from tests.cases import FIXTURES, Case, apply
from tests.written_tests import outcome

torch = pytest.importorskip("torch")

FLAG = re.compile(rb'gated\(\s*"(\w+)"')


class Counting:
    """A backend that runs graphs as they are."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, graph: Any, inputs: Any) -> Callable[..., Any]:
        self.calls += 1
        forward: Callable[..., Any] = graph.forward
        return forward


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Counting:
    """What every `torch.compile` of a fixture uses, whatever mode it asks for."""
    counting, real = Counting(), torch.compile

    def compile_with(model: Any = None, **given: Any) -> Any:
        kept = {key: value for key, value in given.items() if key in ("fullgraph", "dynamic")}
        if model is None:
            return lambda target: compile_with(target, **kept)
        return real(model, backend=counting, **kept)

    monkeypatch.setattr(torch, "compile", compile_with)
    torch._dynamo.reset()
    return counting


def load(case: str, side: str, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of one side of a case, imported from files of its own."""
    fixture = Case(FIXTURES / "gate_compile" / case)
    files = fixture.before if side == "before" else fixture.after
    for path, raw in files.items():
        (folder / side / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / side / path).write_bytes(raw)
    with monkeypatch.context() as patch:
        patch.syspath_prepend(folder / side)
        for known in [path.split("/")[0].removesuffix(".py") for path in files]:
            for loaded in [each for each in sys.modules if each == known or each.startswith(f"{known}.")]:
                patch.delitem(sys.modules, loaded)
        module = importlib.import_module(name)
        for loaded in [each for each in sys.modules if each.split(".")[0] in {path.split("/")[0] for path in files}]:
            del sys.modules[loaded]
        for path in files:
            sys.modules.pop(path.removesuffix(".py"), None)
    return module


def use_basic(module: Any) -> Any:
    dispatcher = module.Dispatcher(5, torch.device("cpu"))
    return [dispatcher.pick(torch.randn(4, 5)), dispatcher.ranker(torch.randn(4, 5))]


def use_decorators(module: Any) -> Any:
    depth, warp = torch.rand(6, 6) + 0.1, module.Warp(0.5)
    return [
        module.smoothness(depth),
        module.scale_shift(depth, torch.rand(6, 6)),
        module.edges(depth),
        warp.disparity(depth),
        warp.valid(depth),
        warp.forward(depth),
    ]


def use_forms(module: Any) -> Any:
    x = torch.randn(2, 4)
    stack, heads = module.make_stack(4, 2)
    encoder, decoder = module.make_pair(4, torch.device("cpu"))
    model = torch.nn.Linear(4, 4)
    model.step = lambda value: value - 1
    module.attach(model)
    made = [module.make_vocoder(4)(x), stack(x), heads["pitch"](x), heads["energy"](x), decoder(encoder(x))]
    return [*made, model(x), model.loss(x), model.compiled_step(x), list(stack.state_dict())]


def use_in_place(module: Any) -> Any:
    tagger = module.build(30, 4)
    return [tagger(torch.arange(6).view(1, 6)), tagger.encoder(torch.arange(4)), list(tagger.state_dict())]


def use_config(module: Any) -> Any:
    learner = module.Learner(module.RunConfig(width=4))
    return [learner.actor(torch.ones(1, 4)), learner.critic(torch.ones(1, 4))]


def use_argument(module: Any) -> Any:
    matcher, score = module.make_matcher(3)
    return [matcher.net(torch.ones(1, 3)), score(torch.ones(2, 3), torch.ones(2, 3))]


PROGRAMS = {
    "basic": ("courier.ranking", use_basic),
    "decorators": ("module", use_decorators),
    "forms": ("module", use_forms),
    "in_place": ("tagger.model", use_in_place),
    "config": ("rl.learner", use_config),
    "argument": ("module", use_argument),
}
ASKS_THE_ENVIRONMENT = ["basic", "decorators", "forms", "in_place"]


def results(case: str, module: ModuleType) -> Any:
    torch.manual_seed(0)
    return PROGRAMS[case][1](module)


def same(one: Any, other: Any) -> bool:
    return torch.equal(one, other) if torch.is_tensor(one) else bool(one == other)


@pytest.mark.parametrize("case", PROGRAMS)
def test_with_all_flags_on_everything_is_as_before(
    case: str, backend: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = results(case, load(case, "before", PROGRAMS[case][0], tmp_path, monkeypatch))
    graphs, backend.calls = backend.calls, 0
    torch._dynamo.reset()
    after = results(case, load(case, "after", PROGRAMS[case][0], tmp_path, monkeypatch))
    assert len(before) == len(after) > 0
    assert all(map(same, before, after))
    assert backend.calls == graphs > 0


@pytest.mark.parametrize("case", ASKS_THE_ENVIRONMENT)
def test_with_all_flags_off_nothing_is_compiled(
    case: str, backend: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = results(case, load(case, "before", PROGRAMS[case][0], tmp_path, monkeypatch))
    backend.calls = 0
    torch._dynamo.reset()
    flags = {
        flag.decode() for raw in Case(FIXTURES / "gate_compile" / case).after.values() for flag in FLAG.findall(raw)
    }
    for flag in flags:
        monkeypatch.setenv(flag, "0")
        monkeypatch.setenv(f"{flag}_INFERENCE", "0")
    after = results(case, load(case, "after", PROGRAMS[case][0], tmp_path, monkeypatch))
    assert len(before) == len(after) > 0
    assert all(map(same, before, after))
    assert backend.calls == 0


def test_fields_of_the_config_are_the_switches(
    backend: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = load("config", "after", "rl.learner", tmp_path, monkeypatch)
    learner = module.Learner(module.RunConfig(width=4, compile_actor=False))
    learner.actor(torch.ones(1, 4))
    assert backend.calls == 0
    with torch.no_grad():
        learner.actor(torch.ones(1, 4))
    assert backend.calls == 1


def test_arguments_are_the_switches(backend: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = load("argument", "after", "module", tmp_path, monkeypatch)
    _, score = module.make_matcher(3, compile_score=False)
    score(torch.ones(2, 3), torch.ones(2, 3))
    module.Matcher(3, compile_net=False).net(torch.ones(1, 3))
    assert backend.calls == 0


def test_the_tests_that_it_writes_pass(tmp_path: Path) -> None:
    for path, raw in Case(FIXTURES / "gate_compile" / "write_tests").after.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(raw)
    assert outcome(tmp_path, "tests") == "6 passed"


def test_the_tests_that_it_writes_can_fail(tmp_path: Path) -> None:
    for path, raw in Case(FIXTURES / "gate_compile" / "write_tests").after.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        broken = raw.replace(b"if switch.is_on():", b"if True:").replace(b"self.was_logged, True", b"False, False")
        (tmp_path / path).write_bytes(broken)
    assert outcome(tmp_path, "tests") == "2 failed, 4 passed"


def test_it_runs_only_when_it_is_selected_by_name() -> None:
    usual = choose_codemods(Config())
    assert "gate_compile" not in {codemod.name for codemod in usual}


ODD = {
    "walrus": "if (net := torch.compile(make())) is not None:\n    print(net)\n",
    "default": "def f(x, act=torch.compile(torch.relu)):\n    return act(x)\n",
    "lambda": "make = lambda net: torch.compile(net)\n",
    "async": "class A:\n    @torch.compile\n    async def f(self, net):\n        self.net = torch.compile(await net)\n",
    "tuple": "x, (y, *z) = torch.compile(f), [torch.compile(g) for g in gs]\n",
    "backslash": "net = \\\n    torch.compile(make(),\n                  mode='default')\n",
    "long text": 'net = torch.compile(make("""\n  text\n"""), mode="default")\n',
    "semicolon": "a = 1; net = torch.compile(f); other = torch.compile(g)\n",
    "match": "match kind:\n    case 'a':\n        net = torch.compile(f)\n    case _: g = torch.compile(g)\n",
    "nested": "net = torch.compile(Outer(torch.compile(Inner()), torch.compile(g)))\n",
    "decorators": "@cache  # first\n# about it\n@torch.compile  # then\n\n@other\ndef f(x): return x\n",
    "stacked": "class A:\n\t@property\n\t@torch.compile(\n\t\tfullgraph=True,\n\t)\n\tdef f(self):\n\t\treturn 1\n",
    "items": "nets += [torch.compile(f)]\nnets[0] = torch.compile(g)\nnets['\u00e9'] = torch.compile(h)\n",
    "names": "\u03bc = torch.compile(\u0444)\n__ = torch.compile(_)\nCompiled = torch.compile(f)\n",
    "keywords": "net = torch.compile(model=f, **kw)\nnet = (torch.compile)(f).eval()\n",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_code_is_gated_once_and_still_parses(text: str) -> None:
    files = {"module.py": f"import torch\n\n{text}".encode()}
    findings = findings_in(files)
    assert findings
    assert all(finding.is_fixable for finding in findings)
    after = apply(files, findings)
    ast.parse(after["module.py"])
    assert after["module.py"].count(b"gated(") == len(findings)
    assert findings_in(after) == []


def test_flags_of_different_callables_differ() -> None:
    text = "def a(net):\n    return torch.compile(net)\n\n\ndef b(net):\n    return torch.compile(net)\n"
    first, second = (finding.message for finding in findings_in({"module.py": f"import torch\n\n\n{text}".encode()}))
    assert "`a_net`" in first
    assert "`b_net`" in second


def findings_in(files: dict[str, bytes]) -> list[Finding]:
    project = Project(Path("/nowhere"), files, files)
    codemod: Codemod = codemod_named("gate_compile")(None, ())
    found = find(project, "module.py", [codemod])
    assert not found.error
    return list(found.findings)
