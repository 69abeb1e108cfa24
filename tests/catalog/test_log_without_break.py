"""What messages look like once they are a part of the graph: in eager mode, and compiled on this torch."""

from __future__ import annotations

import ast
import logging
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import pytest

from fullgraph.codemods.payload import payload
from fullgraph.codemods.topics.messages.layout import pieces, quoted

FIXTURES = Path(__file__).parents[2] / "fixtures" / "log_without_break"


def text_of(case: str, side: str) -> str:
    return (FIXTURES / case / f"{side}.py").read_text()


@pytest.fixture(autouse=True)
def maker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that the codemod creates, under its name there."""
    pytest.importorskip("torch")
    from fullgraph.codemods.payload import in_graph

    monkeypatch.setitem(sys.modules, "in_graph", in_graph)


def load(case: str, side: str) -> types.ModuleType:
    """A side of a fixture as a module of its own name: operators are registered by it."""
    path = FIXTURES / case / f"{side}.py"
    module = types.ModuleType(f"log_without_break_{case}_{side}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(text_of(case, side), str(path), "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("text", ["plain", 'with "quotes"', "it's", "both \" and '", "a\nline", "back\\slash", "{}"])
def test_a_quoted_text_is_the_text(text: str) -> None:
    assert ast.literal_eval(quoted(text)) == text


def test_a_long_text_in_pieces_is_the_text() -> None:
    text = " ".join(f"word{number}" for number in range(60))
    lines = pieces(quoted(text), 60)
    assert len(lines) > 3
    assert max(map(len, lines)) <= 60
    assert ast.literal_eval(" ".join(lines).rstrip(",")) == text


def test_in_eager_mode_a_record_names_the_line_of_the_message(caplog: pytest.LogCaptureFixture) -> None:
    torch = pytest.importorskip("torch")
    net = load("basic", "after").Net(3)
    with caplog.at_level(logging.DEBUG):
        net(torch.ones(2, 3))
    lines = text_of("basic", "after").splitlines()
    assert len(caplog.records) == 6
    for record in caplog.records:
        assert record.funcName == "forward"
        assert "_logger_" in lines[record.lineno - 1]


def test_an_inlined_message_is_told_at_each_call_in_every_thread(caplog: pytest.LogCaptureFixture) -> None:
    torch = pytest.importorskip("torch")
    from concurrent.futures import ThreadPoolExecutor

    net = load("basic", "after").Net(3)
    compiled = torch.compile(net, backend="eager", fullgraph=True)
    with caplog.at_level(logging.DEBUG), ThreadPoolExecutor(1) as pool:
        compiled(torch.ones(2, 3))
        pool.submit(compiled, torch.ones(5, 3)).result()
        compiled(torch.ones(7, 3))
    said = [record.getMessage() for record in caplog.records if record.name.startswith("log_without_break")]
    assert len(said) == 18
    assert [line.split()[-2] for line in said if "over" in line] == ["2", "2", "5", "5", "7", "7"]


def test_export_leaves_the_operators_out() -> None:
    torch = pytest.importorskip("torch")
    net = load("basic", "after").Net(3)
    for strict in (True, False):
        graph = torch.export.export(net, (torch.ones(2, 3),), strict=strict).graph
        assert not [node for node in graph.nodes if "messages" in str(node.target)]


SAME = """

@in_graph
def _print(*values):
    print(*values)


def run(x):
    for _ in range(3):
        _print("same")
        x = x * 2
    _print("shape", x.shape, tuple(x.shape), list(x.shape))
    return x
"""


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_message_that_is_told_thrice_is_told_thrice_in_training_and_when_its_file_is_loaded_again(
    backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Torch makes one of equal calls, and forgets what an operator of the same name was said to have: effects."""
    torch = pytest.importorskip("torch")
    text = payload("in_graph.py") + SAME
    for _ in range(3):
        namespace: dict[str, Any] = {"__name__": "loaded_again"}
        exec(compile(text, "loaded_again.py", "exec"), namespace)
        run = torch.compile(namespace["run"], backend=backend, fullgraph=True)
        for rows in (3, 4, 5):
            run(torch.ones(rows).requires_grad_())
            said = capsys.readouterr().out.splitlines()
            assert said == ["same"] * 3 + [f"shape torch.Size([{rows}]) ({rows},) [{rows}]"]
        torch._dynamo.reset()


class Said:
    """Everything that a function says: log messages, warnings, and both streams."""

    def __init__(self, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
        self.capsys, self.caplog = capsys, caplog

    def by(self, function: Any, *given: Any) -> tuple[object, ...]:
        self.capsys.readouterr()
        self.caplog.clear()
        with warnings.catch_warnings(record=True) as warned, self.caplog.at_level(logging.INFO):
            warnings.simplefilter("always")
            function(*given)
        told = [str(one.message) for one in warned if "loss" in str(one.message)]
        records = [one.getMessage() for one in self.caplog.records if one.name.startswith("log_without_break")]
        return (*self.capsys.readouterr(), tuple(told), tuple(records))


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Said:
    return Said(capsys, caplog)


def plain(module: types.ModuleType) -> Any:
    return module.step._torchdynamo_orig_callable


VALUES = ["[1.5, -2.0, 3.25]", "[0.1]", "[float('nan'), 1.0]", "[float('inf')]", "[]", "[1e-30, 2e20]"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_a_number_that_is_read_from_a_name_reads_the_same(said: Said, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    before, after = plain(load("read_names", "before")), plain(load("read_names", "after"))
    compiled = torch.compile(after, backend="eager", fullgraph=True)
    for values in VALUES:
        x = torch.tensor(eval(values), dtype=getattr(torch, dtype)).requires_grad_()
        expected = said.by(before, x, 3)
        assert "loss" in str(expected)
        assert said.by(after, x, 3) == expected
        assert said.by(compiled, x, 3) == expected


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_other_backends_say_the_same_at_each_call(said: Said, backend: str) -> None:
    torch = pytest.importorskip("torch")
    for case, rest in (("read_names", (7,)), ("streams", ())):
        before, after = plain(load(case, "before")), plain(load(case, "after"))
        compiled = torch.compile(after, backend=backend, fullgraph=True)
        for values in ([1.0, 2.0], [1.0, 2.0], [3.0, float("nan"), 4.0]):
            x = torch.tensor(values)
            expected = said.by(before, x, *rest)
            assert any(expected)
            assert said.by(compiled, x, *rest) == expected
            assert said.by(after, x, *rest) == expected


def test_what_has_several_elements_or_is_no_tensor_runs_as_before(said: Said, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    after = text_of("read_names", "after")
    module = types.ModuleType("log_without_break_several")
    sys.modules[module.__name__] = module
    (tmp_path / "several.py").write_text(after.replace("loss = (x * x).sum()", "loss = x"))
    exec(compile((tmp_path / "several.py").read_text(), str(tmp_path / "several.py"), "exec"), module.__dict__)
    compiled = torch.compile(plain(module), backend="eager")
    for function in (plain(module), compiled):
        with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
            function(torch.ones(2), 1)
    one = torch.ones(1)
    assert said.by(compiled, one, 1) == said.by(plain(module), one, 1)


def test_a_text_goes_to_the_stream_that_is_there_at_the_call(said: Said) -> None:
    torch = pytest.importorskip("torch")
    after = plain(load("streams", "after"))
    compiled = torch.compile(after, backend="eager", fullgraph=True)
    out, err, *_ = said.by(compiled, torch.ones(4))
    assert err == "rows 4\n"
    assert out == "second: 4!\ntorch.float32 of --\nplain\n"
