"""`fullgraph observe`: the program runs as ever, and every compiled entry in it is told of."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
import torch

from fullgraph.validate.model import ValidateError
from fullgraph.validate.observe import FORMAT, SCHEMA, read_report
from fullgraph.validate.observe_merge import merge_entries, merge_files, merge_reads, shorten
from fullgraph.validate.worker.observing.inputs import describe_inputs
from fullgraph.validate.worker.observing.reached import Reached
from fullgraph.validate.worker.observing.starts import Starts
from fullgraph.validate.worker.observing.whose import Whose
from tests.validate.capturing import FULLGRAPH, PATIENCE, environment, fullgraph

pytestmark = pytest.mark.everything

NETS = """\
import torch


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        return squash(self.layer(x))

    def unused(self, x):
        return x.tolist()


def squash(x):
    return x.tanh()
"""

TRAIN = """\
import inspect
import sys
import threading
import warnings
import weakref

import torch
from nets import Policy

HANDLED = {torch.Tensor.item: "item", torch.Tensor.__bool__: "bool"}


@torch.compile(backend="eager")
def advantage(x, scale):
    y = x * scale
    if y.sum() > 0:
        y = y + 1
    return y


@torch.compile(backend="eager")
def never_called(x):
    return x


@torch.compile(backend="aot_eager")
def saliency(x):
    (x * 2).sum().backward()
    return x.grad + 1


class Tagged(torch.Tensor):
    asked = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.asked.append(HANDLED.get(func, "?"))
        return super().__torch_function__(func, types, args, kwargs or {})


