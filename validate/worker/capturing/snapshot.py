"""One call as it begins: arguments, gradients, modes and random states, in a file before the call can change them."""

from __future__ import annotations

import inspect
import os
import pickle
import sys
import time
import types
from typing import Any

from . import blame, describe
from .capture import MAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from .capture import Watch
    from .wanted import Wanted

OLDEST_TORCH = (2, 6)
PROTOCOL = 4


def store_call(watch: Watch, frame: FrameType, wanted: Wanted, index: int) -> bool:
    """Store one call and tell of it, or of why it cannot be stored. False: it could not even be looked at now."""
    try:
        import torch
    except Exception as error:
        watch.tell("problem", kind="torch", text=f"{sys.executable} has no torch ({type(error).__name__}: {error})")
        watch.stop()
        return True
    if release(torch.__version__) < OLDEST_TORCH:
        text = f"{sys.executable} has torch {torch.__version__}; 2.6 or newer is needed"
        watch.tell("problem", kind="torch", text=text)
        watch.stop()
        return True
    if is_recording_a_cuda_graph(torch):
        return False
    from .modes import take_modes

    names, args, kwargs = bind(frame, wanted)
    file = os.path.join(watch.request.session, f"{watch.token}-{index}.pt")
    try:
        noted = save({"args": args, "kwargs": kwargs, **take_modes()}, file)
    except Exception as error:
        if os.path.exists(file):
            os.unlink(file)
        text = blame.explain(error, [*zip(names, args), *kwargs.items()])
        watch.tell("problem", kind="arguments", index=index, text=text)
        return True
    shown = [[name, describe.describe(value)] for name, value in [*zip(names, args), *kwargs.items()]]
    watch.tell(
        "call",
        index=index,
        time=time.time(),
        file=file,
        bytes=os.path.getsize(file),
        arguments=shown,
        devices=sorted(noted - {"__main__"}),
        needs_main="__main__" in noted,
        torch=torch.__version__,
        python=sys.executable,
        is_method=wanted.named.is_method,
        main=main_module(watch),
        imports=import_folders(),
    )
    return True


def release(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int("".join(digit for digit in minor if digit.isdigit()) or 0)


def is_recording_a_cuda_graph(torch: Any) -> bool:
    """Copying from the device would spoil the recording."""
    return bool(torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())


# The arguments


def bind(frame: FrameType, wanted: Wanted) -> tuple[list[str], list[Any], dict[str, Any]]:
    """How to call the function again: names and values of the positional arguments, and the keyword arguments.

    What is the function's own default is left out: the function has it, and an object that is compared by identity
    would not be itself after loading.
    """
    code, held, function = frame.f_code, frame.f_locals, wanted.function
    names = list(code.co_varnames[: code.co_argcount])
    keyword_only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    position = code.co_argcount + code.co_kwonlyargcount
    starred, rest = "", ()
    if code.co_flags & 0x04:
        starred = code.co_varnames[position]
        rest = held[starred]
        position += 1
    kwargs = {name: held[name] for name in keyword_only if not is_same(held[name], function.__kwdefaults__ or {}, name)}
    defaults = dict(zip(names[len(names) - len(function.__defaults__ or ()) :], function.__defaults__ or ()))
    given = [name for name in names if not is_same(held[name], defaults, name)]
    if not rest:
        names = positional(names, given, code.co_posonlyargcount)
        kwargs = {**{name: held[name] for name in given if name not in names}, **kwargs}
    if code.co_flags & 0x08:
        kwargs.update(held[code.co_varnames[position]])
    return [*names, *rest_names(function, names, starred, len(rest))], [*(held[name] for name in names), *rest], kwargs


def rest_names(function: Any, names: list[str], starred: str, count: int) -> list[str]:
    """What the arguments behind the named ones are called: a decorator's wrapper takes those of what it wraps."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        known = [name for name, one in inspect.signature(function).parameters.items() if one.kind in kinds]
    except (TypeError, ValueError):
        known = []
    known = known[len(names) :][:count]
    return [*known, *(f"{starred}[{number}]" for number in range(len(known), count))]


def is_same(value: Any, defaults: dict[str, Any], name: str) -> bool:
    return name in defaults and value is defaults[name]


def positional(names: list[str], given: list[str], only: int) -> list[str]:
    """The arguments to pass by position: all before the first that is left out, and all that have no other way."""
    missing = [number for number, name in enumerate(names) if name not in given]
    end = missing[0] if missing else len(names)
    last_only = max((number + 1 for number, name in enumerate(names[:only]) if name in given), default=0)
    return names[: max(end, last_only)]


# Storing


class Pickler(pickle.Pickler):
    """Notes the tensors that have a gradient, which torch leaves out, and refuses what loads as something else."""

    def dump(self, payload: Any) -> None:
        self.grads, self.noted = payload["grads"], payload["noted"]
        super().dump(payload)

    def reducer_override(self, value: Any) -> Any:
        import torch

        if isinstance(value, torch.Tensor):
            self.noted.add(str(value.device))
            if value.is_leaf and value.grad is not None:
                self.grads.append((value, value.grad))
        elif getattr(value, "__module__", None) in MAIN and hasattr(value, "__qualname__"):
            self.noted.add("__main__")
        elif blame.is_refused(value):
            raise pickle.PicklingError(f"{type(value).__name__} cannot be stored")
        return NotImplemented


def save(call: dict[str, Any], file: str) -> set[str]:
    """Store it all. The gradients come last, and are collected while the rest is stored.

    Gives the devices of the tensors, and `__main__` if classes of the main program are among the arguments.
    """
    import torch

    module: Any = types.ModuleType("fullgraph_pickle")
    module.Pickler, module.dump = Pickler, pickle.dump
    noted: set[str] = set()
    torch.save({**call, "grads": [], "noted": noted}, file, pickle_module=module, pickle_protocol=PROTOCOL)
    return noted


# How to import it all again


def main_module(watch: Watch) -> dict[str, str] | None:
    """The name and the file under which the classes of the main program can be imported."""
    main = sys.modules.get("__mp_main__") or sys.modules.get("__main__")
    file, spec = getattr(main, "__file__", None), getattr(main, "__spec__", None)
    if not file:
        return None
    file = os.path.abspath(file)
    if spec is not None and spec.name not in MAIN:
        return {"name": str(spec.name), "file": file}
    if file.endswith(watch.request.tails):
        return {"name": watch.request.module, "file": file}
    return {"name": os.path.splitext(os.path.basename(file))[0], "file": file}


def import_folders() -> list[str]:
    """The folders of sys.path that are neither Python's own nor those of installed packages."""
    import sysconfig

    own = [os.path.realpath(path) for path in sysconfig.get_paths().values()]
    found = []
    for entry in sys.path:
        folder = os.path.abspath(entry)
        real = os.path.realpath(folder)
        is_installed = os.path.basename(real) in ("site-packages", "dist-packages")
        if os.path.isdir(folder) and not is_installed and not real.startswith(tuple(own)):
            found.append(folder)
    return list(dict.fromkeys(found))
