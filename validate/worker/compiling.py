"""torch.compile as the stages need it: options, caches, and whether the backend works here at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import torch

from .subject import Subject


def choose_options(settings: dict[str, Any], own: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The arguments for torch.compile: the command line wins over the scenario; and what there is to say about them."""
    given = {key: settings.get(key) for key in ("backend", "mode", "dynamic")}
    options = {**own, **{key: value for key, value in given.items() if value not in (None, "")}}
    if settings.get("fullgraph"):
        options["fullgraph"] = True
    options.setdefault("backend", "inductor")
    notices = []
    if options["backend"] != "inductor" and options.pop("mode", None) not in (None, "default"):
        notices.append("mode is for inductor only, and left out")
    if options.get("mode") in ("default", None):
        options.pop("mode", None)
    return options, notices


def is_compiled(call: Any) -> bool:
    is_module = isinstance(call, torch._dynamo.OptimizedModule)
    return is_module or hasattr(call, "_torchdynamo_orig_callable")


def compiled_form(subject: Subject, options: dict[str, Any], compiles_itself: bool) -> Callable[..., Any]:
    """What runs compiled. What is compiled by the user's own code stays as it is."""
    call = subject.call
    return call if compiles_itself or is_compiled(call) else torch.compile(call, **options)


def eagerly() -> contextlib.AbstractContextManager[None]:
    """Inside, also what is compiled by the user's own code runs as plain Python."""
    stance: contextlib.AbstractContextManager[None] = torch.compiler.set_stance("force_eager")
    return stance


@contextlib.contextmanager
def random_as_in_eager(wanted: bool) -> Iterator[None]:
    """Inside, inductor draws the numbers that eager mode would draw, so that the two can be compared."""
    if not wanted:
        yield
        return
    from torch._inductor import config

    before = config.fallback_random
    config.fallback_random = True
    try:
        yield
    finally:
        config.fallback_random = before


def reset() -> None:
    torch._dynamo.reset()


def forget_everything(folder: str) -> None:
    """Empty all caches of torch.compile: of this process, and on disk by giving it a new folder."""
    reset()
    from torch._inductor import utils

    clear = getattr(utils, "clear_caches", None) or getattr(utils, "clear_inductor_caches", None)
    if clear:
        clear()
    os.makedirs(folder, exist_ok=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp(dir=folder)
    os.environ["TRITON_CACHE_DIR"] = os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], "triton")


def warm_up(options: dict[str, Any], device: Any, shared_cache: str) -> str:
    """Compile one addition. Where inductor has no compiler, the options turn to aot_eager; says why, or nothing.

    What inductor builds once for a machine (headers, tests of the processor) is kept in a folder of its own.
    """
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = shared_cache
    x = torch.ones(8, device=device.torch_device)
    try:
        torch.compile(lambda x: x + 1, backend=options["backend"])(x)
    except Exception as error:
        if options["backend"] != "inductor":
            raise
        options.update(backend="aot_eager")
        options.pop("mode", None)
        return (str(error).strip().splitlines() or [type(error).__name__])[0]
    finally:
        reset()
    return ""
