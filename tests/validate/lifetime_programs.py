"""Small programs around a compiled net: some keep an output beyond its step, some look as if they did."""

from __future__ import annotations

import asyncio
import functools
import gc
import threading
import weakref
from collections import OrderedDict, deque, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

Net = Callable[[Tensor], Tensor]
Program = Callable[[Net, list[Tensor]], Any]
Pair = namedtuple("Pair", ["first", "second"])
mark_step: Any = torch.compiler.cudagraph_mark_step_begin
LAST: Any = None
SEEN: dict[str, Tensor] = {}


@dataclass
class Decision:
    scores: Any
    step: int = 0


class Slotted:
    __slots__ = ("scores",)
    scores: Any


class Controller:
    """Asks a net for scores, and remembers them in one way or another."""

    best: Any = None

    def __init__(self, net: Net) -> None:
        self.net = net
        self.scores: Any = None
        self.history: list[Any] = []
        self.by_step: dict[int, Any] = {}
        self.recent: deque[Any] = deque(maxlen=2)
        self.average: Any = None


PLANTED: dict[str, tuple[Program, str, str]] = {}
"""By name: the program, and the kind and the name of the hazard that it has."""

CLEAN: dict[str, Program] = {}


def planted(kind: str, holder: str) -> Callable[[Program], Program]:
    def add(program: Program) -> Program:
        PLANTED[program.__name__] = (program, kind, holder)
        return program

    return add


def clean(program: Program) -> Program:
    CLEAN[program.__name__] = program
    return program


# Kept beyond the step


@planted("attribute", "Controller.scores")
def attribute(net: Net, batches: list[Tensor]) -> None:
    controller = Controller(net)
    for batch in batches:
        controller.scores = controller.net(batch)


@planted("attribute", "Controller.best")
def class_attribute(net: Net, batches: list[Tensor]) -> None:
    for batch in batches:
        Controller.best = net(batch)
    Controller.best = None


@planted("attribute", "Slotted.scores")
def slot(net: Net, batches: list[Tensor]) -> None:
    held = Slotted()
    for batch in batches:
        held.scores = net(batch)
    del held


@planted("attribute", "SimpleNamespace.scores")
def namespace(net: Net, batches: list[Tensor]) -> None:
    held = SimpleNamespace()
    for batch in batches:
        held.scores = net(batch)


@planted("list item", "Controller.history[...]")
def list_of_an_object(net: Net, batches: list[Tensor]) -> None:
    controller = Controller(net)
    for batch in batches:
        controller.history.append(net(batch))


@planted("list item", "scores[...]")
def local_list(net: Net, batches: list[Tensor]) -> Tensor:
    scores = []
    for batch in batches:
        scores.append(net(batch))
    return torch.cat(scores)


@planted("list item", "a list[...]")
def comprehension(net: Net, batches: list[Tensor]) -> Tensor:
    return torch.stack([net(batch) for batch in batches])


@planted("dict value", "Controller.by_step[...]")
def dict_of_an_object(net: Net, batches: list[Tensor]) -> None:
    controller = Controller(net)
    for step, batch in enumerate(batches):
        controller.by_step[step] = net(batch)


@planted("dict value", "SEEN[...]")
def global_dict(net: Net, batches: list[Tensor]) -> None:
    for step, batch in enumerate(batches):
        SEEN[f"step {step}"] = net(batch)
    SEEN.clear()


@planted("deque item", "Controller.recent[...]")
def bounded_deque(net: Net, batches: list[Tensor]) -> None:
    controller = Controller(net)
    for batch in batches:
        controller.recent.append(net(batch))


@planted("set item", "kept[...]")
def set_of_tensors(net: Net, batches: list[Tensor]) -> int:
    kept = set()
    for batch in batches:
        kept.add(net(batch))
    return len(kept)


@planted("dict value", "kept[...]")
def ordered_dict(net: Net, batches: list[Tensor]) -> int:
    kept: OrderedDict[int, Tensor] = OrderedDict()
    for step, batch in enumerate(batches):
        kept[step] = net(batch)
    return len(kept)


@planted("global", "LAST")
def global_variable(net: Net, batches: list[Tensor]) -> None:
    global LAST
    for batch in batches:
        LAST = net(batch)
    LAST = None


@planted("closure", "remember:last")
def closure(net: Net, batches: list[Tensor]) -> Any:
    last = None

    def remember(batch: Tensor) -> Any:
        nonlocal last
        before, last = last, net(batch)
        return before is None

    return [remember(batch) for batch in batches]


