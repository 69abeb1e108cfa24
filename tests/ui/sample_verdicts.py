"""Verdicts of every sort, as the validator would give them on real code."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from statistics import median
from typing import Any

from fullgraph.codemods.rewrite.diff import patch
from fullgraph.validate.model import (
    Break,
    Difference,
    Graph,
    Measurement,
    Outcome,
    Ratio,
    Reason,
    Ruling,
    Scenario,
    Settings,
    Sync,
    Verdict,
)

CPU: dict[str, Any] = {
    "device": "cpu",
    "name": "AMD EPYC 7B13",
    "torch": "2.13.0+cpu",
    "python": "3.11.2",
    "platform": "Linux-6.1.0-x86_64-with-glibc2.36",
    "threads": 2,
    "driver": "",
    "cannot_show": ["what a host read costs on an accelerator", "device memory"],
    "command": "fullgraph prove scenarios/train_step.py --report out.html",
    "compile": {"backend": "inductor", "dynamic": None},
    "is_fake": False,
    "syncs": "intercepted calls",
}
CUDA: dict[str, Any] = {
    **CPU,
    "device": "cuda:0",
    "name": "NVIDIA A100-SXM4-40GB",
    "torch": "2.13.0+cu128",
    "driver": "570.86.15",
    "cannot_show": [],
}
FAKE: dict[str, Any] = {
    **CPU,
    "device": "fake-cuda",
    "name": "fake tensors",
    "cannot_show": ["values", "times"],
    "is_fake": True,
}

DETECTOR = '''\
"""One training step of the pair detector."""

import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)


class PairDetector(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.stem = nn.Linear(width, width)
        self.head = nn.Linear(width, 2)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, batch: torch.Tensor, step: int) -> torch.Tensor:
        hidden = torch.relu(self.stem(batch))
        if hidden.abs().max() > 1e4:
            logger.warning("activations explode at step %d", step)
        scores = self.head(hidden)
        self.seen += scores.mean().item()
        print("scores", scores.shape)
        return scores
'''
DETECTOR_AFTER = DETECTOR.replace(
    """\
        if hidden.abs().max() > 1e4:
            logger.warning("activations explode at step %d", step)
""",
    """\
        self._watch(hidden, step)
""",
).replace(
    """\
        self.seen += scores.mean().item()
        print("scores", scores.shape)
        return scores
""",
    """\
        self.seen += scores.mean().detach()
        return scores

    @torch.compiler.assume_constant_result
    def _watch(self, hidden: torch.Tensor, step: int) -> None:
        logger.debug("watching activations at step %d", step)
