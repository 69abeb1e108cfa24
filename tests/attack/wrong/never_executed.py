"""The changed effect is never executed, though its line is: nobody can tell, and only undecided is right."""

from tests.attack.bank import Rewrite, calls

UNSEEN = """\
import torch
import torch.distributed as dist


def wait(x, streams=()):
    y = x * 2
    for stream in streams:
        torch.cuda.current_stream().wait_stream(stream)
    return y


def guarded(x):
    if x.is_cuda: torch.cuda.synchronize()
    return x + 1


def copied(x):
    y = x.to("cpu", non_blocking=False)
    return y + 1


def recorded(x):
    x.record_stream(torch.cuda.current_stream()) if x.is_cuda else None
    return x + 1


def callbacks(x, hooks=()):
    results = [hook(x) for hook in hooks]
    return x + len(results)


def chosen(x, double=False):
    return x * 2 if double else x + 0.5


def recovered(x):
    try: return x + 1
    except RuntimeError: return x - 1


def short(x, log=None):
    log is not None and log.append(len(x))
    return x + 1


def barrier(x):
    dist.barrier() if dist.is_initialized() else None
    return x + 1


def lazy(x):
    fallback = lambda: x.sum() * 2
    return x.mean() if len(x) else fallback()


def summed(x, others=()):
    return sum((other * 2 for other in others), x)


def decided(x, limit=100):
    while len(x) > limit: x = x[:-1] * 0.5
    return x + 1
"""


def row(name: str, old: str, new: str, subject: str) -> Rewrite:
    return Rewrite(name, UNSEEN, {old: new}, calls(f"module.{subject}", "(torch.ones(3),)"), "unseen")


ROWS = (
    row(
        "a wait on streams that are none",
        "    for stream in streams:\n        torch.cuda.current_stream().wait_stream(stream)\n",
        "    for stream in streams: pass\n",
        "wait",
    ),
    row(
        "a wait is awaited too early",
        "    y = x * 2\n    for stream in streams:\n        torch.cuda.current_stream().wait_stream(stream)\n",
        "    for stream in streams: stream.wait_stream(torch.cuda.current_stream())\n    y = x * 2\n",
        "wait",
    ),
    row(
        "a synchronisation on the CPU",
        "    if x.is_cuda: torch.cuda.synchronize()\n",
        "    if x.is_cuda: pass\n",
        "guarded",
    ),
    row("a copy that does not block", "non_blocking=False", "non_blocking=True", "copied"),
    row(
        "a record of a stream",
        "x.record_stream(torch.cuda.current_stream()) if x.is_cuda else None",
        "None",
        "recorded",
    ),
    row("an empty list of hooks", "hook(x) for hook", "hook(x * 2) for hook", "callbacks"),
    row("the other side of a choice", "x * 2 if double", "x * 3 if double", "chosen"),
    row(
        "a handler that never handles",
        "except RuntimeError: return x - 1",
        "except RuntimeError: return x - 2",
        "recovered",
    ),
    row("the right side of an and", "log.append(len(x))", "log.append(0)", "short"),
    row("a barrier without processes", "dist.barrier() if dist.is_initialized() else None", "None", "barrier"),
    row("a lambda that is never called", "lambda: x.sum() * 2", "lambda: x.sum() * 3", "lazy"),
    row("a sum of nothing", "other * 2 for", "other * 3 for", "summed"),
    row("a loop without rounds", "x = x[:-1] * 0.5", "x = x[1:] * 0.5", "decided"),
)
