"""What a project compiles, and what compiled code reaches."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.compiled import compiled_code, requests

HEAD = "import functools, torch\nfrom torch import nn\n"
STATS = "def stats(): ...\ndef step(x):\n    stats()\n"
NET = """
class Net(nn.Module):
    def forward(self, x):
        stats()
class Holder:
    def __init__(self, given: Net):
        self.net = Net().to("cpu")
        self.given = given
"""


def project_of(**files: str) -> Project:
    texts = {f"{name}.py": text.encode() for name, text in files.items()}
    return Project(Path("/nowhere"), texts, texts)


def reached(project: Project, path: str, name: str) -> list[str]:
    """The calls of a function that compiled code reaches, as `path:line` with what `fullgraph` is."""
    module = project.module(path)
    function = next(node for node in module.nodes(ast.FunctionDef) if module.symbol(node) == name)
    calls = compiled_code(project).calls_of(module, function)
    return [f"{call}{' ' + call.region.fullgraph if call.region.fullgraph else ''}" for call in calls]


@pytest.mark.parametrize(
    "asking",
    [
        "fast = torch.compile(step)",
        "fast = torch.compile(model=step)",
        "fast = torch.compile(mode='default')(step)",
        "fast = torch.compile(lambda x: step(x))",
        "fast = torch._dynamo.optimize('eager')(step)",
        "from torch import compile as speed_up\nfast = speed_up(step)",
        "@torch.compile\ndef outer(x): return [step(y) for y in x]",
        "@torch.compile(dynamic=True)\ndef outer(x): step(x)",
        "@functools.partial(torch.compile, dynamic=True)\ndef outer(x): step(x)",
    ],
)
def test_each_way_to_compile_a_function_is_seen(asking: str) -> None:
    assert reached(project_of(a=f"{HEAD}{STATS}{asking}\n"), "a.py", "stats") == ["a.py:5"]


@pytest.mark.parametrize(
    "asking",
    [
        "torch.compile(Net())",
        "net = Net()\nnet.compile()",
        "def run(net: Net | None):\n    torch.compile(net)",
        "class Own(Holder):\n    def go(self):\n        torch.compile(self.net)",
        "class Own(Holder):\n    def go(self):\n        self.given.compile()",
        "holder = Holder(None)\nfast = torch.compile(holder.net.forward)",
        "@torch.compile\ndef outer(x, net: Net):\n    return net(x)",
    ],
)
def test_each_way_to_compile_a_module_is_seen(asking: str) -> None:
    assert reached(project_of(a=f"{HEAD}{STATS}{NET}{asking}\n"), "a.py", "stats") == ["a.py:9"]


def test_fullgraph_is_told_as_written() -> None:
    for given, told in (("True", " True"), ("False", ""), ("settings.strict", " settings.strict")):
        text = f"{HEAD}{STATS}fast = torch.compile(step, fullgraph={given})\n"
        assert reached(project_of(a=text), "a.py", "stats") == [f"a.py:5{told}"]


def test_calls_are_followed_over_files_and_through_a_package() -> None:
    project = project_of(
        a=f"{HEAD}from b import work\nfast = torch.compile(work)\n",
        b="from c import Base\nclass Kind(Base):\n    def go(self):\n        self.size\ndef work():\n    Kind().go()\n",
        c="from d import stats\nclass Base:\n    @property\n    def size(self):\n        return stats()\n",
        d="from e import stats\n",
        e="def stats(): ...\n",
    )
    assert reached(project, "e.py", "stats") == ["c.py:5"]
    assert reached(project, "c.py", "Base.size") == ["b.py:4"]


@pytest.mark.parametrize(
    "text",
    [
        "import re\nfast = re.compile(step)\n",
        "fast = other.compile(step)\n",
        "@torch.compiler.disable\ndef out(): stats()\nfast = torch.compile(lambda: out())\n",
        "def out():\n    if not torch.compiler.is_compiling():\n        stats()\nfast = torch.compile(out)\n",
        "def out(stats):\n    stats()\nfast = torch.compile(out)\n",
    ],
)
def test_what_is_not_compiled_is_not_reached(text: str) -> None:
    assert reached(project_of(a=HEAD + STATS + text), "a.py", "stats") == []


def test_what_cannot_be_seen_is_said() -> None:
    project = project_of(a=f"{HEAD}def speed_up(model):\n    return torch.compile(model)\n")
    assert [str(region) for region in compiled_code(project).unseen] == ["a.py:4"]


@pytest.mark.parametrize(
    "text",
    [
        'models["a"] = torch.compile(step)\n',
        "fast = torch.compile(\n    step,\n)\n",
        "import torch as t\nfast = t.compile(step)\n",
        "from functools import partial\n@partial(\n    torch.compile,\n    dynamic=True,\n)\ndef go():\n    stats()\n",
        "class Net(torch.nn.Module):\n    def forward(self): stats()\nnet = Net()\nnet.compile(\n    fullgraph=True)\n",
    ],
)
def test_a_request_is_seen_however_it_is_laid_out(text: str) -> None:
    assert reached(project_of(a=HEAD + STATS + "models = {}\n" + text), "a.py", "stats")


@pytest.mark.parametrize(
    "text",
    [
        '"""Use torch.compile(f)."""',
        "# torch.compile(f)",
        "x = 'torch.compile(f)'",
        ">>> torch.compile(f)",
        "re.compile()",
    ],
)
def test_talk_of_compiling_is_not_parsed(text: str) -> None:
    assert not requests(text.encode())


def test_nothing_is_followed_for_a_function_that_nobody_names() -> None:
    project = project_of(a=f"{HEAD}def step(): ...\nfast = torch.compile(step)\n", b="def stats(): ...\n")
    assert reached(project, "b.py", "stats") == []
    assert "calls" not in vars(compiled_code(project))


def test_what_is_passed_to_compiled_code_is_not_compiled() -> None:
    project = project_of(a=f"{HEAD}def step(x): ...\ndef given(): ...\ntorch.compile(step)(given)\n")
    begins = [ast.unparse(node).partition("(")[0] for (_, node), _ in compiled_code(project).begins]
    assert begins == ["def step"]


def test_none_stands_for_a_function_that_comes_later() -> None:
    project = project_of(a=f"{HEAD}{STATS}fast = torch.compile(None, fullgraph=True)(step)\n")
    assert reached(project, "a.py", "stats") == ["a.py:5 True"]
