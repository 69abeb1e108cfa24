"""What a call does to the world around the process, and to the process itself: files, children, environment, settings.

Python tells of files and children by its audit events. What native code opens by itself is not told; torch.save, which
does, is made to tell. Nothing of the user's is touched: files are only read, after the call.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import re
import signal
import sys
import tempfile
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from hashlib import sha256
from os import getcwd, stat
from typing import Any, NamedTuple

import torch

from ..process.guard import PREFIX
from ..process.initial import known_signals
from ..process.own import open_file
from .leaf import mask_addresses, name_type
from .listening import TORCH_FOLDER, is_compilers, keep_out, tell

KINDS = ("files", "contents", "contents_masked", "processes", "connections", "environment", "settings", "threads")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
PATHS = {
    **dict.fromkeys(("os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.utime"), (0,)),
    **dict.fromkeys(("os.rename", "os.link", "os.symlink"), (0, 1)),
    "open": (0,),
}
"""Events about files, with the places of the paths among their arguments."""

CHILDREN = {"subprocess.Popen": 1, "os.system": 0, "os.posix_spawn": 1, "os.spawn": 2, "os.exec": 1}
FORKS = ("os.fork", "os.forkpty")
CONNECTIONS = {"socket.connect": 1, "socket.bind": 1, "socket.sendto": 1}
WANTED = {*PATHS, *CHILDREN, *FORKS, *CONNECTIONS}

COMPILER = tuple(TORCH_FOLDER + name + os.sep for name in ("_inductor", "_dynamo", "_functorch", "_logging", "fx"))
"""Code of torch that writes files and starts children when it compiles: that is no effect of the user's code."""

PYTHON = (os.path.dirname(os.__file__) + os.sep, "<")
PASSING = ("/dev/", "/proc/", "/sys/")
CHANGING = re.compile(r"\d{6,}|\b[0-9a-f]{8,}\b")
"""In names: times, numbers of processes, keys. Steps and epochs are shorter."""

NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")
MOST_READ = 1 << 26
MOST_MASKED = 1 << 20
LONGEST = 500
OWN = ("TORCHINDUCTOR_", "_TORCHINDUCTOR_", "TRITON_CACHE_DIR", "PYTEST_CURRENT_TEST")
"""Variables that torch, the worker and pytest set, by how they begin."""

ENDING = 0.05
"""Seconds that a new thread has to end after the call."""

Effects = dict[str, list[str]]


class Touched(NamedTuple):
    """A path, where it was seen from, and the file that was there before."""

    path: Any
    folder: str
    size: int
    """-1 if there was none."""

    appends: bool