@planted("default argument", "read:scores")
def default_argument(net: Net, batches: list[Tensor]) -> list[Any]:
    readers = []
    for batch in batches:

        def read(scores: Tensor = net(batch)) -> Tensor:  # noqa: B008
            return scores

        readers.append(read)
    return [len(readers)]


@planted("closure", "read:scores")
def lambda_in_a_list(net: Net, batches: list[Tensor]) -> int:
    def reader(batch: Tensor) -> Callable[[], Tensor]:
        scores = net(batch)

        def read() -> Tensor:
            return scores

        return read

    return len([reader(batch) for batch in batches])


@planted("cache", "score(...)")
def cached(net: Net, batches: list[Tensor]) -> None:
    @functools.lru_cache(maxsize=8)
    def score(step: int) -> Tensor:
        return net(batches[step])

    for step in range(len(batches)):
        score(step)


@planted("cache", "score(...)")
def cached_without_bound(net: Net, batches: list[Tensor]) -> None:
    @functools.cache
    def score(step: int) -> Tensor:
        return net(batches[step])

    for step in range(len(batches)):
        score(step)


@planted("attribute", "Decision.scores")
def dataclass_in_a_list(net: Net, batches: list[Tensor]) -> int:
    decisions = []
    for step, batch in enumerate(batches):
        decisions.append(Decision(net(batch), step))
    return len(decisions)


@planted("tuple element", "Controller.history[...][...]")
def tuple_in_a_list(net: Net, batches: list[Tensor]) -> None:
    controller = Controller(net)
    for step, batch in enumerate(batches):
        controller.history.append((step, net(batch)))


@planted("tuple element", "Controller.history[...].first")
def named_tuple(net: Net, batches: list[Tensor]) -> None:
    controller = Controller(net)
    for step, batch in enumerate(batches):
        controller.history.append(Pair(net(batch), step))


@planted("attribute", "Controller.scores")
def view(net: Net, batches: list[Tensor]) -> None:
    controller = Controller(net)
    for batch in batches:
        controller.scores = net(batch)[0, :2].view(-1)


@planted("attribute", "Controller.scores")
def detached(net: Net, batches: list[Tensor]) -> None:
    controller = Controller(net)
    for batch in batches:
        controller.scores = net(batch).detach()


@planted("attribute", "Controller.scores")
def array(net: Net, batches: list[Tensor]) -> None:
    controller = Controller(net)
    for batch in batches:
        controller.scores = net(batch).numpy()


@planted("list item", "rows[...]")
def rows_of_an_array(net: Net, batches: list[Tensor]) -> int:
    rows = []
    for batch in batches:
        rows.append(net(batch).numpy()[0])
    return len(rows)


@planted("local", "previous in compare_with_the_last")
def compare_with_the_last(net: Net, batches: list[Tensor]) -> list[float]:
    previous, changes = None, []
    for batch in batches:
        scores = net(batch)
        if previous is not None:
            changes.append((scores - previous).abs().max().item())
        previous = scores
    return changes


@planted("local", "first in two_results")
def two_results(net: Net, batches: list[Tensor]) -> Tensor:
    first = net(batches[0])
    second = net(batches[1])
    return first + second


@planted("local", "best in keep_the_best")
def keep_the_best(net: Net, batches: list[Tensor]) -> Any:
    best, top = None, -float("inf")
    for batch in batches:
        scores = net(batch)
        if best is None or scores.sum().item() > top:
            best, top = scores, scores.sum().item()
    return best


@planted("expression", "an expression")
def sum_of_two_calls(net: Net, batches: list[Tensor]) -> Tensor:
    return net(batches[0]) + net(batches[1])


@planted("attribute", "Controller.average")
def average_by_alias(net: Net, batches: list[Tensor]) -> None:
    controller = Controller(net)
    for batch in batches:
        scores = net(batch)
        controller.average = scores if controller.average is None else controller.average.mul_(0.9).add_(scores)


@planted("list item", "Logger.lines[...]")
def logging_buffer(net: Net, batches: list[Tensor]) -> None:
    class Logger:
        def __init__(self) -> None:
            self.lines: list[Any] = []

        def log(self, value: Tensor) -> None:
            self.lines.append(value)
            if len(self.lines) == 3:
                self.flush()

        def flush(self) -> None:
            [float(line.mean()) for line in self.lines]
            self.lines.clear()

    logger = Logger()
    for batch in batches:
        logger.log(net(batch))


def scores_of(net: Net, batches: list[Tensor]) -> Iterator[Tensor]:
    for batch in batches:
        yield net(batch)


