"""What is run: a scenario becomes, as often as a stage asks for it, a fresh subject with its cases."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import os
import random
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from types import FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import torch

from .errors import UserError
from .recording.functions import Held, peel
from .settings import can_take, read_settings

HOW = "a case is a tuple of positional arguments, a dict of keyword arguments, or SimpleNamespace(name, args, kwargs)"


@dataclass
class Case:
    """One call. `settings` makes what must hold around it: grad mode, autocast."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    settings: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext


@dataclass
class Subject:
    """What is run (`call`), the object whose state counts (`owner`), and the cases in order.

    `roots` are the folders and files of the modules that belong to the project.
    """

    call: Callable[..., Any]
    owner: Any
    cases: list[Case]
    options: dict[str, Any] = field(default_factory=dict)
    reader: Callable[..., Any] | None = None
    roots: tuple[str, ...] = ()
    left: list[tuple[str, str, str]] = field(default_factory=list)
    """Where the generators of random numbers stood when it was built."""

    def state(self, output: Any) -> Any:
        """What to compare beside the output: what the scenario's `state` gives, or all of the owner."""
        if self.reader is None:
            return self.owner
        return self.reader(self.call, output) if self.replaces_output else self.reader(self.call)

    @property
    def replaces_output(self) -> bool:
        """Whether the scenario's `state` reads the output itself, so that the output need not be comparable."""
        return self.reader is not None and can_take(inspect.signature(self.reader), 2)


class Source:
    """A scenario that has been read; `build` makes a fresh subject of it."""

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.rtol: float | None = None
        self.atol: float | None = None
        self.exact = True
        self.backward = True
        self.second_derivatives = False
        self.compiled = True
        self.seed = 0

    def build(self, device: torch.device) -> Subject:
        raise NotImplementedError

    def notices(self, device: torch.device) -> list[str]:
        """What a reader of the verdict must know about it."""
        return []


class FileSource(Source):
    """A Python file with `build(device)` and `cases(device, seed)`."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.module = run_file(path)
        for name in ("build", "cases"):
            if not callable(getattr(self.module, name, None)):
                raise UserError(f"{path} has no function `{name}`; `fullgraph scenario new` writes a file that has")
        given = read_settings(self.module, path)
        self.options, self.reader = given.compile_options, given.state
        self.rtol, self.atol = given.tolerance.get("rtol"), given.tolerance.get("atol")
        self.exact, self.backward, self.seed = given.exact, given.backward, given.seed
        self.compiled, self.second_derivatives = given.compiled, given.second_derivatives

    def build(self, device: torch.device) -> Subject:
        seed_all(self.seed)
        call = self.ask("build", device)
        if not callable(call):
            raise UserError(f"{self.path}: build() gave {type(call).__name__}, which cannot be called")
        left = read_generators()
        seed_all(self.seed)
        cases = self.ask("cases", device, self.seed)
        named = [self.case(number, given) for number, given in enumerate(iterate(self.path, cases), 1)]
        if not named:
            raise UserError(f"{self.path}: cases() gave no case; {HOW}")
        return Subject(call, owner_of(call), told_apart(named), self.options, self.reader, left=left)

    def ask(self, name: str, *args: Any) -> Any:
        try:
            return getattr(self.module, name)(*args)
        except (MemoryError, torch.OutOfMemoryError):
            raise
        except (Exception, SystemExit) as error:
            raise UserError(f"{self.path}: {name}() failed: {told(error, self.path)}") from error

    def case(self, number: int, given: Any) -> Case:
        name = f"case {number}"
        if isinstance(given, tuple):
            return Case(name, given)
        if isinstance(given, dict):
            return Case(name, (), given)
        if isinstance(given, SimpleNamespace):
            args, kwargs = getattr(given, "args", ()), getattr(given, "kwargs", {})
            if isinstance(args, (tuple, list)) and isinstance(kwargs, dict):
                return Case(str(getattr(given, "name", name)), tuple(args), kwargs)
        raise UserError(f"{self.path}: {name} is {type(given).__name__}; {HOW}")


class CaptureSource(Source):
    """A function with the arguments of calls that were stored in a real run."""

    def __init__(self, target: str, calls: str) -> None:
        from .capturing import captured

        super().__init__()
        self.calls = calls
        self.function = captured.resolve(target)[0]

    def build(self, device: torch.device) -> Subject:
        from .capturing import captured

        seed_all(self.seed)
        calls = captured.load_calls(self.calls, str(device))
        cases = [
            Case(call.name, call.args, call.kwargs, lambda call=call: captured.settings_of(call))  # type: ignore[misc]
            for call in calls
        ]
        return Subject(self.function, owner_of(self.function), cases)

    def notices(self, device: torch.device) -> list[str]:
        from .capturing import captured

        return captured.notices_of(self.calls, str(device))


def read_source(kind: str, target: str, capture: str) -> Source:
    """Models that are built while modules are imported are the same on both sides, too."""
    seed_all(0)
    return FileSource(target) if kind == "file" else CaptureSource(target, capture)


def run_file(path: str) -> ModuleType:
    """The scenario file as a module; its own folder stands on sys.path, as it does for a script."""
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location("fullgraph_scenario", path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["fullgraph_scenario"] = module
    try:
        spec.loader.exec_module(module)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"{path} does not import: {told(error, path)}", "import") from error
    return module


def iterate(path: str, cases: Any) -> list[Any]:
    if not isinstance(cases, Iterable) or isinstance(cases, (torch.Tensor, dict, tuple)):
        raise UserError(f"{path}: cases() gave {type(cases).__name__}; it gives a list of cases: {HOW}")
    try:
        return list(cases)
    except Exception as error:
        raise UserError(f"{path}: cases() failed: {told(error, path)}") from error


def told_apart(cases: list[Case]) -> list[Case]:
    """With a number behind a name that several have."""
    seen: dict[str, int] = {}
    for case in cases:
        seen[case.name] = seen.get(case.name, 0) + 1
        if seen[case.name] > 1:
            case.name += f" ({seen[case.name]})"
    return cases


def owner_of(call: Any) -> Any:
    """What is compared as the state: the object that a bound method belongs to, what a function holds, or the call."""
    call = peel(getattr(call, "_orig_mod", call))
    if isinstance(call, MethodType):
        return call.__self__
    return Held(call) if isinstance(call, FunctionType) else call


def told(error: BaseException, path: str) -> str:
    """An error in one line, with the deepest line that is not torch's or Python's own."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{type(error).__name__}: {error.msg} ({error.filename}:{error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(("<", OWN_FOLDER, TORCH_FOLDER))]
    place = f" ({own[-1].filename}:{own[-1].lineno})" if own else ""
    return f"{type(error).__name__}: {error}{place}"


OWN_FOLDER = os.path.dirname(os.path.abspath(__file__))
TORCH_FOLDER = os.path.dirname(os.path.abspath(torch.__file__))


def read_generators() -> list[tuple[str, str, str]]:
    """Where those that `seed_all` seeds stand."""
    held = {"random": repr(random.getstate()), "torch": repr(torch.get_rng_state().tolist())}
    if "numpy" in sys.modules:
        kind, keys, *rest = sys.modules["numpy"].random.get_state()
        held["numpy"] = repr((kind, keys.tolist(), rest))
    return [(f"rng.{name}", "state", sha256(text.encode()).hexdigest()) for name, text in held.items()]


def seed_all(seed: int) -> None:
    """Numpy is imported for it: what the scenario imports may draw from it at once."""
    random.seed(seed)
    torch.manual_seed(seed)
    with contextlib.suppress(ImportError):
        importlib.import_module("numpy").random.seed(seed % 2**32)