""",
)

BRANCH = Break(
    file="detector.py",
    line=20,
    function="PairDetector.forward",
    id="GB0170",
    reason="Data-dependent branching: attempted to jump with TensorVariable()",
    hint="Use `torch.cond` to express dynamic control flow.",
)
ITEM = Break(
    file="detector.py",
    line=23,
    function="PairDetector.forward",
    id="GB0124",
    reason="Unsupported Tensor.item() call with capture_scalar_outputs=False",
    hint="Set `torch._dynamo.config.capture_scalar_outputs = True`, or keep the value in a tensor.",
)
PRINT = Break(
    file="detector.py",
    line=24,
    function="PairDetector.forward",
    id="GB0059",
    reason="Failed to trace builtin operator: print",
    hint=(
        "If you are attempting to call a logging function, "
        "try adding it to `torch._dynamo.config.reorderable_logging_functions`."
    ),
)
SHAPE = "tensor 'batch' size mismatch at index 0. expected 8, actual 12"
STEP = "step == 3  # logger.warning(..., step)  # detector.py:21 in forward"


def diff_of(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    old, new = ({path: text.encode() for path, text in side.items()} for side in (before, after))
    return patch(old, new).decode()


def blocks(seed: int, number: int, seconds: float, spread: float = 0.03) -> tuple[float, ...]:
    """Times as a busy machine gives them: a narrow body and a tail to the right."""
    chance = random.Random(seed)
    tail = (1.35 if chance.random() < 0.06 else 1.0 for _ in range(number))
    return tuple(seconds * chance.lognormvariate(0, spread) * slow for slow in tail)


def ratio_of(before: tuple[float, ...], after: tuple[float, ...]) -> Ratio:
    chance = random.Random(7)
    draws = sorted(
        median(chance.choices(before, k=len(before))) / median(chance.choices(after, k=len(after))) for _ in range(400)
    )
    return Ratio(median(before) / median(after), draws[10], draws[-11], min(len(before), len(after)))


def timed(
    before: Measurement, after: Measurement, seconds: Mapping[str, tuple[float, float]], number: int = 40
) -> tuple[Measurement, Measurement, dict[str, Ratio]]:
    """Both sides with blocks of timing around these seconds, and the ratios that follow."""
    ratios = {}
    for place, (name, (first, second)) in enumerate(seconds.items()):
        count = 7 if name == "cold start" else number
        old, new = blocks(place, count, first), blocks(place + 50, count, second)
        ratios[name] = ratio_of(old, new)
        field = {"eager": "eager_s", "compiled": "compiled_s", "cold start": "cold_s"}[name]
        old_blocks: Any = {field: old}
        new_blocks: Any = {field: new}
        before, after = replace(before, **old_blocks), replace(after, **new_blocks)
    return before, after, ratios


def graph(operators: int, line: int = 18, **rest: Any) -> Graph:
    fields: Any = {"function": "PairDetector.forward", "file": "detector.py", "guards": 14, "guard_us": 11.4, **rest}
    return Graph(operators=operators, line=line, **fields)


CASES = tuple(f"batch of {size}" for size in (8, 12, 16, 24))
SCENARIO = Scenario("file", "train_step", "scenarios/train_step.py")


def proven() -> Verdict:
    before = Measurement(
        "before",
        cases=CASES,
        graphs=(
            graph(4, ended="break"),
            graph(2, line=22, ended="break"),
            graph(3, line=23, ended="break"),
            graph(4, recompile=SHAPE, ended="break"),
            graph(4, recompile=STEP, ended="break"),
            graph(2, line=22, recompile=SHAPE, ended="break"),
            graph(3, line=23, recompile=SHAPE, ended="break"),
        ),
        breaks=(BRANCH, ITEM, PRINT),
        fullgraph=False,
        fullgraph_reason="Data-dependent branching (GB0170) at detector.py:20",
        syncs=(
            Sync("detector.py", 20, "bool", 4),
            Sync("detector.py", 23, "item", 4),
        ),
        moves=(),
        peak_bytes=48_300_032,
        ran={"detector.py": (-1, -3, -5, 18, 19, 20, 22, 23, 24, 25)},
    )
    after = Measurement(
        "after",
        cases=CASES,
        graphs=(graph(9, guards=21, guard_us=16.2), graph(9, guards=23, guard_us=17.0, recompile=SHAPE)),
        breaks=(),
        fullgraph=True,
        syncs=(),
        moves=(),
        peak_bytes=46_202_880,
        ran={"detector.py": (-1, -3, -5, 18, 19, 20, 21, 22, 23, 27)},
    )
    before, after, ratios = timed(
        before, after, {"eager": (0.00212, 0.00209), "compiled": (0.00183, 0.00140), "cold start": (6.1, 2.9)}
    )
    return Verdict(
        ruling=Ruling.PROVEN,
        reasons=(
            Reason("equivalence", "equivalent on 4 cases", "same"),
            Reason("breaks", "graph breaks 3 > 0", "better"),
            Reason("fullgraph", "fullgraph=True compiles: no > yes", "better"),
            Reason("recompiles", "recompiles 4 > 1", "better"),
            Reason("host reads", "host reads 8 > 0", "better"),
            Reason("compiled", "compiled pass 1.31x faster [1.28, 1.33]", "better"),
            Reason("cold start", "cold start 2.10x faster [2.06, 2.15]", "better"),
        ),
        before=before,
        after=after,
        scenario=SCENARIO,
        settings=Settings(device="auto"),
        ratios=ratios,
        notices=("Host reads were counted by intercepting the calls: on a CPU nothing waits for a device.",),
        environment=CPU,
        diff=diff_of({"detector.py": DETECTOR}, {"detector.py": DETECTOR_AFTER}),
    )


TABLE = """\
def pair_loss(losses, n):
    total = 0.0
    for i in range(n):
        for j in range(i):
            total = total + losses[(i, j)]
    return total