@planted("list item", "kept[...]")
def yielded(net: Net, batches: list[Tensor]) -> Tensor:
    kept = []
    for scores in scores_of(net, batches):
        kept.append(scores)
    return torch.stack(kept)


@planted("generator", "differences:last")
def kept_in_a_generator(net: Net, batches: list[Tensor]) -> list[float]:
    def differences() -> Iterator[Tensor]:
        last = net(batches[0])
        for batch in batches[1:]:
            yield batch.sum()
            yield last.sum()

    steps = differences()
    next(steps)
    net(batches[0])
    return [float(one) for one in steps]


@planted("input", "")
def fed_back(net: Net, batches: list[Tensor]) -> float:
    state = batches[0]
    for _ in range(3):
        state = net(state)
    return float(state.sum())


@planted("returned", "the result")
def returned_dict(net: Net, batches: list[Tensor]) -> dict[int, Tensor]:
    return {step: net(batch) for step, batch in enumerate(batches)}


@planted("attribute", "Controller.scores")
def marked_but_not_cloned(net: Net, batches: list[Tensor]) -> None:
    controller = Controller(net)
    for batch in batches:
        mark_step()
        controller.scores = net(batch)


@planted("generator", "ask:scores")
def kept_while_others_run(net: Net, batches: list[Tensor]) -> Any:
    async def ask(batch: Tensor) -> float:
        scores = net(batch)
        await asyncio.sleep(0)
        return float(scores.sum())

    async def ask_all() -> list[float]:
        return await asyncio.gather(*(ask(batch) for batch in batches))

    return asyncio.run(ask_all())


@planted("dict value", "copies[...]")
def copies_that_are_none(net: Net, batches: list[Tensor]) -> int:
    copies = {}
    for step, batch in enumerate(batches):
        copies[step] = net(batch).to(torch.float32).cpu().contiguous()
    return len(copies)


@planted("list item", "kept[...]")
def many(net: Net, batches: list[Tensor]) -> float:
    kept = []
    for _ in range(60):
        kept.append(net(batches[0]))
    return float(sum(one.sum() for one in kept))


# Nothing is kept, or what is kept is a copy


@clean
def rebound_in_a_loop(net: Net, batches: list[Tensor]) -> float:
    for batch in batches:
        out = net(batch)
        total = out.sum().item()
    return total


@clean
def tuple_rebound_in_a_loop(net: Net, batches: list[Tensor]) -> None:
    for batch in batches:
        outs = net(batch).unbind(0)
        pair = (outs[0], {"rest": list(outs[1:])})
    del pair


@clean
def dataclass_rebound_in_a_loop(net: Net, batches: list[Tensor]) -> None:
    for step, batch in enumerate(batches):
        decision = Decision(net(batch), step)
        decision.scores.sum().item()


@clean
def cloned_attribute(net: Net, batches: list[Tensor]) -> Any:
    controller = Controller(net)
    for batch in batches:
        controller.scores = net(batch).clone()
    return controller.scores


@clean
def cloned_list(net: Net, batches: list[Tensor]) -> Tensor:
    return torch.stack([net(batch).clone() for batch in batches])


@clean
def cloned_view(net: Net, batches: list[Tensor]) -> int:
    rows = [net(batch)[0].clone() for batch in batches]
    return len(rows)


@clean
def cloned_and_fed_back(net: Net, batches: list[Tensor]) -> Tensor:
    state = batches[0]
    for _ in range(3):
        state = net(state).clone()
    return state


@clean
def new_tensor_kept(net: Net, batches: list[Tensor]) -> Tensor:
    kept = [net(batch) * 2 for batch in batches]
    return torch.stack(kept)


@clean
def copied_into_a_buffer(net: Net, batches: list[Tensor]) -> Tensor:
    store = torch.zeros(len(batches), *batches[0].shape)
    for step, batch in enumerate(batches):
        store[step].copy_(net(batch))
    return store


@clean
def numbers_kept(net: Net, batches: list[Tensor]) -> list[Any]:
    return [net(batch).sum().item() for batch in batches] + [net(batch).tolist() for batch in batches]


@clean
def copied_array(net: Net, batches: list[Tensor]) -> int:
    return len([net(batch).numpy().copy() for batch in batches])


@clean
def weak_reference(net: Net, batches: list[Tensor]) -> int:
    seen = []
    for batch in batches:
        seen.append(weakref.ref(net(batch)))
    return sum(one() is None for one in seen)


@clean
def dropped_before_the_next(net: Net, batches: list[Tensor]) -> None:
    controller = Controller(net)
    for batch in batches:
        controller.scores = net(batch)
        controller.scores.sum().item()
        controller.scores = None


