"""Records of small functions, made in this process."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import torch

from fullgraph.validate.worker.devices.device import Device
from fullgraph.validate.worker.recording.compare import compare
from fullgraph.validate.worker.recording.record import record_case
from fullgraph.validate.worker.subject import Case, Subject, owner_of


def record(
    call: Callable[..., Any],
    *args: Any,
    run: Callable[..., Any] | None = None,
    reader: Callable[..., Any] | None = None,
    seed: int = 0,
    backward: bool = True,
    second: bool = False,
    roots: tuple[str, ...] = (),
    **kwargs: Any,
) -> dict[str, Any]:
    """What a side would record of one call; `run` is its compiled form."""
    case = Case("case 1", args, kwargs)
    subject = Subject(call, owner_of(call), [case], reader=reader, roots=roots)
    ran = call if run is None else run
    how: dict[str, Any] = {"seed": seed, "backward": backward, "second": second}
    made: dict[str, Any] = stored(record_case(subject, ran, case, Device(), **how))
    return made


def stored(value: Any) -> Any:
    """As it comes back from the file it is handed over in."""
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, weights_only=True, map_location="cpu")


def differences(first: dict[str, Any], second: dict[str, Any], **given: Any) -> list[dict[str, str]]:
    found: list[dict[str, str]] = compare(first, second, **{"between": "eager", "exact": True, **given})["differences"]
    return found


def places(first: dict[str, Any], second: dict[str, Any], **given: Any) -> list[tuple[str, str]]:
    """Where they differ, and in what."""
    return [(found["path"], found["what"]) for found in differences(first, second, **given)]
