"""Workers whose user code tries to answer in their place, or to take away what they need: an outcome of one line."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from fullgraph.validate import launch
from fullgraph.validate.comparing import Comparer
from fullgraph.validate.launch import Died, Refused, Worker
from fullgraph.validate.model import Outcome, ValidateError

STAND_IN = """\
#!{python} -IS
import hashlib, json, os, sys
keyed = hashlib.blake2b(key=bytes.fromhex(sys.stdin.readline().strip()), digest_size=32)

def sealed(number, body):
    one = keyed.copy()
    one.update(f"{{number}} {{body}}".encode())
    return f"{{one.hexdigest()}} {{body}}\\n"

def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()

WELL = json.dumps({{"result": {{"torch": "2", "python": "3"}}}})
sys.stdin.readline()
say("welcome\\n")
say(sealed(1, WELL))
sys.stdin.readline()
{second}
sys.stdin.read()
"""
SECOND = {
    "forged": ("say(WELL + chr(10))", "forged, doubled or cut off"),
    "forged with another key": ("say('0' * 64 + ' ' + WELL + chr(10))", "forged, doubled or cut off"),
    "doubled": ("say(sealed(1, WELL))", "forged, doubled or cut off"),
    "of the next number": ("say(sealed(3, WELL))", "forged, doubled or cut off"),
    "cut off": ("say(sealed(2, WELL)[:-9]); sys.exit()", "forged, doubled or cut off"),
    "without an end": ("say(sealed(2, WELL)[:-1]); sys.exit()", "forged, doubled or cut off"),
    "too long": ("say(sealed(2, 'x' * 4096))", "forged, doubled or cut off"),
    "bytes": ("os.write(1, bytes(range(128, 256)) + b'\\n')", "forged, doubled or cut off"),
    "no JSON": ("say(sealed(2, '{'))", "cannot be used: no JSON object"),
    "deep JSON": ("say(sealed(2, '[' * 1500))", "cannot be used: no JSON object"),
    "no object": ("say(sealed(2, '[1]'))", "cannot be used: no JSON object"),
    "nothing in it": ("say(sealed(2, '{}'))", "neither a result nor an error"),
    "wrong types": ("say(sealed(2, json.dumps({'result': {'torch': 2, 'python': 3}})))", "hello.torch is int 2"),
    "missing keys": ("say(sealed(2, json.dumps({'result': {}})))", "hello has no 'torch'"),
}


def stand_in(folder: Path, second: str) -> str:
    python = folder / "python"
    python.write_text(STAND_IN.format(python=sys.executable, second=second))
    python.chmod(0o755)
    return str(python)


@pytest.mark.parametrize("name", SECOND)
def test_what_is_no_answer_is_an_outcome_of_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "LONGEST_ANSWER", 2048)
    second, text = SECOND[name]
    with Worker(stand_in(tmp_path, second), "before", tmp_path, tmp_path) as worker:
        assert worker.ask("hello", limit=60) == {"torch": "2", "python": "3"}
        with pytest.raises(Died) as died:
            worker.ask("hello", limit=60)
    assert died.value.outcome.kind == "error"
    assert text in died.value.outcome.text
    assert "\n" not in died.value.outcome.text


@pytest.mark.processes
def test_the_key_is_in_no_variable_no_argument_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "token_hex", lambda size: "5a" * size)
    with Worker(sys.executable, "before", tmp_path, tmp_path) as worker:
        pid = worker.process.pid
        told = Path(f"/proc/{pid}/environ").read_bytes() + Path(f"/proc/{pid}/cmdline").read_bytes()
        told += b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"5a5a5a5a" not in told


SCENARIO = """
import atexit, builtins, contextlib, gc, hashlib, io, json, os, pickle, sys, threading, time
import torch

{tricks}

def step(x):
    {line}
    return x + 1

def build(device):
    return step

def cases(device, seed):
    return [(torch.ones(3),)]
