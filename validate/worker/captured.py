"""Stored calls, read back: fresh copies at every load, on the device that is wanted.

The file is a zip of uncompressed members: `index.json` says what was captured, `0.pt`, `1.pt`, ... hold a call each.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import pickle
import random
import sys
import types
import zipfile
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator

import torch

from . import naming
from .errors import UserError


@dataclass
class Call:
    """One call to repeat: the function with these arguments, in these settings. `rng` holds the random states."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    settings: dict[str, Any]
    rng: dict[str, Any] = field(default_factory=dict)


def resolve(target: str) -> tuple[Callable[..., Any], bool]:
    """The function behind `module:qualname`, and whether its first argument is self or cls."""
    name, _, qualname = target.partition(":")
    named = naming.look_up(vars(import_module(name)), name, qualname)
    return named.function, named.is_method


def import_module(name: str) -> types.ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            where = ", ".join(sys.path[:3])
            raise UserError(f"there is no module {name!r} on sys.path ({where}, ...)", "import") from error
        raise UserError(f"module {name!r} does not import: {error}", "import") from error
    except Exception as error:
        raise UserError(f"module {name!r} does not import: {type(error).__name__}: {error}", "import") from error


def read_index(path: str) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            index: dict[str, Any] = json.loads(archive.read("index.json"))
    except FileNotFoundError:
        raise UserError(f"{path}: nothing has been captured; `fullgraph capture` stores calls there") from None
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} is no capture ({error}); run `fullgraph capture` again") from error
    return index


def load_calls(path: str, device: str) -> list[Call]:
    """Every stored call, with its tensors on `device` where they were on the device of the capture."""
    index = read_index(path)
    with zipfile.ZipFile(path) as archive:
        members = [archive.getinfo(f"{number}.pt") for number in range(len(index["calls"]))]
        sections = [Section(path, *place_of(path, member)) for member in members]
    return [load_call(number, section, index, device) for number, section in enumerate(sections, 1)]


def load_call(number: int, section: Section, index: dict[str, Any], device: str) -> Call:
    moves = moves_of(index, device)
    try:
        held = torch.load(
            section,  # type: ignore[arg-type]
            map_location=lambda storage, place: move_storage(storage, place, moves),
            pickle_module=pickle_for(index, moves),
            weights_only=False,
        )
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"call {number} of {index['target']} cannot be loaded: {type(error).__name__}: {error}; "
            "if the code has changed since, run `fullgraph capture` again"
        ) from error
    for tensor, grad in held["grads"]:
        tensor.grad = grad
    settings = {**held["settings"], "moves": {kind_of(a): kind_of(b) for a, b in moves.items()}}
    return Call(f"call {number}", tuple(held["args"]), held["kwargs"], settings, held["rng"])


# Devices


def kind_of(device: str) -> str:
    return device.partition(":")[0]


def moves_of(index: dict[str, Any], device: str) -> dict[str, str]:
    """From stored to wanted device. Tensors that stood on the CPU beside an accelerator's stay on the CPU."""
    stored = sorted({place for call in index["calls"] for place in call["devices"]} - {"meta"})
    accelerators = [place for place in stored if kind_of(place) != "cpu"]
    return {place: device for place in accelerators or stored if numbered(place) != numbered(device)}


def numbered(device: str) -> str:
    return device if ":" in device or device == "cpu" else f"{device}:0"


def notices_of(path: str, device: str) -> list[str]:
    """What a reader must know: where tensors are now that were elsewhere, and another torch than at the capture."""
    index = read_index(path)
    notices = []
    moves = moves_of(index, device)
    if moves:
        names = ", ".join(moves)
        notices.append(
            f"the calls were captured on {names} and run on {device}; device names that arguments hold as text are as stored"
        )
    if index["torch"] != torch.__version__:
        notices.append(f"the calls were captured with torch {index['torch']}; this is {torch.__version__}")
    return notices


def move_storage(storage: Any, place: str, moves: dict[str, str]) -> Any:
    target = moves.get(place)
    if target is None:
        return None
    return storage if target == "cpu" else torch.serialization.default_restore_location(storage, target)


# Reading