@clean
def list_cleared_before_the_next(net: Net, batches: list[Tensor]) -> None:
    kept: list[Tensor] = []
    for batch in batches:
        kept.append(net(batch))
        kept.clear()


@clean
def garbage_in_a_cycle(net: Net, batches: list[Tensor]) -> None:
    for batch in batches:
        node: dict[str, Any] = {"scores": net(batch)}
        node["self"] = [node]
        del node


@clean
def passed_on_as_argument(net: Net, batches: list[Tensor]) -> float:
    def consume(scores: Tensor, batch: Tensor) -> float:
        value = scores.sum().item()
        return value + net(batch).sum().item()

    return consume(net(batches[0]), batches[1])


@clean
def passed_through_a_wrapper(net: Net, batches: list[Tensor]) -> float:
    def call(function: Any, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    def consume(scores: Tensor, *, batch: Tensor) -> float:
        value = scores.sum().item()
        del scores
        return value + net(batch).sum().item()

    return float(call(consume, net(batches[0]), batch=batches[1]))


@clean
def through_an_eager_module(net: Net, batches: list[Tensor]) -> float:
    class Head(torch.nn.Module):
        def forward(self, scores: Tensor) -> Tensor:
            value = scores.mean()
            return value + net(batches[1]).mean()

    return float(Head()(net(batches[0])))


@clean
def generator_consumed_at_once(net: Net, batches: list[Tensor]) -> float:
    return sum(float(scores.sum()) for scores in scores_of(net, batches))


@clean
def generator_in_a_loop(net: Net, batches: list[Tensor]) -> float:
    total = 0.0
    for scores in scores_of(net, batches):
        total += scores.sum().item()
    return total


@clean
def changed_in_place(net: Net, batches: list[Tensor]) -> list[float]:
    found = []
    for batch in batches:
        out = net(batch)
        out.mul_(2).add_(1)
        found.append(out.sum().item())
    return found


@clean
def after_an_exception(net: Net, batches: list[Tensor]) -> int:
    failed = 0
    for batch in batches:
        try:
            scores = net(batch)
            raise ValueError(float(scores.sum()))
        except ValueError:
            failed += 1
    return failed


@clean
def local_function_of_a_step(net: Net, batches: list[Tensor]) -> float:
    total = 0.0
    for batch in batches:
        scores = net(batch)
        total += (lambda: float(scores.sum()))()
    return total


@clean
def marked_and_cloned(net: Net, batches: list[Tensor]) -> list[Tensor]:
    def run(batch: Tensor) -> Tensor:
        mark_step()
        return net(batch).clone()

    return [run(batch) for batch in batches]


@clean
def one_step_of_marks(net: Net, batches: list[Tensor]) -> Tensor:
    mark_step()
    return net(batches[0]) + net(batches[1])


@clean
def in_a_thread(net: Net, batches: list[Tensor]) -> list[float]:
    found: list[float] = []

    def work() -> None:
        with torch.no_grad():
            for batch in batches:
                found.append(net(batch).sum().item())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found


@clean
def collected_by_hand(net: Net, batches: list[Tensor]) -> None:
    for batch in batches:
        net(batch)
        gc.collect()


@clean
def shapes_and_types_are_read(net: Net, batches: list[Tensor]) -> list[Any]:
    return [(tuple(net(batch).shape), net(batch).element_size()) for batch in batches]


@clean
def kept_error(net: Net, batches: list[Tensor]) -> int:
    errors = []
    for batch in batches:
        try:
            scores = net(batch)
            raise ValueError(float(scores.sum()))
        except ValueError as error:
            errors.append(error)
    return len(errors)


@clean
def coroutines_in_turns(net: Net, batches: list[Tensor]) -> Any:
    async def ask(batch: Tensor) -> float:
        scores = net(batch)
        total = float(scores.sum())
        await asyncio.sleep(0)
        return total

    async def ask_all() -> list[float]:
        return await asyncio.gather(*(ask(batch) for batch in batches))

    return asyncio.run(ask_all())


@clean
def threads_with_steps_of_their_own(net: Net, batches: list[Tensor]) -> list[float]:
    found: dict[int, float] = {}
    turn = threading.Barrier(2)

    def work(number: int) -> None:
        with torch.no_grad():
            scores = net(batches[number])
            turn.wait()
            found[number] = float(scores.sum())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[number] for number in range(2)]


@clean
def under_a_mode_of_the_users(net: Net, batches: list[Tensor]) -> list[float]:
    with FlopCounterMode(display=False), torch.device("cpu"):
        return [float(net(batch).sum()) for batch in batches]
