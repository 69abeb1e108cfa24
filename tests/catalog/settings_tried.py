"""The settings of torch that compile_setting proposes, in every form, tried: run as a module, prints JSON."""

# mypy: ignore-errors

import contextlib
import io
import json
import sys
import threading
import warnings

import torch
import torch._dynamo as dynamo

from fullgraph.validate.worker.graphs.counting import watching

SCALARS = {"capture_scalar_outputs": True}
SHAPES = {"capture_dynamic_output_shape_ops": True}


def crop(x, n):
    return x[: n.max().item()] * 2


def masked(x, n):
    return x[x > 0].softmax(0)


def branch(x, n):
    return x * 2 if n.max().item() > 3 else x * 3


def loop(x, n):
    for index in range(n.max().item()):
        x = x + index
    return x


def listed(x, n):
    return x * [1, 2, 3, 4, 5, 6][n.max().item()]


def repeated(x, n):
    return x.repeat(n.max().item())


def viewed(x, n):
    return torch.nn.functional.linear(x[x > -9].view(-1, 1), torch.ones(3, 1))


def floats(x, n):
    return x + x.detach().tolist()[0]


def in_a_loop(x, n):
    for row in torch.nonzero(x.detach() > 0):
        x = x + row
    return x


def sliced(x, n):
    k = n.max().item()
    return x[:k] * 2


def sliced_told(x, n):
    k = n.max().item()
    if torch.compiler.is_compiling():
        torch._check(k >= 0)
    return x[:k] * 2


def column(x, n):
    return x.view(2, -1)[:, n.max().item() - 2]


def summed_up(x, n):
    return x[: n.max().item()].cumsum(0)


def summed_up_told(x, n):
    k = n.max().item()
    torch._check(k > 1)
    return x[:k].cumsum(0)


def sized(x, n):
    return (x * 2).sum()


def of_one_size(x, n):
    return x + torch.ones(8)


def marked(call, mark):
    def run(x, n):
        mark(x, 0)
        return call(x, n)

    return run


def watch(call, thread=False, sizes=(8, 8)):
    """Graphs, recompiles, breaks and the error of some calls, each with a backward."""
    error = []

    def run():
        try:
            for step, size in enumerate(sizes):
                out = call(torch.randn(size, requires_grad=True), torch.tensor([1, 2, 3 + step % 3]))
                out.sum().backward()
        except Exception as raised:
            error.append(type(raised).__name__)

    with watching(times_guards=False) as seen:
        if thread:
            started = threading.Thread(target=run)
            started.start()
            started.join()
        else:
            run()
    recompiles = sum(bool(frame.recompile) for frame in seen.frames)
    return [len(seen.graphs), recompiles, [one.id or one.kind for one in seen.breaks], *error]


def compiled(function, backend="aot_eager", **options):
    return torch.compile(function, backend=backend, **options)


def from_the_end(function):
    """What a slice by a negative number is, or how it fails."""
    fresh()
    told = dynamo.config.patch(**SCALARS)(compiled(function))
    try:
        return list(told(torch.ones(4), torch.tensor([-1])).shape)
    except RuntimeError as error:
        return str(error).splitlines()[0]


def fresh():
    dynamo.reset()
    for name in (*SCALARS, *SHAPES):
        setattr(dynamo.config, name, False)


def forms(function, settings):
    """What each form of a setting makes of one function."""
    patch = dynamo.config.patch(**settings)
    yield "none", lambda: watch(compiled(function))
    yield "statement", lambda: state(settings, lambda: watch(compiled(function)))
    yield "statement, another thread", lambda: state(settings, lambda: watch(compiled(function), thread=True))
    yield "decorator", lambda: watch(patch(compiled(function)))
    yield "decorator, another thread", lambda: watch(patch(compiled(function)), thread=True)
    yield "decorator below", lambda: watch(compiled(patch(function)))
    yield "fullgraph", lambda: watch(compiled(function, fullgraph=True))
    inner = patch(compiled(function))
    yield "decorator, called compiled", lambda: watch(compiled(lambda x, n: inner(x + 1, n) * 2))


def state(settings, run):
    for name, value in settings.items():
        setattr(dynamo.config, name, value)
    return run()


def printed(add):
    """What a compiled function prints and warns with keywords, with and without the setting."""
    fresh()

    def speak(x):
        y = x + 1
        print("a", end="")
        return y * 2

    patch = dynamo.config.patch(reorderable_logging_functions={print} if add else set())
    with patch, contextlib.redirect_stdout(io.StringIO()) as told:
        torch.compile(speak, backend="eager")(torch.ones(3))
    return told.getvalue()


def main() -> None:
    warnings.simplefilter("ignore")
    told = {}
    for function, settings in ((crop, SCALARS), (masked, SHAPES)):
        for name, run in forms(function, settings):
            fresh()
            told[f"{function.__name__}: {name}"] = run()
    for function in (branch, loop, listed, repeated, floats, viewed, in_a_loop):
        settings = SHAPES if function in (viewed, in_a_loop) else SCALARS
        fresh()
        told[f"{function.__name__}: decorator"] = watch(dynamo.config.patch(**settings)(compiled(function)))
    for function in (sliced, sliced_told):
        fresh()
        told[f"{function.__name__}: inductor"] = watch(dynamo.config.patch(**SCALARS)(compiled(function, "inductor")))
        told[f"{function.__name__}: from the end"] = from_the_end(function)
    for function in (column, summed_up, summed_up_told):
        fresh()
        told[f"{function.__name__}: decorator"] = watch(dynamo.config.patch(**SCALARS)(compiled(function)))
    for dynamic in (None, True, False):
        fresh()
        told[f"sizes: dynamic={dynamic}"] = watch(compiled(sized, dynamic=dynamic), sizes=range(3, 15))
    for mark in (dynamo.mark_dynamic, dynamo.maybe_mark_dynamic):
        for dynamic in (None, False):
            fresh()
            run = marked(compiled(sized, dynamic=dynamic), mark)
            told[f"sizes: {mark.__name__}, dynamic={dynamic}"] = watch(run, sizes=range(3, 15))
        fresh()
        told[f"one size: {mark.__name__}"] = watch(marked(compiled(of_one_size), mark))
    told["printed"], told["printed, put off"] = printed(False), printed(True)
    json.dump({"torch": torch.__version__, **told}, sys.__stdout__)


if __name__ == "__main__":
    main()