class Ear:
    """Hears the audit events while it is open. A hook can never be removed, so there is one for the whole process."""

    def __init__(self) -> None:
        self.is_open = False
        self.touched: list[Touched] = []
        self.others: list[tuple[str, Any]] = []

    def install(self) -> None:
        keep_out(hook)
        keep_out(is_of_compiler)
        sys.addaudithook(hook)
        writer: Any = torch.serialization._open_zipfile_writer_file
        begin, audit = writer.__init__, sys.audit

        def tell_and_begin(self: Any, name: Any, *given: Any, **named: Any) -> None:
            audit("open", name, "wb", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            begin(self, name, *given, **named)

        keep_out(tell_and_begin)
        writer.__init__ = tell_and_begin


ear: Ear | None = None


def hook(event: str, given: tuple[Any, ...]) -> None:
    """Runs inside whatever raises the event: it calls nothing but C, and raises nothing."""
    if ear is None or not ear.is_open or event not in WANTED or is_of_compiler():
        return
    if event not in PATHS:
        ear.others.append((event, given))
        return
    flags = given[2] if event == "open" else WRITING
    if type(flags) is not int or not flags & WRITING:
        return
    for place in PATHS[event]:
        try:
            size = stat(given[place]).st_size
        except (OSError, TypeError, ValueError):
            size = -1
        try:
            ear.touched.append(Touched(given[place], getcwd(), size, event == "open" and bool(flags & os.O_APPEND)))
        except OSError:
            continue


def is_of_compiler() -> bool:
    """Whether the innermost code that is not Python's own is torch's compiler."""
    frame = sys._getframe(2)
    while frame and frame.f_code.co_filename.startswith(PYTHON):
        frame = frame.f_back  # type: ignore[assignment]
    return bool(frame) and frame.f_code.co_filename.startswith(COMPILER)


@contextlib.contextmanager
def hear_effects() -> Iterator[Effects]:
    """What the code inside has done, by kind; known when the block ends."""
    global ear
    if ear is None:
        ear = Ear()
        ear.install()
    heard: Effects = {}
    folder, before = read_folder(), Picture()
    ear.touched, ear.others, ear.is_open = [], [], True
    try:
        yield heard
    finally:
        ear.is_open = False
        heard.update(tell_files(ear.touched, folder))
        heard.update(tell_others(ear.others))
        heard.update(before.changes())


# Files


def tell_files(touched: list[Touched], folder: str) -> Effects:
    """Which files are there or gone that were written or removed, and a hash of what is in them."""
    first: dict[str, Touched] = {}
    for one in touched:
        with contextlib.suppress(TypeError, ValueError):
            first.setdefault(os.path.join(one.folder, os.fsdecode(one.path)), one)
    told: Effects = {"files": [], "contents": [], "contents_masked": []}
    for path, one in first.items():
        label = name_path(os.path.normpath(path), folder)
        if label and (one.size >= 0 or os.path.lexists(path)):
            told["files"].append(f"{label}: {'there' if os.path.lexists(path) else 'removed'}")
            begin = max(one.size, 0) if one.appends else 0
            add_contents(told, f"{label}{' (added)' if one.appends else ''}", path, begin)
    return {kind: sorted(lines) for kind, lines in told.items()}


def add_contents(told: Effects, label: str, path: str, begin: int) -> None:
    data = read_file(path, begin)
    if data is not None:
        told["contents"].append(f"{label}: {sha256(data).hexdigest()}")
        told["contents_masked"].append(f"{label}: {sha256(mask_numbers(data)).hexdigest()}")


def read_file(path: str, begin: int) -> bytes | None:
    """What is in a plain file from a place on, as far as it is compared; None of anything else."""
    try:
        if not os.path.isfile(path):
            return None
        with open_file(path, "rb") as file:
            file.seek(begin)
            return file.read(MOST_READ)
    except OSError:
        return None


def mask_numbers(data: bytes) -> bytes:
    """For files with times in them: their text without numbers; of what is no text, nothing."""
    try:
        return NUMBER.sub("#", data[:MOST_MASKED].decode()).encode()
    except UnicodeDecodeError:
        return b""


def name_path(path: str, folder: str) -> str:
    """As it is compared, without what changes in names from run to run; empty if it does not count."""
    inner = os.path.relpath(path, folder) if path.startswith(folder + os.sep) else path
    parts = inner.split(os.sep)
    if any(part.startswith((".", "__pycache__", PREFIX)) or part == "site-packages" for part in parts):
        return ""
    if inner == path and path.startswith((*PASSING, os.path.realpath(tempfile.gettempdir()), tempfile.gettempdir())):
        return ""
    return CHANGING.sub("#", inner)


# Children and connections


def tell_others(seen: list[tuple[str, Any]]) -> Effects:
    told: Effects = {"processes": [], "connections": []}
    for event, given in seen:
        kind = "connections" if event in CONNECTIONS else "processes"
        place = {**CHILDREN, **CONNECTIONS}.get(event)
        what = "" if place is None else f": {CHANGING.sub('#', mask_addresses(tell(given[place])))}"
        told[kind].append((event + what)[:LONGEST])
    return {kind: sorted(lines) for kind, lines in told.items()}


# The process


class Picture:
    """How the process is set up, to be looked at again."""

    def __init__(self) -> None:
        self.environment = dict(os.environ)
        self.settings = read_settings()
        self.threads = set(threading.enumerate())

    def changes(self) -> Effects:
        environment, settings = dict(os.environ), read_settings()
        return {
            "environment": tell_changes(self.environment, environment, leave_out=OWN),
            "settings": tell_changes(self.settings, settings),
            "threads": sorted(name_thread(one) for one in threading.enumerate() if self.stays(one)),
        }

    def stays(self, thread: threading.Thread) -> bool:
        if thread in self.threads:
            return False
        thread.join(ENDING)
        return thread.is_alive()


def tell_changes(before: dict[str, Any], after: dict[str, Any], leave_out: tuple[str, ...] = ()) -> list[str]:
    names = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    wanted = [name for name in names if not name.startswith(leave_out)] if leave_out else names
    return [f"{name}: {mask_addresses(tell(after.get(name, 'removed')))}" for name in wanted]


def name_thread(thread: threading.Thread) -> str:
    return f"{NUMBER.sub('#', thread.name)}{' (daemon)' if thread.daemon else ''}"


def read_folder() -> str:
    try:
        return getcwd()
    except OSError:
        return "removed"


PATCHABLE = (
    *("builtins", "json", "math", "random", "time", "warnings", "logging", "copy", "pickle", "os", "numpy"),
    *("torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.optim", "torch.utils.data"),
)
"""Modules of others in which code can put something else in the place of a function or a class, for everybody."""

COMPILERS = ("torch._dynamo", "torch._inductor", "torch._functorch", "torch.fx")
PATCHED_KINDS = (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, type)


class Bound:
    """A function or class that a name stands for. Another object is another one, and is told by its own name.

    What torch's compiler puts in the place of torch's own functions, when it is first loaded, counts as these.
    """

    def __init__(self, value: Any) -> None:
        self.value = value
        self.is_compilers = str(getattr(value, "__module__", "")).startswith(COMPILERS)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bound):
            return False
        return other.value is self.value or other.is_compilers or self.is_compilers

    def __hash__(self) -> int:
        return id(self.value)

    def __str__(self) -> str:
        return name_function(self.value)

    __repr__ = __str__


