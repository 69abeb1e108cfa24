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
import sys
import types
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Callable

import torch

from ..errors import UserError
from . import naming
from .modes import flags_set, modes_set
from .modes import restore_random as restore_states


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
            map_location={} if is_fake() else moves,
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
            f"the calls were captured on {names} and run on {device}; "
            "names of devices that arguments hold as text are as stored"
        )
    if index["torch"] != torch.__version__:
        notices.append(f"the calls were captured with torch {index['torch']}; this is {torch.__version__}")
    return notices


# Reading


def pickle_for(index: dict[str, Any], moves: dict[str, str]) -> Any:
    """The pickle module, with classes of the main program under their importable name and devices moved."""
    main = index.get("main") or {}

    def device(*parts: Any) -> torch.device:
        stored = torch.device(*parts)
        return torch.device(moves.get(numbered(str(stored)), stored))

    def fake_tensor(storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool, *_: Any) -> torch.Tensor:
        place = getattr(storage._untyped_storage, "_fake_device", None) or next(iter(moves), "cpu")
        target = moves.get(numbered(str(place)), place)
        made = torch.empty_strided(size, stride, dtype=storage.dtype, device=target)
        return made.requires_grad_(requires_grad)

    replaced: dict[tuple[str, str], Any] = {("torch", "device"): device} if moves else {}
    if is_fake():
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


def is_fake() -> bool:
    """Whether tensors are made without data: then the tensors are made where they belong, and not their storages."""
    return torch._guards.detect_fake_mode() is not None


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
    with flags_set(call.settings), modes_set(call.settings, call.settings["moves"]):
        yield


def restore_random(call: Call) -> None:
    """Put the random states back to where they were when the call was captured."""
    restore_states(call.rng)
