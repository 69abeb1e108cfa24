"""What happened in one case, as plain values that can be stored and compared."""

from __future__ import annotations

import contextlib
import random
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os import _exit, getpid
from typing import Any

import torch

from ..process.seal import digest_file
from .effects import hear_effects
from .flatten import Flattener, describe, tensors_in
from .gradients import take_gradients
from .leaf import Leaf, mask_addresses, name_type, read_attributes
from .listening import hear_logs, hear_streams, hear_warnings, silenced, tell, unpatched
from .memory import read_shared
from .objects import digest_text
from .surroundings import read_surroundings
from .tensors import digest

__all__ = ["record_case", "seed_all", "silenced", "store", "tensors_in"]

save = torch.save
OWN = getpid()
IMPORT, BUILD = "while it is imported", "while it is built"
CASE_SEED = 20_011
"""Cases are seeded from here on: code that seeds with a small number itself must not draw the same by chance."""


def record_case(
    subject: Any,
    call: Callable[..., Any],
    case: Any,
    device: Any,
    *,
    seed: int,
    backward: bool,
    second: bool = False,
) -> dict[str, Any]:
    """Run one case and tell all there is to see of it. `call` is the subject's own, or its compiled form."""
    inputs = describe_arguments(case)
    versions = read_versions(subject, case)
    seed_all(seed, device)
    drawn = read_rng(device)
    with hear_warnings() as warned, hear_streams() as said, hear_logs() as logged, hear_effects() as effects:
        output, error = run(call, case, device)
    record: dict[str, Any] = {"case": case.name, "inputs": inputs, "exception": error, **said, **logged, **effects}
    record.update(
        warnings=warned,
        rng=read_rng(device),
        modes=read_modes(device),
        mutated=is_changed(inputs, describe_arguments(case)),
    )
    record["random"] = record["rng"] != drawn
    raised = error is not None
    with silenced():
        results = Results(subject, case, output, raised)
        record.update(results.read(), written=results.find_written(versions))
        record.update(results.differentiate(seed, second) if backward and not raised else NO_GRADIENTS)
    return record


def record_making(load: Callable[[], Any], name: str) -> tuple[Any, dict[str, Any]]:
    """Import the scenario, or build a subject: what that gives, and a record as of a case without results."""
    with hear_warnings() as warned, hear_streams() as said, hear_logs() as logged, hear_effects() as effects:
        loaded = load()
    empty: dict[str, Any] = {name: [] for name in ("inputs", "output", "args", "state", "surroundings", "aliases")}
    empty.update(written=[], modes=[], rng=[], opaque=[], unseen=[], exception=None, mutated=False, random=False)
    told = {"case": name, **empty, **NO_GRADIENTS, **said, **logged, **effects, "warnings": warned}
    return loaded, told | ({"files": [], "contents": [], "contents_masked": []} if name == IMPORT else {})


def probe_gradients(subject: Any, case: Any, device: Any, seed: int) -> list[Leaf] | None:
    """What would arrive at arguments that ask for no gradient, if they did: they may come from a layer that trains.

    None where code does not run so: it writes into an argument, say.
    """
    given = Flattener(lambda *_: None, store=lambda _: None)
    given.flatten((case.args, case.kwargs), "arguments")
    asked = {id(tensor): (path, tensor) for path, tensor in given.tensors if may_ask(tensor)}
    for _, tensor in asked.values():
        tensor.requires_grad_()
    seed_all(seed, device)
    output, error = run(subject.call, case, device)
    if error is not None or not asked:
        return None
    made = Flattener(lambda *_: None, store=lambda _: None)
    made.flatten(output, "output")
    leaves, failure = take_gradients(made.tensors, list(asked.values()), seed)
    begins: list[Leaf] = [
        (f"{path} if arguments asked", "requires_grad", one.requires_grad) for path, one in made.tensors
    ]
    return None if failure else [*begins, *leaves]


def may_ask(tensor: torch.Tensor) -> bool:
    is_plain = type(tensor) is torch.Tensor and tensor.layout is torch.strided and tensor.is_floating_point()
    return is_plain and tensor.is_leaf and not tensor.requires_grad and not tensor.is_inference()