def read_patched() -> dict[str, Bound]:
    """What the public names of well-known modules, and the methods of tensors and layers, stand for."""
    loaded = [(name, sys.modules[name]) for name in PATCHABLE if name in sys.modules]
    layers = [(f"torch.nn.{name}", kind) for name, kind in vars(torch.nn).items() if isinstance(kind, type)]
    owners = [*loaded, ("torch.Tensor", torch.Tensor), *layers]
    return {
        f"{owner}.{name}": Bound(value)
        for owner, held in owners
        for name, value in list(vars(held).items())
        if name != "Storage"  # which follows the default dtype
        and isinstance(value, PATCHED_KINDS)
        and (not name.startswith("_") or name.endswith("__"))
    }


def read_numpy() -> str:
    numpy = sys.modules.get("numpy")
    return f"{numpy.geterr()} {numpy.get_printoptions()}" if numpy else ""


def read_attention() -> str:
    kernels: Any = torch.backends.cuda
    return str([kernels.flash_sdp_enabled(), kernels.mem_efficient_sdp_enabled(), kernels.math_sdp_enabled()])


SETTINGS: dict[str, Callable[[], object]] = {
    "working folder": read_folder,
    "sys.path": lambda: list(sys.path),
    "sys.excepthook": lambda: name_function(sys.excepthook),
    "sys.getrecursionlimit()": sys.getrecursionlimit,
    "sys.stdout": lambda: f"{name_type(type(sys.stdout))} at {id(sys.stdout):#x}",
    "sys.stderr": lambda: f"{name_type(type(sys.stderr))} at {id(sys.stderr):#x}",
    "gc.isenabled()": gc.isenabled,
    "gc.get_threshold()": gc.get_threshold,
    "logging.disable": lambda: logging.root.manager.disable,
    "warnings.filters": lambda: [str(one) for one in warnings.filters],
    "hooks of all modules": lambda: [f"{name}: {len(held)}" for name, held in global_hooks() if held],
    "torch.set_printoptions()": lambda: str(torch._tensor_str.PRINT_OPTS),
    "decimals": lambda: str(decimal.getcontext().prec) if (decimal := sys.modules.get("decimal")) else "",
    "numpy's settings": read_numpy,
    "kernels for attention": read_attention,
    "mkldnn": lambda: torch.backends.mkldnn.enabled,
    "checks of distributions": lambda: torch.distributions.Distribution._validate_args,
    "level of the root logger": lambda: logging.root.level,
    "handlers of the root logger": lambda: [name_type(type(one)) for one in logging.root.handlers],
}


def list_loggers() -> list[logging.Logger]:
    known = sorted(logging.root.manager.loggerDict.items())
    return [one for name, one in known if isinstance(one, logging.Logger) and not is_compilers(name)]


def tell_logger(logger: logging.Logger) -> str:
    """What is set in a logger; nothing of one that was only asked for."""
    handlers = [name_type(type(one)) for one in logger.handlers]
    is_plain = not (logger.level or handlers or logger.disabled or not logger.propagate)
    return "" if is_plain else f"{logger.level} {handlers} {logger.disabled} {logger.propagate}"


def global_hooks() -> list[tuple[str, Any]]:
    held = vars(torch.nn.modules.module)
    return [(name, held[name]) for name in sorted(held) if name.startswith("_global_") and name.endswith("_hooks")]


def read_settings() -> dict[str, Any]:
    signals = {f"signal {int(one)}": name_function(signal.getsignal(one)) for one in known_signals()}
    loggers = {f"logger {one.name}": told for one in list_loggers() if (told := tell_logger(one))}
    return {**{name: read() for name, read in SETTINGS.items()}, **signals, **loggers, **read_patched()}


def name_function(function: Any) -> str:
    return str(getattr(function, "__qualname__", None) or function)