def train(policy, fast):
    optimizer = torch.optim.Adam(policy.parameters())
    for step in range(4):
        loss = fast(torch.ones(2 + step // 2, 4)).pow(2).mean()
        if step == 2:
            fast(torch.ones(3, 4))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("loss", round(loss.item(), 5))


def evaluate(fast):
    fast.eval()
    with torch.inference_mode():
        return [float(fast(torch.ones(2, 4)).sum()) > 9 for _ in range(3)]


def try_identity():
    tagged = torch.ones(1).as_subclass(Tagged)
    tagged.item(), bool(tagged)
    print(Tagged.asked, torch.Tensor.item, torch.Tensor.item.__name__, inspect.signature(advantage))


def try_lifetime(fast):
    x = torch.ones(2, 4)
    out = fast(x)
    kept = weakref.ref(x), weakref.ref(out)
    del x, out
    print([one() is None for one in kept])


def main():
    torch.manual_seed(0)
    policy = Policy()
    fast = torch.compile(policy, backend="aot_eager")
    train(policy, fast)
    print(evaluate(fast))
    torch._logging.set_logs(graph_breaks=True)
    for scale in (1, 2, 2):
        print(advantage(torch.ones(2), scale))
    torch._logging.set_logs()
    workers = [threading.Thread(target=lambda: advantage(torch.ones(2), 2)) for _ in range(2)]
    [worker.start() or worker.join() for worker in workers]
    saliency(torch.ones(2, requires_grad=True))
    try_identity()
    try_lifetime(fast)
    warnings.warn("said once")
    print(torch.rand(2), [dict(torch._dynamo.utils.counters[name]) for name in ("graph_break", "stats", "frames")])
    print(sys.argv[1:], [entry for entry in sys.path if "observe_site" in entry])
    sys.exit(7)


if __name__ == "__main__":
    main()
"""


def observe(folder: Path, *command: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """`fullgraph observe`, with this Python where the command says python."""
    (folder / "pyproject.toml").touch()
    words = [sys.executable if word == "python" else word for word in command]
    return fullgraph(folder, "observe", "--", *words, **changes)


def report_in(folder: Path) -> dict[str, Any]:
    file = folder / ".fullgraph" / "observed.json"
    return read_report(file, file.read_bytes())


def entry(report: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (one for one in report["entries"] if one["name"] == name)
    return dict(found)


def place(one: dict[str, Any]) -> str:
    return f"{one['file']}:{one['line']}"


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if part in line)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("observed")
    (folder / "nets.py").write_text(NETS)
    (folder / "train.py").write_text(TRAIN)
    return folder


@pytest.fixture(scope="module")
def done(folder: Path) -> subprocess.CompletedProcess[str]:
    return observe(folder, "python", "train.py", "--lr", "1")


@pytest.fixture(scope="module")
def report(folder: Path, done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return report_in(folder)


# One program


def test_a_program_prints_warns_and_ends_as_without_being_watched(
    folder: Path, done: subprocess.CompletedProcess[str]
) -> None:
    """Its own prints, torch's counters of graphs and breaks, tensors' lifetimes, methods and signatures among them."""
    plain = subprocess.run(
        [sys.executable, "train.py", "--lr", "1"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.stdout == plain.stdout
    assert (done.returncode, plain.returncode) == (7, 7)
    assert plain.stdout.endswith("['--lr', '1'] []\n")
    told = done.stderr.partition("\nObserved: ")[0]
    assert without_times(told) == without_times(plain.stderr)
    assert "Graph break in user code" in told


def without_times(text: str) -> list[str]:
    """Torch's logs begin with the time and the process."""
    return [line.split("] ", 1)[-1] if line[:1] in "VWI" else line for line in text.strip().split("\n")]


def test_calls_are_counted_by_phase(report: dict[str, Any]) -> None:
    policy = entry(report, "Policy")
    assert policy["phases"] == {"train, grad": 5, "eval, grad": 1, "eval, inference": 3}
    assert policy["calls"] == 9
    assert entry(report, "advantage")["phases"] == {"grad": 5}


def test_inputs_are_told_with_their_shapes_and_dtypes(report: dict[str, Any]) -> None:
    assert entry(report, "Policy")["inputs"] == [
        {"inputs": "float32[2, 4]", "count": 6},
        {"inputs": "float32[3, 4]", "count": 3},
    ]
    assert entry(report, "advantage")["inputs"] == [{"inputs": "float32[2], int", "count": 5}]


def test_an_entry_stands_where_it_is_defined_and_tells_where_it_was_compiled(report: dict[str, Any]) -> None:
    policy = entry(report, "Policy")
    assert place(policy) == f"nets.py:{line_of(NETS, 'def forward')}"
    assert [place(one) for one in policy["compiled_at"]] == [f"train.py:{line_of(TRAIN, 'torch.compile(policy')}"]
    assert (policy["kind"], policy["function"], policy["backends"]) == ("module", "Policy.forward", ["aot_eager"])


def test_what_was_compiled_and_never_called_is_told(report: dict[str, Any]) -> None:
    assert entry(report, "never_called")["calls"] == 0


def test_a_call_before_the_backward_of_the_call_before_is_a_reentry(report: dict[str, Any]) -> None:
    """The third step calls twice; the second of these calls never gets its backward, so the fourth step comes early."""
    policy = entry(report, "Policy")
    assert (policy["reentries"], policy["backwards"]) == (2, 3)
    assert entry(report, "advantage")["reentries"] == 0


def test_a_break_has_its_line_and_id(report: dict[str, Any]) -> None:
    (one,) = entry(report, "advantage")["breaks"]
    assert place(one) == f"train.py:{line_of(TRAIN, 'if y.sum() > 0')}"
    assert one["id"] == "GB0170"
    assert one["reason"].startswith("Data-dependent branching")
    assert entry(report, "Policy")["breaks"] == []


def test_a_recompile_has_the_guard_that_failed(report: dict[str, Any]) -> None:
    guards = [one["guard"] for one in entry(report, "Policy")["recompiles"]]
    assert guards[0] == "tensor 'x' size mismatch at index 0. expected 2, actual 3"
    assert "scale == 1 failed" in [one["guard"] for one in entry(report, "advantage")["recompiles"]]


def test_compiling_takes_time_that_is_part_of_the_whole(report: dict[str, Any]) -> None:
    spent = sum(one["compile_seconds"] for one in report["entries"])
    assert 0 < spent < report["seconds"]


def test_the_timeline_adds_up_to_what_was_counted(report: dict[str, Any]) -> None:
    """Backwards are compiled on their first call, so that they have moments of their own."""
    compiles, reads = report["timeline"]["compiles"], report["timeline"]["reads"]
    entries = report["entries"]
    assert sum(reads) == sum(one["count"] for one in report["reads"])
    assert sum(one["breaks"] for one in compiles) == sum(broken["count"] for one in entries for broken in one["breaks"])
    again = [one for one in compiles if one["kind"] == "recompile"]
    assert len(again) == sum(one["count"] for entry in entries for one in entry["recompiles"])
    assert {one["entry"] for one in compiles} <= {one["name"] for one in entries}
    assert all(0 < one["at"] < report["seconds"] for one in compiles)
    spent = sum(one["compile_seconds"] for one in entries)
    assert sum(one["seconds"] for one in compiles) == pytest.approx(spent, rel=0.2)


def test_host_reads_are_counted_by_line(report: dict[str, Any]) -> None:
    """Not those of the optimizer, nor those that torch makes while it compiles."""
    counts = {(one["line"], one["call"]): one["count"] for one in report["reads"]}
    assert {one["file"] for one in report["reads"]} == {"train.py"}
    assert counts == {
        (line_of(TRAIN, "loss.item()"), "item"): 4,
        (line_of(TRAIN, "float(fast"), "float"): 3,
        (line_of(TRAIN, "if y.sum() > 0"), "bool"): 5,
        (line_of(TRAIN, "print(advantage"), "repr"): 3,
        (line_of(TRAIN, "print(torch.rand"), "repr"): 1,
    }


def test_the_functions_that_ran_are_known(report: dict[str, Any]) -> None:
    """What Dynamo has inlined did run; a method that nobody called did not."""
    known = report["files"]["nets.py"]
    assert {line_of(NETS, "def forward"), line_of(NETS, "def squash")} <= set(known["ran"])
    assert line_of(NETS, "def unused") not in known["ran"]
    assert known["is_all"] == (sys.version_info >= (3, 12))
    assert (line_of(NETS, "def __init__") in known["ran"]) == known["is_all"]


def test_the_report_says_where_and_how_it_ran(report: dict[str, Any]) -> None:
    assert (report["format"], report["schema"], report["device"]) == (FORMAT, SCHEMA, "cpu")
    assert (report["exit_code"], report["ending"]) == (7, "ended with exit code 7")
    assert report["command"][1:] == ["train.py", "--lr", "1"]
    assert report["notices"] == []
    assert json.dumps(report).count(str(Path(sys.prefix))) <= 1


# Ends and beginnings

SMALL = """\
import os, sys, signal, time
import torch

f = torch.compile(lambda x: x.sin() + 1, backend="eager")
f(torch.ones(2))
"""


def run_small(folder: Path, text: str, *command: str, **changes: str) -> tuple[dict[str, Any], int]:
    (folder / "small.py").write_text(SMALL + text)
    done = observe(folder, *(command or ("python", "small.py")), **changes)
    return report_in(folder), done.returncode


def test_a_forked_child_counts_for_itself_and_may_end_by_force(tmp_path: Path) -> None:
    text = """
child = os.fork()
if child == 0:
    f(torch.ones(2)).sum().item()
    os._exit(3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    report, code = run_small(tmp_path, text)
    assert code == 3
    assert [(one["is_forked"], one["calls"], one["is_whole"]) for one in report["processes"]] == [
        (False, 1, True),
        (True, 1, True),
    ]
    (read,) = report["reads"]
    assert (read["call"], read["count"]) == ("item", 1)


def test_a_killed_program_leaves_what_was_seen_before(tmp_path: Path) -> None:
    text = "time.sleep(2.1)\nf(torch.ones(2))\nos.kill(os.getpid(), signal.SIGKILL)\n"
    report, code = run_small(tmp_path, text)
    assert code == 128 + signal.SIGKILL
    assert report["entries"][0]["calls"] >= 1
    assert report["notices"] == ["1 of 1 processes ended abruptly; what they did in the last seconds is missing"]


def test_a_program_that_becomes_another_is_told_of_with_both(tmp_path: Path) -> None:
    text = "if len(sys.argv) == 1:\n    os.execv(sys.executable, [sys.executable, 'small.py', 'again'])\n1 / 0\n"
    report, code = run_small(tmp_path, text)
    assert code == 1
    assert [one["argv"] for one in report["processes"]] == [["small.py"], ["small.py", "again"]]
    assert report["entries"][0]["calls"] == 2


def test_spawned_workers_and_a_module_as_program_are_watched(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(
        "import torch\nimport torch.multiprocessing as mp\n\n\n@torch.compile(backend='eager')\ndef g(x):\n"
        "    return x + 1\n\n\ndef work(n):\n    for _ in range(n):\n        g(torch.ones(1))\n\n\n"
        "if __name__ == '__main__':\n    mp.set_start_method('spawn')\n    work(1)\n"
        "    child = mp.Process(target=work, args=(2,))\n    child.start()\n    child.join()\n"
    )
    done = observe(tmp_path, "python", "-m", "work")
    assert done.returncode == 0, done.stderr
    (one,) = report_in(tmp_path)["entries"]
    assert (one["file"], one["name"], one["calls"]) == ("work.py", "g", 3)


def test_ctrl_c_is_the_programs_business(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    text = "try:\n    print('ready', flush=True)\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    sys.exit(5)\n"
    (tmp_path / "small.py").write_text(SMALL + text)
    command = [str(FULLGRAPH), "observe", "--", sys.executable, "small.py"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) == 5
    assert report_in(tmp_path)["entries"][0]["calls"] == 1


def test_objects_of_one_class_are_one_entry_and_wait_for_their_backwards_apart(tmp_path: Path) -> None:
    text = """
class Net(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x)

first, second = (torch.compile(Net(2, 2), backend="eager") for _ in range(2))
loss = first(torch.ones(1, 2)).sum() + second(torch.ones(1, 2)).sum()
loss.backward()
unrelated = first(torch.ones(1, 2))
(torch.ones(1, requires_grad=True) * 2).backward()
first(torch.ones(1, 2))
"""
    report, _ = run_small(tmp_path, text)
    net = entry(report, "Net")
    assert net["compiled_at"][0]["count"] == 2
    assert (net["calls"], net["backwards"], net["reentries"]) == (4, 2, 1)


def test_a_script_that_has_ended_is_still_known_to_have_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python deletes the name of the file from it, and only then tells that the process ends."""
    script = ModuleType("__main__")
    script.__file__ = str(tmp_path / "script.py")
    monkeypatch.setitem(sys.modules, "__main__", script)
    reached = Reached(Whose(str(tmp_path)), Starts())
    del script.__file__
    assert reached.tell() == {str(tmp_path / "script.py"): {"ran": [], "is_all": False}}


# Inputs


@dataclass
class Batch:
    x: torch.Tensor
    weights: list[float]


class Pair(NamedTuple):
    first: torch.Tensor
    second: int


def test_inputs_are_described_by_what_is_inside_them() -> None:
    x = torch.ones(2, 3)
    assert describe_inputs((x, None, True, 3, "a"), {"mask": x.bool()}) == (
        "float32[2, 3], None, True, int, str, mask=bool[2, 3]"
    )
    assert describe_inputs(([x, 1], (x,), {"a": x, 2: 3}), {}) == (
        "[float32[2, 3], int], (float32[2, 3]), {a: float32[2, 3], 2: int}"
    )
    assert describe_inputs((Batch(x, [1.0]), Pair(x, 1), torch.nn.Linear(1, 1)), {}) == (
        "Batch(x=float32[2, 3], weights=[float]), Pair(first=float32[2, 3], second=int), Linear"
    )
    assert describe_inputs((torch.nested.nested_tensor([x, x[:1]]),), {}).startswith("float32[")


def test_a_description_has_an_end() -> None:
    x = torch.ones(1)
    nested: list[Any] = [x]
    for _ in range(50):
        nested = [nested] * 50
    assert len(describe_inputs((nested,) * 50, {})) < 20_000
    assert describe_inputs(([x] * 9,), {}).endswith("float32[1], ...]")


# Programs that have nothing to tell


def test_a_program_without_torch_never_imports_it(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("import sys\nprint('torch' in sys.modules, 'ctypes' in sys.modules)\n")
    done = observe(tmp_path, "python", "plain.py")
    assert done.stdout == "False False\n"
    assert report_in(tmp_path)["notices"] == ["torch was not imported"]


def test_the_users_own_sitecustomize_runs(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import sys\nsys.own_site = True\n")
    (tmp_path / "plain.py").write_text("import sys\nprint(sys.own_site)\n")
    assert observe(tmp_path, "python", "plain.py", PYTHONPATH="own").stdout == "True\n"


def test_a_command_that_is_no_python_runs_and_is_said_to_be_none(tmp_path: Path) -> None:
    done = observe(tmp_path, "sh", "-c", "echo out; exit 4")
    assert (done.returncode, done.stdout) == (4, "out\n")
    assert "no Python could be watched" in done.stderr


def test_a_command_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    done = observe(tmp_path, "no-such-command")
    assert (done.returncode, done.stderr) == (
        127,
        "fullgraph: no-such-command cannot be run: No such file or directory\n",
    )
    assert not list((tmp_path / ".fullgraph").glob("*.json"))


def test_a_report_that_has_no_place_to_go_is_said_before_the_program_runs(tmp_path: Path) -> None:
    done = fullgraph(tmp_path, "observe", "--out", "gone/report.json", "--", "sh", "-c", "echo ran")
    assert (done.returncode, done.stdout) == (2, "")
    assert "gone: no such folder" in done.stderr


# Several processes as one


def told(**changes: Any) -> dict[str, Any]:
    """What one process tells of one entry."""
    one = {
        "file": "/p/a.py", "line": 3, "name": "f", "kind": "function", "function": "f",
        "compiled_at": [{"file": "/p/a.py", "line": 2, "count": 1}], "backends": ["eager"], "calls": 2,
        "phases": {"no grad": 1, "grad": 1}, "inputs": {"float32[2]": 2}, "other_inputs": 0, "reentries": 1,
        "backwards": 0, "graphs": 1, "operators": 2, "compile_seconds": 0.5, "more_frames": 0,
        "breaks": [{"file": "/p/a.py", "line": 4, "function": "f", "id": "GB1", "reason": "r", "hint": "", "stacks": [],
                    "kind": "break", "frames": 1, "count": 1}],
        "recompiles": [{"file": "/lib/b.py", "line": 1, "function": "g", "guard": "k == 1 failed", "count": 2}],
    }  # fmt: skip
    read = {"file": "/p/a.py", "line": 9, "function": "f", "call": "item", "count": 3}
    files = {"/p/a.py": {"ran": [3, 8], "is_all": True}}
    return {"entries": [{**one, **changes}], "reads": [read], "files": files}


def test_entries_of_several_processes_are_added_up() -> None:
    (one,) = merge_entries([told(), told(inputs={"float32[3]": 5}, phases={"grad": 5}, calls=5)], Path("/p"))
    assert (one["calls"], one["reentries"], one["compile_seconds"]) == (7, 2, 1.0)
    assert one["phases"] == {"grad": 6, "no grad": 1}
    assert one["inputs"] == [{"inputs": "float32[3]", "count": 5}, {"inputs": "float32[2]", "count": 2}]
    assert [(item["file"], item["count"]) for item in one["breaks"]] == [("a.py", 2)]
    assert [(item["file"], item["count"]) for item in one["recompiles"]] == [("/lib/b.py", 4)]


def test_the_order_of_processes_does_not_matter() -> None:
    processes: Sequence[dict[str, Any]] = [told(), told(name="g", line=7), told(name="h", calls=9)]
    first = json.dumps([merge_entries(processes, Path("/p")), merge_reads(processes, Path("/p"))])
    second = json.dumps([merge_entries(processes[::-1], Path("/p")), merge_reads(processes[::-1], Path("/p"))])
    assert first == second


def test_many_different_inputs_are_bounded_and_counted() -> None:
    parts = [told(inputs={f"float32[{n}]": 1 for n in range(at, at + 20)}) for at in (0, 20)]
    (one,) = merge_entries(parts, Path("/p"))
    assert (len(one["inputs"]), one["other_inputs"]) == (24, 16)


def test_a_function_ran_if_it_ran_in_any_process() -> None:
    other = {**told(), "files": {"/p/a.py": {"ran": [3, 12], "is_all": True}, "/p/c.py": {"ran": [], "is_all": False}}}
    assert merge_files([told(), other], Path("/p")) == {
        "a.py": {"ran": [3, 8, 12], "is_all": True},
        "c.py": {"ran": [], "is_all": False},
    }


def test_only_paths_below_the_root_are_shortened() -> None:
    assert [shorten(file, Path("/p")) for file in ("/p/a/b.py", "/pq/a.py", "")] == ["a/b.py", "/pq/a.py", ""]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_on_a_gpu_only_what_waits_for_the_device_is_a_host_read(tmp_path: Path) -> None:
    text = """
x = f(torch.ones(2, device="cuda"))
x.sum().item(), x.cpu(), torch.ones(1).item()
"""
    report, code = run_small(tmp_path, text)
    assert code == 0
    assert report["device"].startswith("cuda (")
    assert {(one["call"], one["count"]) for one in report["reads"]} == {("item", 1), ("cpu", 1)}
    assert {"inputs": "float32[2] cuda", "count": 1} in report["entries"][0]["inputs"]


# Reports that are none


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON, or not whole"),
        ("[1]", "not a report"),
        ('{"version": 1}', "not a report"),
        (json.dumps({"format": FORMAT, "schema": SCHEMA + 1}), ".*update it, or observe anew"),
        (json.dumps({"format": FORMAT, "schema": "1"}), ".*update it, or observe anew"),
        (json.dumps({"format": FORMAT, "schema": SCHEMA, "entries": {}}), "damaged: entries"),
    ],
)
def test_what_is_no_report_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(ValidateError, match=f"report.json: {said}"):
        read_report(Path("report.json"), text.encode())