def differentiate(output: Any, case: Any, seed: int) -> None:
    """Run backward through an output, for whoever watches which lines run."""
    made, given = Flattener(lambda *_: None, store=lambda _: None), Flattener(lambda *_: None, store=lambda _: None)
    made.flatten(output, "output")
    given.flatten((case.args, case.kwargs), "arguments")
    take_gradients(made.tensors, given.tensors, seed)


def store(records: list[dict[str, Any]], file: str) -> dict[str, Any]:
    """Keep the records where the comparing process reads them; answers with what the controller must know of them."""
    save(records, file)
    failed = [kept for kept in records if kept["exception"]]
    return {
        "file": file,
        "digest": digest_file(file),
        "raised": [kept["case"] for kept in failed],
        "exceptions": [" ".join(kept["exception"][:2]) for kept in failed],
        "mutated": any(kept["mutated"] for kept in records),
        "random": any(kept["random"] for kept in records),
        "opaque": [[kept["case"], *place] for kept in records for place in kept["opaque"]],
        "unseen": [[kept["case"], *place] for kept in records for place in kept["unseen"]],
        "wrote": any(kept["files"] for kept in records),
    }


def seed_all(seed: int, device: Any) -> None:
    seed += CASE_SEED
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
    finally:
        end_copy()
    return output, None


def end_copy() -> None:
    """User code may have forked. Its child ends here: it would write the same records."""
    if getpid() != OWN:
        _exit(0)


def tell_error(error: BaseException) -> list[str]:
    own = error.__traceback__.tb_next if error.__traceback__ else None
    try:
        trace = "".join(traceback.format_exception(type(error), error, own, limit=-30))
    except Exception:
        trace = ""
    return [name_type(type(error)), mask_addresses(tell(error)), mask_addresses(trace), tell_more(error)]


def tell_more(error: BaseException) -> str:
    """What a handler can meet beside type and text: base classes, attributes, what it was raised from."""
    bases = ", ".join(name_type(kind) for kind in type(error).__mro__[1:-1])
    cause = "" if error.__suppress_context__ and error.__cause__ is None else error.__cause__ or error.__context__
    held = repr(describe([read_attributes(error), error.args], "held"))
    told = [bases, f"from {name_type(type(cause))}" if cause else "", held]
    return mask_addresses("; ".join(told))


Places = list[tuple[str, torch.Tensor]]
NO_GRADIENTS: dict[str, Any] = {"grads": [], "backward": None}