"""


def neutral() -> Verdict:
    side = Measurement(
        "before",
        cases=("ten pairs", "a hundred pairs"),
        graphs=(Graph("pair_loss", "pairs.py", 1, 45, 106, 155.0),),
        breaks=(),
        fullgraph=True,
        syncs=(),
        moves=(),
        peak_bytes=12_582_912,
        ran={"pairs.py": (1, 2, 3, 4, 5, 6)},
    )
    before, after, ratios = timed(
        side, replace(side, side="after"), {"eager": (0.0004, 0.0004), "compiled": (0.00031, 0.00031)}
    )
    changed = TABLE.replace("(i, j)", "i * n + j")
    return Verdict(
        ruling=Ruling.NEUTRAL,
        reasons=(
            Reason("equivalence", "equivalent on 2 cases", "same"),
            Reason("breaks", "graph breaks 0", "same"),
            Reason("compiled", "compiled pass the same [0.99, 1.01]", "same"),
        ),
        before=before,
        after=after,
        scenario=Scenario("capture", "pairs:pair_loss", "pairs:pair_loss", capture=".fullgraph/captures/pair_loss.pt"),
        settings=Settings(),
        ratios=ratios,
        notices=("Cold start was not measured: the time limit was reached after 40 blocks.",),
        environment=CPU,
        diff=diff_of({"pairs.py": TABLE}, {"pairs.py": changed}),
    )


SCALER = """\
class Scaler:
    def scale(self, x):
        if x.device != self.mean.device:
            self.to(x.device)
        return (x - self.mean) / self.std
