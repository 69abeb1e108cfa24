"""What a call stands in beside its arguments: modes, switches of the process, random states; taken, and put back."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Iterator
from typing import Any

import torch

KINDS = ("cpu", "cuda", "hpu", "mps", "xpu")


def take_modes() -> dict[str, Any]:
    return {"settings": {**read_modes(), **read_flags()}, "rng": random_states()}


# Modes


def read_modes() -> dict[str, Any]:
    """The modes in force, as plain values."""
    return {
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "autocast": [
            [kind, str(torch.get_autocast_dtype(kind)).partition(".")[2], torch.is_autocast_cache_enabled()]
            for kind in KINDS
            if is_autocast(kind)
        ],
    }


def is_autocast(kind: str) -> bool:
    try:
        return torch.is_autocast_enabled(kind)
    except (RuntimeError, TypeError):  # a device that this build does not know
        return False


@contextlib.contextmanager
def modes_set(held: dict[str, Any], moves: dict[str, str]) -> Iterator[None]:
    """Inside, these modes are in force; `moves` says which kind of device stands for which."""
    with contextlib.ExitStack() as stack:
        if held["inference"]:
            stack.enter_context(torch.inference_mode())
        stack.enter_context(torch.set_grad_enabled(held["grad"]))
        for kind, dtype, is_cached in held["autocast"]:
            target = moves.get(kind, kind)
            stack.enter_context(torch.autocast(target, dtype=getattr(torch, dtype), cache_enabled=is_cached))
        yield


# Switches of the whole process


def read_flags() -> dict[str, Any]:
    return {
        "dtype": str(torch.get_default_dtype()).partition(".")[2],
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "deterministic_warn_only": torch.is_deterministic_algorithms_warn_only_enabled(),
        "matmul_precision": torch.get_float32_matmul_precision(),
        "cudnn_benchmark": torch.backends.cudnn.benchmark,
        "cudnn_deterministic": torch.backends.cudnn.deterministic,
    }


@contextlib.contextmanager
def flags_set(held: dict[str, Any]) -> Iterator[None]:
    """Inside, the switches stand as they stood; only those that differ are touched."""
    before = read_flags()
    changed = {name for name in before if before[name] != held[name]}
    apply_flags(held, changed)
    try:
        yield
    finally:
        apply_flags(before, changed)


def apply_flags(held: dict[str, Any], changed: set[str]) -> None:
    if "dtype" in changed:
        torch.set_default_dtype(getattr(torch, held["dtype"]))
    if changed & {"deterministic", "deterministic_warn_only"}:
        torch.use_deterministic_algorithms(held["deterministic"], warn_only=held["deterministic_warn_only"])
    if "matmul_precision" in changed:
        torch.set_float32_matmul_precision(held["matmul_precision"])
    for name in changed & {"cudnn_benchmark", "cudnn_deterministic"}:
        setattr(torch.backends.cudnn, name.partition("_")[2], held[name])


# Random states


def random_states() -> dict[str, Any]:
    """As plain bytes: a tensor would be moved to another device together with the arguments."""
    states: dict[str, Any] = {"torch": bytes(torch.get_rng_state().tolist()), "python": random.getstate()}
    if "numpy" in sys.modules:
        states["numpy"] = sys.modules["numpy"].random.get_state()
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        states["cuda"] = [bytes(state.tolist()) for state in torch.cuda.get_rng_state_all()]
    return states


def restore_random(states: dict[str, Any]) -> None:
    torch.set_rng_state(as_tensor(states["torch"]))
    random.setstate(states["python"])
    if "numpy" in states and "numpy" in sys.modules:
        sys.modules["numpy"].random.set_state(states["numpy"])
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([as_tensor(state) for state in states["cuda"][: torch.cuda.device_count()]])


def as_tensor(state: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(state), dtype=torch.uint8)
