"""What happened in one case, as plain values that can be stored and compared."""

from __future__ import annotations

import contextlib
import random
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from .flatten import Flattener, describe, tensors_in
from .gradients import take_gradients
from .leaf import Leaf, mask_addresses, name_type
from .listening import hear_logs, hear_stdout, hear_warnings, silenced, tell
from .objects import digest_text
from .surroundings import read_surroundings
from .tensors import digest, find_storage

__all__ = ["record_case", "seed_all", "silenced", "tensors_in"]


def record_case(
    subject: Any, call: Callable[..., Any], case: Any, device: Any, *, seed: int, backward: bool, logs: bool = False
) -> dict[str, Any]:
    """Run one case and tell all there is to see of it. `call` is the subject's own, or its compiled form."""
    inputs = describe_arguments(case)
    seed_all(seed, device)
    drawn = read_rng(device)
    started = time.perf_counter()
    with hear_warnings() as warned, hear_stdout() as printed, hear_logs(logs) as logged:
        output, error = run(call, case, device)
    record: dict[str, Any] = {"case": case.name, "seconds": time.perf_counter() - started, "inputs": inputs}
    record.update(warnings=warned, stdout=printed[0], logs=logged, exception=error)
    record.update(rng=read_rng(device), modes=read_modes(device), mutated=is_changed(inputs, describe_arguments(case)))
    record["random"] = record["rng"] != drawn
    with silenced():
        record.update(read_results(subject, case, output, seed=seed, backward=backward, raised=error is not None))
    return record


def seed_all(seed: int, device: Any) -> None:
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)
    torch.manual_seed(seed)
    device.seed(seed)


def run(call: Callable[..., Any], case: Any, device: Any) -> tuple[Any, list[str] | None]:
    """The output, and what was raised instead: type, text, traceback. An interrupt is the user's and passes."""
    try:
        output = call(*case.args, **case.kwargs)
        device.synchronize()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return None, tell_error(error)
    return output, None


def tell_error(error: BaseException) -> list[str]:
    own = error.__traceback__.tb_next if error.__traceback__ else None
    try:
        trace = "".join(traceback.format_exception(type(error), error, own, limit=-30))
    except Exception:
        trace = ""
    return [name_type(type(error)), mask_addresses(tell(error)), mask_addresses(trace)]


def read_results(subject: Any, case: Any, output: Any, *, seed: int, backward: bool, raised: bool) -> dict[str, Any]:
    """The output and what the case left behind, with one memory for all: an output that is an argument says so.

    `opaque` is what was asked for and cannot be compared; `unseen` the same of what is only looked at in passing.
    """
    opaque: list[list[str]] = []
    unseen: list[list[str]] = []
    flattener = Flattener(lambda *_: None)

    def read(value: object, path: str, refused: list[list[str]]) -> list[Leaf]:
        flattener.on_opaque = lambda *place: refused.append(list(place))
        return flattener.flatten(value, path)

    found = {"args": [*read(case.args, "args", unseen), *read(case.kwargs, "kwargs", unseen)]}
    state, refused = read_state(subject, output)
    if refused and not raised:
        opaque.append(["state", refused])
    found["state"] = read(state, "state", unseen if subject.reader is None else opaque)
    around = read_surroundings(subject.call) if subject.owner is None else {}
    found["surroundings"] = [leaf for path, value in around.items() for leaf in read(value, path, unseen)]
    known = list(flattener.tensors)
    replaced = subject.replaces_output and not raised
    found["output"] = read(output, "output", unseen if replaced else opaque)
    outputs = flattener.tensors[len(known) :]
    found["aliases"] = read_aliases(known, outputs)
    if replaced:
        found.update(output=[], aliases=[])
    found["grads"], error = take_gradients(outputs, known, seed) if backward and not raised else ([], None)
    return {**found, "backward": tell_error(error) if error else None, "opaque": opaque, "unseen": unseen}


def read_state(subject: Any, output: Any) -> tuple[Any, str]:
    """What to compare beside the output; and why it could not be read, if so."""
    try:
        return subject.state(output), ""
    except Exception as error:
        return None, f"value that state() did not give ({name_type(type(error))}: {tell(error)})"


def read_aliases(known: list[tuple[str, torch.Tensor]], outputs: list[tuple[str, torch.Tensor]]) -> list[Leaf]:
    """Outputs that share memory with an argument or the state, so that writing to one changes the other."""
    homes: dict[int, str] = {}
    for path, tensor in known:
        homes.setdefault(find_storage(tensor) or 0, path)
    homes.pop(0, None)
    shared = [(path, homes.get(find_storage(tensor) or 0)) for path, tensor in outputs]
    return [(path, "memory", home) for path, home in shared if home]


def describe_arguments(case: Any) -> list[Leaf]:
    with quietly():
        return describe((case.args, case.kwargs), "arguments")


def is_changed(before: list[Leaf], after: list[Leaf]) -> bool:
    """Whether arguments must be made anew for another run: an iterator, say, does not show that it is used up."""
    return before != after or any(kind == "opaque" for _, kind, _ in before)


def read_rng(device: Any) -> list[Leaf]:
    """Where each generator of random numbers stands."""
    leaves: list[Leaf] = [("rng.random", "state", digest_text(random.getstate()))]
    if "numpy" in sys.modules:
        kind, keys, *rest = sys.modules["numpy"].random.get_state()
        leaves.append(("rng.numpy", "state", digest_text((kind, keys.tobytes(), rest))))
    return [*leaves, *((f"rng.{name}", "state", digest(state)) for name, state in device.rng_state())]


def read_modes(device: Any) -> list[Leaf]:
    """Settings of torch that hold for the whole process, and that a call can leave behind."""
    kinds = sorted({"cpu", device.torch_device.type})
    modes: dict[str, Callable[[], object]] = {
        "grad": torch.is_grad_enabled,
        "inference": torch.is_inference_mode_enabled,
        "default dtype": torch.get_default_dtype,
        "default device": torch.get_default_device,
        "deterministic": torch.are_deterministic_algorithms_enabled,
        "float32 precision": torch.get_float32_matmul_precision,
        **{f"autocast {kind}": partial(torch.is_autocast_enabled, kind) for kind in kinds},
    }
    return [(f"modes[{name!r}]", "text", ask(mode)) for name, mode in modes.items()]


def ask(mode: Callable[[], object]) -> str:
    """torch 2.9 and later refuse to tell the precision once it was set in the newer of two ways."""
    try:
        return str(mode())
    except RuntimeError:
        return "not told"


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Inside, reading values says nothing, whatever torch thinks of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