"""


def opening(folder: Path) -> dict[str, Any]:
    return {
        "scenario": {"kind": "file", "target": str(folder / "s.py"), "capture": "", "imports": []},
        "files": {},
        "watched": [],
        "settings": {"device": "cpu", "backend": "eager", "roots": [str(folder)]},
        "scratch": str(folder / "before"),
        "shared_cache": str(folder / "cache"),
    }


def ask_eager(folder: Path, line: str, tricks: str = "", limit: float = 120) -> Any:
    (folder / "s.py").write_text(SCENARIO.format(line=line, tricks=textwrap.dedent(tricks)))
    with Worker(sys.executable, "before", folder, folder) as worker:
        worker.ask("open", limit=limit, **opening(folder))
        return worker.ask("run", limit=limit, stage="eager")


def end_of(folder: Path, line: str) -> Outcome:
    with pytest.raises(Died) as died:
        ask_eager(folder, line)
    return died.value.outcome


ENDS = {
    "leaves": ("os._exit(0)", "crash", "exit code 0"),
    "closes all descriptors": ("os.closerange(3, 256)", "crash", "has closed the descriptors"),
    "takes the number of the pipe": (
        "os.closerange(3, 256); [os.open('taken', os.O_CREAT | os.O_RDWR) for _ in range(99)]",
        "crash",
        "has closed the descriptors",
    ),
    "kills its group": ("os.killpg(0, 9)", "memory", "SIGKILL"),
    "kills its guard": ("os.kill(os.getppid(), 9); time.sleep(1)", "memory", "SIGKILL"),
    "writes to every descriptor": (
        "\n    for number in range(3, 64):\n        with contextlib.suppress(OSError):\n"
        "            os.write(number, b'{\"result\": 1}\\n')",
        "error",
        "forged, doubled or cut off",
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_user_code_that_disturbs_its_worker_ends_it_in_one_line(name: str, tmp_path: Path) -> None:
    line, kind, text = ENDS[name]
    outcome = end_of(tmp_path, line)
    assert (outcome.kind, outcome.stage) == (kind, "eager")
    assert text in outcome.text.splitlines()[0]
    if (tmp_path / "taken").exists():
        assert (tmp_path / "taken").read_bytes() == b""


def test_user_code_that_prints_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "MOST_SAID", 1 << 22)
    line = "\n    while True:\n        os.write(1, b'x' * 65536); time.sleep(0.001)"
    outcome = end_of(tmp_path, line)
    assert (outcome.kind, outcome.text) == ("error", "it printed more than 4 MiB")


TRICKS = """
    def lie(*args, **kwargs):
        return 0

    def fail(*args, **kwargs):
        raise RuntimeError("not for you")

    time.perf_counter = time.monotonic = time.process_time = time.time = lie
    json.dumps = json.loads = json.dump = json.load = fail
    json.JSONEncoder.encode = json.JSONEncoder.iterencode = json.JSONDecoder.decode = fail
    torch.save = torch.load = torch.equal = torch.allclose = fail
    torch.Tensor.__eq__ = lie
    hashlib.sha256 = hashlib.blake2b = fail
    builtins.open = io.open = builtins.print = fail
    gc.collect = gc.disable = gc.enable = gc.freeze = fail
    sys.settrace = sys.setprofile = threading.settrace = fail
    os._exit = os.write = os.getpid = os.fstat = fail
    atexit.register(fail)
    sys.stdout = sys.stderr = None
"""


def test_what_the_worker_needs_is_its_own_whatever_user_code_replaces(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(
        SCENARIO.format(line="x = torch.stack([x] * 9).sin()", tricks=textwrap.dedent(TRICKS))
    )
    given = {"leave_out": [], "fresh_arguments": False, "compiles_itself": False}
    with Worker(sys.executable, "before", tmp_path, tmp_path) as worker:
        worker.ask("open", limit=120, **opening(tmp_path))
        told = worker.ask("run", limit=120, stage="eager")
        assert (told["raised"], (tmp_path / "before" / "eager.pt").exists()) == ([], True)
        assert worker.ask("run", limit=120, stage="syncs")["syncs"] == []
        assert worker.ask("run", limit=120, stage="prepare", kind="eager", **given)["seconds"] > 0
        assert 0 < worker.ask("run", limit=120, stage="block", kind="eager", passes=9) < worker.took


FORKING = "[time.sleep(0) for _ in [0] if not os.fork()]"


def test_a_child_of_user_code_that_comes_back_answers_nothing(tmp_path: Path) -> None:
    assert ask_eager(tmp_path, FORKING)["raised"] == []


def test_values_of_the_user_that_are_no_json_are_an_answer(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(
        SCENARIO.format(line="pass", tricks="") + "\ncompile_options = {'options': {(1, 2): 3}}\n"
    )
    with (
        Worker(sys.executable, "before", tmp_path, tmp_path) as worker,
        pytest.raises(Refused, match="the answer is no JSON: TypeError"),
    ):
        worker.ask("open", limit=120, **opening(tmp_path))


class Records:
    """A pair of which two sides have stored the same."""

    def __init__(self, folder: Path) -> None:
        self.scratch = folder
        self.sides: Any = type("Tree", (), {"root": folder})
        self.digests: dict[str, str] = {}


def test_records_that_somebody_else_has_written_are_not_compared(tmp_path: Path) -> None:
    import torch

    from fullgraph.validate.worker.process.seal import digest_file

    pair: Any = Records(tmp_path)
    for side in ("before", "after"):
        (tmp_path / side).mkdir()
        torch.save([], tmp_path / side / "eager.pt")
        pair.digests[f"{side}/eager"] = digest_file(str(tmp_path / side / "eager.pt"))
    with Comparer(sys.executable, pair, (), signed_zero=False) as comparer:
        wanted = comparer.pair_of("eager", "before/eager", "after/eager", exact=True)
        assert comparer.compare([wanted], 60)[0].differences == ()
        torch.save([{"case": "mine"}], tmp_path / "before" / "eager.pt")
        with pytest.raises(ValidateError, match=r"eager\.pt is not what the worker has stored"):
            comparer.compare([wanted], 60)