"""


def worse() -> Verdict:
    warned = SCALER.replace(
        "            self.to", '            warnings.warn("moved to another device", stacklevel=2)\n            self.to'
    )
    warned = "import warnings\n\n\n" + warned
    warn = Break(
        "scaler.py",
        7,
        "Scaler.scale",
        "GB0007",
        "Attempted to call function marked as skipped: module: _warnings, qualname: warn",
        "Remove the call, or warn once at trace time under `torch.compiler.assume_constant_result`.",
    )
    fields = {"function": "Scaler.scale", "file": "scaler.py"}
    before = Measurement(
        "before",
        cases=("cpu", "moved"),
        graphs=(graph(2, line=2, **fields), graph(2, line=2, recompile="self.mean.device", **fields)),
        breaks=(),
        fullgraph=True,
        syncs=(),
        moves=(Sync("scaler.py", 4, "to", 2),),
        peak_bytes=2_097_152,
    )
    after = replace(
        before,
        side="after",
        graphs=(graph(2, line=5, **fields), graph(0, line=5, ended="break", **fields), graph(2, line=5, **fields)),
        breaks=(warn,),
        fullgraph=False,
        fullgraph_reason="Attempted to call function marked as skipped (GB0007) at scaler.py:7",
        moves=(Sync("scaler.py", 8, "to", 2),),
    )
    before, after, ratios = timed(before, after, {"eager": (0.00031, 0.00032), "compiled": (0.0011, 0.00129)})
    return Verdict(
        ruling=Ruling.WORSE,
        reasons=(
            Reason("equivalence", "equivalent on 2 cases, with the declared warning", "same"),
            Reason("breaks", "graph breaks 0 > 1", "worse"),
            Reason("fullgraph", "fullgraph=True compiles: yes > no", "worse"),
            Reason("compiled", "compiled pass 1.17x slower [1.14, 1.20]", "worse"),
        ),
        before=before,
        after=after,
        scenario=Scenario("file", "scaler", "scenarios/scaler.py"),
        settings=Settings(device="cuda:0", mode="reduce-overhead"),
        ratios=ratios,
        notices=("As declared, case `moved` warns: 'moved to another device'.",),
        environment=CUDA,
        diff=diff_of({"scaler.py": SCALER}, {"scaler.py": warned}),
    )


def different() -> Verdict:
    base = proven()
    differences = (
        Difference(
            "eager",
            "batch of 8",
            "output['loss']",
            "value",
            "tensor(0.693147, dtype=torch.float64)",
            "tensor(0.693359, dtype=torch.float64)",
            "largest absolute error 2.1e-04, relative 3.1e-04, at ()",
        ),
        Difference("eager", "batch of 12", "state.seen", "dtype", "torch.float64", "torch.float16"),
        Difference(
            "compiled", "batch of 16", "warnings[0]", "missing", "UserWarning: lr_scheduler.step()", "no warning"
        ),
        Difference("after", "batch of 24", "exception", "type", "nothing raised", "KeyError: (3, 1)"),
    )
    return replace(
        base,
        ruling=Ruling.DIFFERENT,
        reasons=(
            Reason("equivalence", "different in 4 of 4 cases: first output['loss'] of `batch of 8`", "different"),
            *base.reasons[1:4],
        ),
        differences=differences,
        after=replace(base.after, raised=1),
    )


def crash() -> Verdict:
    base = proven()
    trace = "\n".join(
        [
            "Fatal Python error: Segmentation fault",
            "",
            "Current thread 0x00007f2c (most recent call first):",
            *(
                f'  File "/srv/train/layers/block_{number}.py", line {number * 7 + 3} in forward'
                for number in range(40)
            ),
        ]
    )
    text = f"killed by SIGSEGV\n{trace}"
    return replace(
        base,
        ruling=Ruling.DIFFERENT,
        reasons=(Reason("outcome", f"after: crash in the stage compiled: {text}", "different"),),
        after=Measurement("after", outcome=Outcome("crash", "compiled", text), cases=CASES),
        ratios={},
    )


def hang() -> Verdict:
    text = "over the time limit of 300 s"
    hung = Measurement("before", outcome=Outcome("hang", "graphs", text), cases=("ten pairs",))
    return replace(
        neutral(),
        ruling=Ruling.UNDECIDED,
        reasons=tuple(
            Reason("outcome", f"{side}: hang in the stage graphs: {text}", "different") for side in ("before", "after")
        ),
        before=hung,
        after=replace(hung, side="after"),
        ratios={},
        notices=("Nothing was left running: both processes and their children were ended.",),
    )


def fake_cuda() -> Verdict:
    base = proven()
    bare: Any = {"eager_s": (), "compiled_s": (), "cold_s": (), "peak_bytes": None}
    return replace(
        base,
        reasons=(
            Reason("equivalence", "not compared: fake tensors have no values", "unknown"),
            *base.reasons[1:5],
        ),
        before=replace(base.before, moves=(Sync("detector.py", 19, "to", 4),), **bare),
        after=replace(base.after, **bare),
        ratios={},
        settings=Settings(device="fake-cuda", backend="eager"),
        environment=FAKE,
        notices=("No values and no times: the CUDA path was traced with fake tensors.",),
    )


def pytest_scenario() -> Verdict:
    cases = tuple(f"tests/test_model.py::test_{name}" for name in ("forward", "backward", "empty_batch"))
    return Verdict(
        ruling=Ruling.NEUTRAL,
        reasons=(
            Reason("equivalence", "equivalent on 3 tests", "same"),
            Reason("eager", "eager pass the same [0.97, 1.04]", "same"),
        ),
        before=Measurement("before", cases=cases, eager_s=blocks(3, 12, 1.9), peak_bytes=301_989_888),
        after=Measurement("after", cases=cases, eager_s=blocks(4, 12, 1.9), peak_bytes=301_989_888),
        scenario=Scenario("pytest", "tests/test_model.py", "tests/test_model.py"),
        settings=Settings(),
        ratios={"eager": Ratio(1.0, 0.97, 1.04, 12)},
        notices=("Graphs were not counted: the tests do not say what to compile.",),
        environment=CPU,
        diff=diff_of({"pairs.py": TABLE}, {"pairs.py": TABLE.replace("0.0", "0")}),
    )


def big() -> Verdict:
    """Sixty graphs in twelve functions, and a diff of some four hundred lines over three files."""
    functions = [f"Block{number}.forward" for number in range(12)]
    graphs, breaks = [], []
    for number in range(60):
        name, line = functions[number // 5], 10 + number % 5 * 9
        file = f"network/blocks/block_{number // 5}.py"
        is_last = number % 5 == 4
        graphs.append(Graph(name, file, line, 3 + number * 7 % 41, 18, 9.5, ended="return" if is_last else "break"))
        if not is_last:
            kind = (ITEM, PRINT, BRANCH)[number % 3]
            breaks.append(replace(kind, file=file, line=line + 6, function=name, count=1 + number % 2))
    breaks += [
        Break(
            "network/blocks/metrics.py",
            12 + number,
            f"update_{number}",
            "GB0149",
            "A break inside a `for` loop: the whole frame was skipped",
            kind="skipped",
        )
        for number in range(4)
    ]
    graphs += [replace(one, recompile=SHAPE, ended="return") for one in graphs[:12:4]]
    after = [Graph(name, f"network/blocks/block_{n}.py", 10, 108 + n, 40, 21.0) for n, name in enumerate(functions)]
    base = proven()
    syncs = tuple(Sync(f"network/blocks/block_{n}.py", 16 + n, "item", 12) for n in range(12))
    old, new, ratios = timed(
        replace(base.before, graphs=tuple(graphs), breaks=tuple(breaks), syncs=syncs, ran={}),
        replace(base.after, graphs=tuple(after), breaks=(), ran={}),
        {"eager": (0.151, 0.149), "compiled": (0.122, 0.071), "cold start": (94.0, 41.0)},
        number=160,
    )
    texts = [big_file(number) for number in range(3)]
    return replace(
        base,
        reasons=(
            Reason("equivalence", "equivalent on 4 cases", "same"),
            Reason("breaks", "graph breaks 52 > 0", "better"),
            Reason("compiled", "compiled pass 1.72x faster [1.70, 1.73]", "better"),
        ),
        before=old,
        after=new,
        ratios=ratios,
        diff=diff_of(
            {f"network/part_{n}.py": text for n, (text, _) in enumerate(texts)},
            {f"network/part_{n}.py": text for n, (_, text) in enumerate(texts)},
        ),
    )


def big_file(seed: int) -> tuple[str, str]:
    old, new = [f'"""Part {seed} of the network."""\n', "\n", "import torch\n"], []
    new += old
    for number in range(12):
        head = [
            "\n",
            "\n",
            f"def update_{number}(state, losses, n_active):\n",
            "    total = torch.zeros(())\n",
            "    for i in range(n_active):\n",
        ]
        tail = [
            "            total = total + losses[key]\n",
            f"    state[{number}] = total  # kept for the log of the epoch\n",
            "    return total\n",
        ]
        same = [f"    # step {number}, nothing to see\n"] * (number % 7 * 3)
        old += [*head, "        for j in range(i):\n", "            key = (i, j)\n", *tail, *same]
        new += [*head, "        for j in range(i):\n", "            key = i * n_active + j\n", *tail, *same]
        if number % 3 == 0:
            new += ["\n", "\n", f"def stride_{number}(slots):\n", "    return len(slots)\n"]
    return "".join(old), "".join(new)


def hostile() -> Verdict:
    """Everything that a page or a terminal could stumble over."""
    long = "x = [" + ", ".join(f"'<b>{number}</b>'" for number in range(900)) + "]\n"
    before = (
        "page = '<script>alert(1)</script>'\n"
        "name = 'שלום עולם'  # right to left\n"
        "trick = 'user\u202e \u2066// admin\u2069'\n"
        "bell = '\x07\x1b[31m red \x00 end'\x0c\n"
        "emoji = '👩‍🔬 日本語 ﷽'\n" + long + "windows = 1\r\n"
    )
    after = before.replace("alert(1)", "alert(2)").replace("'x'", "'y'").replace("<b>7</b>", "<i>7</i>")
    after = after.replace("windows = 1\r\n", "windows = 1\n").replace("x = [", "xs = [").replace("red", "blue")
    base = different()
    nasty = "</pre></td></table><script>alert('x')</script>&amp;\x1b[2J\udc80"
    return replace(
        base,
        reasons=(Reason("equivalence", f"different: {nasty}", "different"),),
        scenario=Scenario("file", nasty, 'scenarios/"quoted" & <odd>.py'),
        before=replace(base.before, breaks=(replace(BRANCH, reason=nasty, function="<lambda>", hint=nasty),)),
        differences=(Difference("eager", nasty, nasty, "value", nasty, "tensor([1, ...])" * 400, "inf"),),
        after=replace(base.after, compiled_s=(float("nan"), 0.1, float("inf"))),
        ratios={"compiled": Ratio(float("nan"), float("nan"), float("inf"), 3)},
        notices=(nasty,),
        environment={"device": nasty, "torch": "2.13.0", "extra <key>": nasty},
        diff=diff_of({"odd name <&>.py": before}, {"odd name <&>.py": after}),
    )


def nothing_known() -> Verdict:
    """A side that could not even be started."""
    text = "ModuleNotFoundError: No module named 'torch'; give --python the interpreter that has it"
    side = Measurement("before", outcome=Outcome("error", "start", text))
    return Verdict(
        ruling=Ruling.UNDECIDED,
        reasons=(Reason("outcome", "neither side could run: no torch", "unknown"),),
        before=side,
        after=replace(side, side="after"),
        scenario=Scenario("file", "train_step", "scenarios/train_step.py"),
        settings=Settings(),
    )


SAMPLES = {
    make.__name__: make
    for make in (
        proven,
        neutral,
        worse,
        different,
        crash,
        hang,
        fake_cuda,
        pytest_scenario,
        big,
        hostile,
        nothing_known,
    )
}