def pickle_for(index: dict[str, Any], moves: dict[str, str]) -> Any:
    """The pickle module, with classes of the main program under their importable name and devices moved."""
    main = index.get("main") or {}

    def device(*parts: Any) -> torch.device:
        stored = torch.device(*parts)
        return torch.device(moves.get(numbered(str(stored)), stored))

    def fake_tensor(*parts: Any, **more: Any) -> torch.Tensor:
        made: torch.Tensor = rebuild(*parts, **more)
        target = moves.get(numbered(str(made.device)))
        return made if target is None else made.detach().to(target).requires_grad_(made.requires_grad)

    replaced = {("torch", "device"): device} if moves else {}
    if moves and torch._guards.detect_fake_mode() is not None:  # torch does not ask map_location for fake tensors
        rebuild = torch._utils._rebuild_tensor_v2
        replaced["torch._utils", "_rebuild_tensor_v2"] = fake_tensor

    class Unpickler(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            if (module, name) in replaced:
                return replaced[module, name]
            if module in ("__main__", "__mp_main__") and main:
                import_main(main)
                module = main["name"]
            return super().find_class(module, name)

    shim: Any = types.ModuleType("fullgraph_pickle")
    shim.Unpickler, shim.load = Unpickler, pickle.load
    return shim


def import_main(main: dict[str, str]) -> None:
    """The captured program's main file, by the name under which it can be imported."""
    folder = os.path.dirname(main["file"])
    if main["name"] not in sys.modules and "." not in main["name"] and folder not in sys.path:
        sys.path.append(folder)
    import_module(main["name"])


def place_of(path: str, member: zipfile.ZipInfo) -> tuple[int, int]:
    """Where the bytes of an uncompressed member begin, and how many there are."""
    with open(path, "rb") as file:
        file.seek(member.header_offset + 26)
        lengths = file.read(4)
    name, extra = int.from_bytes(lengths[:2], "little"), int.from_bytes(lengths[2:], "little")
    return member.header_offset + 30 + name + extra, member.file_size


class Section(io.RawIOBase):
    """Part of a file as a file of its own, so that big tensors are read where they are."""

    def __init__(self, path: str, start: int, size: int) -> None:
        self.file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed with the section
        self.start, self.size, self.position = start, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self.position = offset + (0, self.position, self.size)[whence]
        return self.position

    def tell(self) -> int:
        return self.position

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), max(self.size - self.position, 0))
        self.file.seek(self.start + self.position)
        count = self.file.readinto(memoryview(buffer)[:wanted]) or 0
        self.position += count
        return count

    def close(self) -> None:
        self.file.close()
        super().close()


# What the call stands in


@contextlib.contextmanager
def settings_of(call: Call) -> Iterator[None]:
    """Inside, the modes of the captured call are in force: gradients, inference, autocast, dtype, determinism."""
    held = call.settings
    with contextlib.ExitStack() as stack:
        stack.enter_context(flags(held))
        if held["inference"]:
            stack.enter_context(torch.inference_mode())
        stack.enter_context(torch.set_grad_enabled(held["grad"]))
        for kind, dtype, is_cached in held["autocast"]:
            kind = held["moves"].get(kind, kind)
            stack.enter_context(torch.autocast(kind, dtype=getattr(torch, dtype), cache_enabled=is_cached))
        yield


@contextlib.contextmanager
def flags(held: dict[str, Any]) -> Iterator[None]:
    """The process-wide switches, which have no context managers of their own."""
    before = read_flags()
    changed = {name for name in before if before[name] != held[name]}
    apply_flags(held, changed)
    try:
        yield
    finally:
        apply_flags(before, changed)


def read_flags() -> dict[str, Any]:
    return {
        "dtype": str(torch.get_default_dtype()).partition(".")[2],
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "deterministic_warn_only": torch.is_deterministic_algorithms_warn_only_enabled(),
        "matmul_precision": torch.get_float32_matmul_precision(),
        "cudnn_benchmark": torch.backends.cudnn.benchmark,
        "cudnn_deterministic": torch.backends.cudnn.deterministic,
    }


def apply_flags(held: dict[str, Any], changed: set[str]) -> None:
    if "dtype" in changed:
        torch.set_default_dtype(getattr(torch, held["dtype"]))
    if changed & {"deterministic", "deterministic_warn_only"}:
        torch.use_deterministic_algorithms(held["deterministic"], warn_only=held["deterministic_warn_only"])
    if "matmul_precision" in changed:
        torch.set_float32_matmul_precision(held["matmul_precision"])
    for name in changed & {"cudnn_benchmark", "cudnn_deterministic"}:
        setattr(torch.backends.cudnn, name.partition("_")[2], held[name])


def restore_random(call: Call) -> None:
    """Put the random states back to where they were when the call was captured."""
    torch.set_rng_state(torch.frombuffer(bytearray(call.rng["torch"]), dtype=torch.uint8))
    random.setstate(call.rng["python"])
    if "numpy" in call.rng and "numpy" in sys.modules:
        sys.modules["numpy"].random.set_state(call.rng["numpy"])
    if "cuda" in call.rng and torch.cuda.is_available():
        states = [torch.frombuffer(bytearray(state), dtype=torch.uint8) for state in call.rng["cuda"]]
        torch.cuda.set_rng_state_all(states[: torch.cuda.device_count()])
