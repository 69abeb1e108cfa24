"""Programs that call what torch does not trace."""

# mypy: ignore-errors

import contextlib
import copy
import itertools
import logging
import os
import random
import threading
import time
import warnings

import torch
import torch._dynamo as dynamo
from torch import nn

from .kinds import advised, breaks

log = logging.getLogger("provoked")
linear = nn.Linear(8, 8)
optimizer = torch.optim.SGD(linear.parameters(), lr=0.1)
generator = torch.Generator()


class Plain:
    pass


class Other:
    pass


@torch.compiler.disable
def kept_out(x):
    return x + 1


@breaks("GB0059")
@advised("printed", reorderable_logging_functions={print})
def printed(x):
    x = x + 1
    print("hello")
    return x * 2


@breaks("GB0059")
def text_of_a_tensor(x):
    y = x + 1
    return y * len(str(y))


@breaks("GB0059")
def range_of_a_tensor(x):
    for index in range((x > 0).sum()):
        x = x + index
    return x


@breaks("GB0059")
def names_at_run_time(x):
    globals()["at_run_time"] = 1
    return x + 1


@breaks("GB0059,GB0142")
def file(x):
    y = x + 1
    with open(os.devnull) as opened:
        opened.read()
    return y * 2


@breaks("GB0291")
def logged(x):
    x = x + 1
    log.debug("hello")
    return x * 2


@breaks("GB4841")
def logged_by_nobody(x):
    x = x + 1
    logging.debug("hello")
    return x * 2


@breaks("GB0007")
@advised("warned", reorderable_logging_functions={warnings.warn})
def warned(x):
    x = x + 1
    warnings.warn("hello")  # noqa: B028 - as people write it
    return x * 2


@breaks("GB0007")
def filtered(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = x + 1
    return x * 2


@breaks("GB0007")
def timed(x):
    y = x + 1
    return y * time.time()


@breaks("GB0007")
def drawn(x):
    return x + random.random()


@advised("drawn")
def drawn_by_torch(x):
    return x + torch.rand(())


@breaks("GB0007")
def seeded(x):
    torch.manual_seed(0)
    return x + torch.rand(8)


@breaks("GB0007,GB0142")
def locked(x):
    with threading.Lock():
        x = x + 1
    return x * 2


@breaks("GB0007")
def environment(x):
    os.environ["PROVOKED"] = "1"
    return x + 1


@breaks("GB0008")
def zero_grad(x):
    y = x + 1
    optimizer.zero_grad()
    return y * 2


@breaks("GB0025")
def step(x):
    y = x + 1
    optimizer.step()
    return y * 2


@breaks("GB0098")
def disabled(x):
    return kept_out(x * 2) * 2


@breaks("GB4297")
def skipped(x):
    y = x + 1
    dynamo.skip_frame("provoked")
    return y


@breaks("GB0147")
def local(x):
    y = x + 1
    made = threading.local()
    made.value = 1
    return y * made.value


@breaks("GB0156")
def storage(x):
    y = x + 1
    return y * y.untyped_storage().nbytes()


@advised("storage")
def own_bytes(x):
    return x * (x.numel() * x.element_size())


@breaks("GB0117")
def shared(x):
    y = x.detach() * 1
    y.share_memory_()
    return y * 2


@breaks("GB0055")
def from_a_generator(x):
    return x + torch.rand(8, generator=generator)


@breaks("GB7650")
def seeded_generator(x):
    generator.manual_seed(1)
    return x + 1


@breaks("GB0363,GB0055")
def made_generator(x):
    made = torch.Generator()
    return x + torch.rand(8, generator=made)


@breaks("GB0088")
def formatted(x):
    y = x + 1
    return y * len(f"{y.sum():.2f}")


@breaks("GB0262,GB0142")
def redirected(x):
    with contextlib.redirect_stdout(log):
        x = x + 1
    return x * 2


@breaks("GB8335")
def half_used(x):
    cycle = itertools.cycle([1, 2])
    return x + next(cycle), cycle


@breaks("GB0152,GB0811")
def grouped(x):
    return x + len([key for key, _ in itertools.groupby([x[0], x[1]], key=lambda value: value)])


@breaks("GB0069")
def imported(x):
    try:
        import nowhere_to_be_found

        x = x + nowhere_to_be_found.version
    except ImportError:
        x = x + 1
    return x + 1


@breaks("GB8977")
def class_inside(x):
    class Inside:
        value = 1

    return x + Inside.value


@breaks("GB4271")
def another_class(x):
    made = Plain()
    made.__class__ = Other
    return x + 1


@breaks("GB0092")
def traceback_kept(x):
    try:
        raise ValueError("x")
    except ValueError as error:
        return x + 1, error.__traceback__


@breaks("GB0467,GB0013")
def hook_of_a_module(x):
    handle = linear.register_forward_hook(lambda module, inputs, output: output)
    y = linear(x)
    handle.remove()
    return y


@breaks("GB4198")
def deep_copy(x):
    return copy.deepcopy(x.detach()) + 1


@advised("deep_copy")
def cloned(x):
    return x.detach().clone() + 1


@breaks("GB0569")
def shown(x):
    y = x + 1
    return y * len(repr(y))


@breaks("GB0208")
def offset(x):
    return x + x.storage_offset()


@breaks("GB5976")
def address(x):
    return x + (x.data_ptr() == 0)
