"""Whatever cannot be proven for a reason that the user can act on is one message with the way out, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fullgraph.validate import doubts
from fullgraph.validate.judge import Evidence, judge
from fullgraph.validate.launch import Refused, Worker
from fullgraph.validate.model import Difference, Ruling, Scenario, Settings, Sides, ValidateError
from fullgraph.validate.prove import prove
from fullgraph.validate.scenario import read_scenario
from fullgraph.validate.worker.errors import UserError
from tests.validate.in_process import opened, record
from tests.validate.proofs import prove_texts

MODULE = "def f(x):\n    return x + 1\n"
BUILD = "from module import f\n\ndef build(device):\n    return f\n"
CASES = "import torch\n\ndef cases(device, seed):\n    return [(torch.ones(3),)]\n"
WELL = BUILD + CASES


# A scenario file, read in this process


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ("def build(:\n", "scenario.py does not import: SyntaxError: "),
        ("import no_such_module\n", r"does not import: ModuleNotFoundError: No module named 'no_such_module' .*py:1\)"),
        ("import sys\nsys.exit(2)\n", "does not import: SystemExit: 2"),
        ("from module import g\n", "does not import: ImportError: cannot import name 'g' from 'module'"),
        (BUILD, "has no function `cases`; `fullgraph scenario new` writes a file that has"),
        (CASES, "has no function `build`; `fullgraph scenario new` writes a file that has"),
        (WELL + "build = 3\n", "has no function `build`"),
        (WELL + "def build(device):\n    return None\n", r"build\(\) gave NoneType, which cannot be called"),
        (WELL + "def build(device):\n    return f.g\n", r"build\(\) failed: AttributeError: .*scenario.py:10\)"),
        (WELL + "def build():\n    return f\n", r"build\(\) failed: TypeError: build\(\) takes 0 positional arguments"),
        (WELL + "def cases(device, seed):\n    return []\n", r"cases\(\) gave no case; a case is a tuple"),
        (WELL + "def cases(device, seed):\n    return None\n", r"cases\(\) gave NoneType; it gives a list of cases"),
        (WELL + "def cases(device, seed):\n    return (1, 2)\n", r"cases\(\) gave tuple; it gives a list of cases"),
        (WELL + "def cases(device, seed):\n    return torch.ones(2)\n", r"cases\(\) gave Tensor; it gives a list"),
        (WELL + "def cases(device, seed):\n    return [torch.ones(2)]\n", "case 1 is Tensor; a case is a tuple"),
        (WELL + "def cases(device, seed):\n    yield (1,)\n    raise OSError('no data')\n", "failed: OSError: no data"),
        (WELL + "def cases(device, seed):\n    open('/nowhere/x')\n", r"cases\(\) failed: FileNotFoundError"),
        (WELL + "tolerance = 0.1\n", "`tolerance` is float; it is a dict with rtol, atol or both"),
        (WELL + "tolerance = {'relative': 0.1}\n", "`tolerance` has 'relative'; it may have rtol, atol"),
        (WELL + "tolerance = {'rtol': '1e-3'}\n", "`tolerance` is str; it is a dict of numbers"),
        (WELL + "seed = 'one'\n", "`seed` is str; it is a whole number"),
        (WELL + "exact = 'no'\n", "`exact` is str; it is True or False"),
        (WELL + "compile_options = {'graph': 1}\n", "`compile_options` has 'graph'; it may have backend, mode"),
        (WELL + "state = 3\n", "`state` is a function of the object, or of the object and its output"),
        (WELL + "def state():\n    return 3\n", "`state` is a function of the object"),
    ],
)  # fmt: skip
def test_a_scenario_that_cannot_be_used_says_why(scenario: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message), opened(tmp_path, MODULE, scenario):
        pass


def test_a_device_that_is_not_there_says_which_are(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--device takes auto, cpu"), opened(tmp_path, MODULE, WELL, device="xpu:7"):
        pass


def test_cases_of_one_name_are_told_apart(tmp_path: Path) -> None:
    scenario = BUILD + textwrap.dedent(
        """
        from types import SimpleNamespace

        def cases(device, seed):
            return [SimpleNamespace(name="small", args=[1]), SimpleNamespace(name="small", kwargs={"x": 2}), (3,)]
        """
    )
    with opened(tmp_path, MODULE, scenario) as stages:
        assert [case.name for case in stages.build().cases] == ["small", "small (2)", "case 3"]


# What ran, and decides nothing


def decided(evidence: Evidence) -> tuple[Ruling, str]:
    ruling, reasons = judge(evidence)
    return ruling, "; ".join(reason.text for reason in reasons)


def test_an_output_that_cannot_be_compared_is_named_with_the_way_out(tmp_path: Path) -> None:
    told = record(tmp_path, "def f(x):\n    return {'loss': x.sum(), 'step': __import__('threading').Lock()}\n", WELL)
    evidence = Evidence()
    doubts.doubt_opaque(evidence, {"before": told, "after": told})
    ruling, text = decided(evidence)
    assert ruling is Ruling.UNDECIDED
    assert "case 1: output['step'] is a _thread.lock, which cannot be compared" in text
    assert "give the scenario a `state(obj, output)` that returns what counts" in text


def test_a_state_that_leaves_out_what_cannot_be_compared_is_enough(tmp_path: Path) -> None:
    told = record(
        tmp_path,
        "def f(x):\n    return {'loss': x.sum(), 'step': __import__('threading').Lock()}\n",
        WELL + "def state(obj, output):\n    return output['loss']\n",
    )
    assert not told["opaque"]


def test_a_state_that_fails_is_named(tmp_path: Path) -> None:
    told = record(tmp_path, MODULE, WELL + "def state(obj):\n    return obj.no_such_thing\n")
    assert "AttributeError" in told["opaque"][0][2]


def test_inputs_that_differ_each_time_ask_for_a_seed() -> None:
    evidence = Evidence()
    doubts.doubt_inputs(evidence, [Difference("after", "case 1", "arguments[0]", "value", "1.0", "2.0")])
    ruling, text = decided(evidence)
    assert ruling is Ruling.UNDECIDED
    assert "seed it by its argument `seed`" in text


def test_what_differs_from_itself_decides_nothing() -> None:
    found = Difference("eager", "case 1", "output[0]", "value", "1.0", "2.0")
    evidence = Evidence(differences=[found])
    doubts.doubt_unstable(evidence, [Difference("eager", "case 1", "output[2]", "value", "5.0", "6.0")])
    ruling, text = decided(evidence)
    assert ruling is Ruling.UNDECIDED
    assert "differs each time that the same code runs" in text
    assert "let the scenario seed it" in text


def test_a_difference_beside_what_differs_from_itself_still_counts() -> None:
    printed = Difference("eager", "case 1", "stdout[0]", "text", "'3 s'", "'4 s'")
    raised = Difference("eager", "case 1", "exception", "exception", "none", "ValueError")
    evidence = Evidence(differences=[printed, raised])
    doubts.doubt_unstable(evidence, [printed])
    assert evidence.differences == [raised]
    assert decided(evidence)[0] is Ruling.DIFFERENT


def test_advice_on_what_does_not_compile_fits_the_options() -> None:
    for options, advice in (
        ({"backend": "inductor"}, "--backend eager asks less"),
        ({"backend": "eager", "fullgraph": True}, "leave out --fullgraph"),
        ({"backend": "eager"}, "Unsupported"),
    ):
        evidence = Evidence(compile_failures={"before": "Unsupported", "after": "Unsupported"})
        doubts.doubt_compiling(evidence, options)
        ruling, text = decided(evidence)
        assert ruling is Ruling.UNDECIDED
        assert text.endswith(advice)


# What is no scenario at all


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nowhere.py", "no such file; `fullgraph scenario new module:function` writes a scenario"),
        ("tests/test_nowhere.py::test_x", "no such file"),
        ("module.function", "is no scenario: give a Python file, module:function, or a test"),
        ("module:function", "no calls of module:function are stored; `fullgraph capture module:function -- python"),
    ],
)
def test_what_names_no_scenario_says_what_would(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValidateError, match=message):
        read_scenario(text, tmp_path)


def test_the_command_ends_with_4_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "module.py").write_text(MODULE)
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "module.py").write_text(MODULE.replace("1", "2"))
    known = {path for path in tmp_path.rglob("*") if ".git" not in path.parts}
    command = [str(Path(sys.executable).with_name("fullgraph")), "prove", "nowhere.py", "--python", sys.executable]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert done.stderr.startswith("fullgraph: undecided: nowhere.py: no such file")
    assert done.stdout == ""
    assert {path for path in tmp_path.rglob("*") if ".git" not in path.parts} == known


def test_two_sides_that_are_the_same_have_nothing_to_prove(tmp_path: Path) -> None:
    same = {"module.py": MODULE.encode()}
    with pytest.raises(ValidateError, match="before and after are the same: there is nothing to prove"):
        prove(Scenario("file", "s.py", "s.py"), Sides(tmp_path, same, same), Settings())


def test_a_scenario_that_alone_was_changed_has_nothing_to_prove(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(WELL)
    sides = Sides(tmp_path, {"s.py": b"old"}, {"s.py": b"new"})
    with pytest.raises(ValidateError, match="nothing to prove"):
        prove(Scenario("file", "s.py", str(tmp_path / "s.py")), sides, Settings())


# The python


def python_with(folder: Path, files: dict[str, str], *flags: str) -> str:
    """An interpreter that finds these files first, and, with `-S`, no installed package."""
    for name, text in files.items():
        (folder / "found" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "found" / name).write_text(text)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder}/found exec {sys.executable} {" ".join(flags)} "$@"\n')
    python.chmod(0o755)
    return str(python)


@pytest.mark.parametrize(
    ("files", "flags", "message"),
    [
        ({}, ["-S"], r"has no torch \(ModuleNotFoundError: No module named 'torch'\); --python names one that has"),
        ({"torch/__init__.py": "__version__ = '2.5.1+cpu'\n"}, ["-S"], "has torch 2.5.1.cpu; 2.6 or newer is needed"),
        ({"torch/readme.txt": ""}, ["-S"], "has no torch"),
        ({"torch/__init__.py": "raise OSError('libcudart.so: no such file')\n"}, ["-S"], "has no torch .OSError: lib"),
        ({"sitecustomize.py": "import sys\nsys.version_info = (3, 8, 18)\n"}, [], "3.9 or newer is needed"),
        ({"torch/__init__.py": "import os\nos.abort()\n"}, ["-S"], r"does not run: the process died \(SIGABRT\)"),
    ],
    ids=["no torch", "an old torch", "a folder called torch", "a torch that does not load", "an old python", "a crash"],
)  # fmt: skip
def test_a_python_that_cannot_be_used_says_why(
    files: dict[str, str], flags: list[str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValidateError, match=message):
        prove_texts(
            tmp_path / "tree", MODULE, MODULE.replace("1", "2"), WELL, python=python_with(tmp_path, files, *flags)
        )
    assert sorted(path.name for path in (tmp_path / "tree").iterdir()) == ["module.py", "scenario.py"]


def test_a_python_that_prints_when_it_starts_is_understood(tmp_path: Path) -> None:
    python = Path(python_with(tmp_path, {}, "-S"))
    python.write_text(python.read_text().replace("#!/bin/sh\n", "#!/bin/sh\necho welcome\necho '{\"result\": 3}'\n"))
    with Worker(str(python), "before", tmp_path, tmp_path) as worker, pytest.raises(Refused, match="has no torch"):
        worker.ask("hello", limit=60)


# With processes


def test_what_both_sides_refuse_is_no_difference(tmp_path: Path) -> None:
    with pytest.raises(ValidateError, match="there is no cuda:7 here; --device takes auto, cpu"):
        prove_texts(tmp_path, MODULE, MODULE.replace("1", "2"), WELL, device="cuda:7")


def opening(folder: Path, kind: str, target: str, **settings: Any) -> dict[str, Any]:
    return {
        "scenario": {"kind": kind, "target": target, "capture": "", "imports": [str(folder)]},
        "files": {},
        "watched": [],
        "settings": {"device": "cpu", "roots": [str(folder)], **settings},
        "scratch": str(folder / "before"),
        "shared_cache": str(folder / "cache"),
    }


def test_without_a_compiler_inductor_gives_way_to_aot_eager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/nowhere/g++")
    (tmp_path / "scenario.py").write_text(WELL)
    (tmp_path / "module.py").write_text(MODULE)
    with Worker(sys.executable, "before", tmp_path, tmp_path) as worker:
        request = opening(tmp_path, "file", str(tmp_path / "scenario.py"), backend="", mode="max-autotune")
        assert worker.ask("open", limit=120, **request)["options"]["backend"] == "inductor"
        told = worker.ask("run", limit=120, stage="warm_up")
        assert told["backend"] == "aot_eager"
        assert told["fallback"]
        assert worker.ask("run", limit=120, stage="compiled", random_as_in_eager=False)["raised"] == []


@pytest.fixture(scope="module")
def tester(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    folder = tmp_path_factory.mktemp("tester")
    with Worker(sys.executable, "before", folder, folder) as worker:
        yield worker


@pytest.mark.parametrize(
    ("tests", "node", "message"),
    [
        ("def test_a(): pass\n", "::test_b", "pytest cannot run .*: ERROR: not found: .*::test_b"),
        ("import no_such_module\n", "", "does not import: ModuleNotFoundError: No module named 'no_such_module'"),
        ("def test_a(:\n", "", "does not import: .*SyntaxError"),
        ("x = 1\n", "", "pytest finds no test in"),
        ("import pytest\npytest.exit('not here')\n", "", "does not import: .*not here"),
    ],
)
def test_tests_that_cannot_be_run_say_why(tester: Worker, tests: str, node: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / f"test_{abs(hash(tests))}.py"
    file.write_text(tests)
    (tmp_path / "before").mkdir()
    with pytest.raises(Refused, match=message):
        tester.ask("open", limit=120, **opening(tmp_path, "pytest", f"{file}{node}"))


def test_a_broken_conftest_is_told(tester: Worker, tmp_path: Path) -> None:
    (tmp_path / "before").mkdir()
    (tmp_path / "conftest.py").write_text("import no_such_plugin\n")
    (tmp_path / "test_told.py").write_text("def test_a(): pass\n")
    with pytest.raises(Refused, match=r"cannot run .*No module named 'no_such_plugin'"):
        tester.ask("open", limit=120, **opening(tmp_path, "pytest", str(tmp_path / "test_told.py")))


def test_tests_that_all_fail_or_are_skipped_decide_nothing() -> None:
    evidence = Evidence()
    evidence.after = type(evidence.after)("after", cases=("test_a", "test_b"))
    told = {"raised": ["test_a"], "skipped": ["test_b"], "exceptions": ["call AssertionError: 1 == 2"]}
    doubts.doubt_tests(evidence, {"before": told, "after": told})
    assert decided(evidence) == (
        Ruling.UNDECIDED,
        "no test passes, before and after: call AssertionError: 1 == 2",
    )