class Results:
    """The output and what the case left behind, with one memory for all: an output that is an argument says so.

    `opaque` is what was asked for and cannot be compared; `unseen` the same of what is only looked at in passing.
    """

    def __init__(self, subject: Any, case: Any, output: Any, raised: bool) -> None:
        self.subject, self.case, self.output, self.raised = subject, case, output, raised
        self.opaque: list[list[str]] = []
        self.unseen: list[list[str]] = []
        self.flattener = Flattener(lambda *_: None)
        self.own: Places = []
        """Tensors of the arguments and of the state; `known` has those of the surroundings, too."""

        self.known: Places = []
        self.outputs: Places = []

    def read(self) -> dict[str, Any]:
        tensors, subject = self.flattener.tensors, self.subject
        found = {"args": [*self.flatten(self.case.args, "args"), *self.flatten(self.case.kwargs, "kwargs")]}
        state, refused = read_state(subject, self.output)
        if refused and not self.raised:
            self.opaque.append(["state", refused])
        found["state"] = self.flatten(state, "state", is_asked_for=subject.reader is not None)
        self.own = list(tensors)
        found["surroundings"] = self.read_surroundings()
        self.known = list(tensors)
        replaced = subject.replaces_output and not self.raised
        found["output"] = self.flatten(self.output, "output", is_asked_for=not replaced)
        self.outputs = tensors[len(self.known) :]
        found["aliases"] = self.read_aliases()
        if replaced:
            found.update(output=[], aliases=[])
        return {**found, "opaque": self.opaque, "unseen": self.unseen}

    def flatten(self, value: object, path: str, *, is_asked_for: bool = False) -> list[Leaf]:
        refused = self.opaque if is_asked_for else self.unseen
        self.flattener.on_opaque = lambda *place: refused.append(list(place))
        return self.flattener.flatten(value, path)

    def read_surroundings(self) -> list[Leaf]:
        """To a limit for all of them; what cannot be looked into there is not told, as there is no end of it."""
        self.flattener.on_opaque = lambda *_: None
        leaves: list[Leaf] = []
        for path, value in read_surroundings(self.subject.roots).items():
            if len(leaves) > self.flattener.limit:
                self.unseen.append([path, f"{type(value).__name__} among more than {self.flattener.limit} leaves"])
                break
            leaves += self.flattener.flatten(value, path)
        return leaves

    def read_aliases(self) -> list[Leaf]:
        """Which tensors and arrays lie in the memory of which other ones, each told by its first place."""
        places: dict[int, tuple[str, Any]] = {}
        for path, value in [*self.known, *self.flattener.arrays]:
            places.setdefault(id(value), (path, value))
        inside = sorted(places.values(), key=lambda place: place[0].startswith("output"))
        return read_shared([*inside, *self.outputs])

    def find_written(self, versions: dict[str, tuple[torch.Tensor, int]]) -> list[Leaf]:
        """Tensors of arguments and state into which something was written, and parameters that are others now.

        An optimizer goes on with the old parameter, so an equal one is not the same.
        """
        leaves: list[Leaf] = []
        for path, tensor in (place for place in self.own if place[0] in versions):
            was, version = versions[path]
            if was is tensor and read_version(tensor) != version:
                leaves.append((path, "written", True))
            elif was is not tensor and isinstance(was, torch.nn.Parameter):
                leaves.append((path, "replaced", True))
        return leaves

    def differentiate(self, seed: int, second: bool) -> dict[str, Any]:
        leaves, error = take_gradients(self.outputs, self.known, seed, second=second)
        return {"grads": leaves, "backward": tell_error(error) if error else None}


def read_versions(subject: Any, case: Any) -> dict[str, tuple[torch.Tensor, int]]:
    """How often each tensor of arguments and state was written to until now."""
    flattener = Flattener(lambda *_: None, store=lambda _: None)
    with silenced():
        for value, path in ((case.args, "args"), (case.kwargs, "kwargs")):
            flattener.flatten(value, path)
        if subject.reader is None:
            flattener.flatten(subject.owner, "state")
    return {path: (tensor, read_version(tensor)) for path, tensor in flattener.tensors}


def read_version(tensor: torch.Tensor) -> int:
    """Tensors of inference mode have none."""
    return 0 if tensor.is_inference() else tensor._version


def describe_surroundings(roots: Sequence[str]) -> dict[str, str]:
    """A digest for each name, to tell whether two sides begin alike."""
    with silenced():
        return {path: digest_text(describe(value, path)) for path, value in read_surroundings(roots).items()}


def read_state(subject: Any, output: Any) -> tuple[Any, str]:
    """What to compare beside the output; and why it could not be read, if so."""
    try:
        return subject.state(output), ""
    except Exception as error:
        return None, f"value that state() did not give ({name_type(type(error))}: {tell(error)})"


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
        "only warned of": torch.is_deterministic_algorithms_warn_only_enabled,
        "threads": torch.get_num_threads,
        "anomalies": torch.is_anomaly_enabled,
        "cudnn": lambda: [getattr(torch.backends.cudnn, name) for name in ("enabled", "benchmark", "deterministic")],
        "float32 precision": torch.get_float32_matmul_precision,
        **{f"autocast {kind}": partial(torch.is_autocast_enabled, kind) for kind in kinds},
        **{f"autocast dtype {kind}": partial(torch.get_autocast_dtype, kind) for kind in kinds},
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
    with warnings.catch_warnings(), unpatched():
        warnings.simplefilter("ignore")
        yield
