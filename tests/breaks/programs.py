"""A small program with the calls it is run with, opened as plain Python or compiled with a backend of our choice."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import importlib
import linecache
import logging
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from fullgraph.validate.worker.subject import Case, Subject, seed_all

MAIN = "program.py"
PLAIN = ""
"""In place of a backend: torch.compile gives back what it is given."""

SEED = 0
ASKED_OF_INDUCTOR = ("mode", "options")
SWITCHES = ("log_file_name",)
"""Settings of torch that have nothing to do with what a program computes."""

vars(torch._dynamo.guards)["profile_guard_manager"] = lambda *_: 0.0
"""torch flushes the caches of the processor to time each guard, a fifth of what compiling these programs takes."""

DATA = (bool, int, float, str, list, tuple, dict, set, torch.Tensor, torch.nn.Module)


@dataclass(frozen=True)
class Program:
    """Files by name, of which `program.py` is run; `entry` is the callable and each call its arguments, as source."""

    files: Mapping[str, bytes]
    calls: tuple[str, ...]
    entry: str = "run"

    @property
    def text(self) -> str:
        return self.files[MAIN].decode()

    def with_files(self, files: Mapping[str, bytes]) -> Program:
        return replace(self, files=files)

    def digest(self) -> str:
        return hashlib.sha256(repr(sorted(self.files.items())).encode()).hexdigest()[:12]


def program_of(text: str, calls: tuple[str, ...], entry: str = "run") -> Program:
    return Program({MAIN: text.encode()}, calls, entry)


@contextlib.contextmanager
def opened(program: Program, folder: Path, backend: str) -> Iterator[Subject]:
    """The program run as a module of its own, with nothing compiled before; afterwards all settings are as they were.

    Each text has a folder of its own, because torch and Python keep what they have read of a file.
    """
    home = folder / program.digest()
    home.mkdir(parents=True, exist_ok=True)
    for name, raw in program.files.items():
        (home / name).write_bytes(raw)
    torch._dynamo.reset()
    with settings_kept(), modules_of(home, program), loggers_kept():
        seed_all(SEED)
        with compiling_with(backend):
            namespace = run_module(home / MAIN)
            call = evaluate(program.entry, namespace)
        cases = [case_of(number, text, namespace) for number, text in enumerate(program.calls, 1)]
        yield Subject(call, None, cases, reader=lambda _: state_of(namespace, call))
    torch._dynamo.reset()


def run_module(file: Path) -> dict[str, Any]:
    module = types.ModuleType(file.stem)
    module.__file__ = str(file)
    sys.modules[file.stem] = module
    text = file.read_bytes()
    linecache.checkcache(str(file))
    logging.getLogger(file.stem).setLevel(logging.DEBUG)
    exec(compile(text, str(file), "exec"), module.__dict__)
    return module.__dict__


def evaluate(text: str, namespace: dict[str, Any]) -> Any:
    return eval(text, {"torch": torch, **namespace})


def case_of(number: int, text: str, namespace: dict[str, Any]) -> Case:
    """The arguments stand as in a call: `x, flag=True`."""
    gather: Callable[..., Any] = lambda *args, **kwargs: (args, kwargs)  # noqa: E731
    args, kwargs = evaluate(f"gather_({text})", {**namespace, "gather_": gather})
    return Case(f"call {number}", args, kwargs)


def state_of(namespace: dict[str, Any], call: Any) -> types.SimpleNamespace:
    """What a call can leave behind: the module that is called, and the data among the program's own names.

    As attributes of one object: a rewrite may add names.
    """
    kept = {
        name: unwrapped(value)
        for name, value in namespace.items()
        if not name.startswith("_") and isinstance(unwrapped(value), DATA)
    }
    owner = unwrapped(call)
    return types.SimpleNamespace(**kept, called=owner if isinstance(owner, torch.nn.Module) else None)


def unwrapped(value: Any) -> Any:
    """The module in what torch.compile made of it."""
    return value._orig_mod if isinstance(value, torch._dynamo.OptimizedModule) else value


# Around a program


@contextlib.contextmanager
def compiling_with(backend: str) -> Iterator[None]:
    """Inside, whoever asks for compilation gets this backend, or what was to be compiled as it is."""
    original = torch.compile

    def compile_(model: Any = None, **options: Any) -> Any:
        if model is None:
            return lambda model: compile_(model, **options)
        if backend == PLAIN:
            return model
        kept = {name: value for name, value in options.items() if name not in ASKED_OF_INDUCTOR}
        return original(model, **{**kept, "backend": backend})

    torch.compile = compile_
    try:
        yield
    finally:
        torch.compile = original


@contextlib.contextmanager
def settings_kept() -> Iterator[None]:
    """A rewrite may change settings of torch for the whole process; here it ends with the program."""
    config: Any = torch._dynamo.config
    before = copy.deepcopy(config.get_config_copy())
    try:
        yield
    finally:
        now = config.get_config_copy()
        for name, value in before.items():
            if name not in SWITCHES and now.get(name) != value:
                setattr(config, name, value)


@contextlib.contextmanager
def modules_of(home: Path, program: Program) -> Iterator[None]:
    """The files of a program can import each other, and nobody finds them afterwards."""
    names = [name.removesuffix(".py") for name in program.files]
    sys.path.insert(0, str(home))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(home))
        for name in names:
            sys.modules.pop(name, None)


@contextlib.contextmanager
def loggers_kept() -> Iterator[None]:
    """Programs may add methods to loggers, as libraries do; the next one finds none of them."""
    before = dict(vars(logging.Logger))
    try:
        yield
    finally:
        for name in set(vars(logging.Logger)) - set(before):
            delattr(logging.Logger, name)
