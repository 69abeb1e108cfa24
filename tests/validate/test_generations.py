"""The rule of CUDA graphs: when outputs are overwritten, and what a program computes meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from fullgraph.validate.worker.lifetimes.auditor import Auditor
from fullgraph.validate.worker.lifetimes.hazards import Hazard

MODE = "reduce-overhead"
mark_step: Any = torch.compiler.cudagraph_mark_step_begin


@pytest.fixture(scope="module")
def installed() -> Iterator[Auditor]:
    torch._dynamo.reset()
    auditor = Auditor()
    with auditor.installed():
        yield auditor
    torch._dynamo.reset()


@pytest.fixture
def auditor(installed: Auditor) -> Iterator[Auditor]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    installed.begin_anew()
    with installed.watching():
        yield installed


def make_net(width: int = 4) -> Any:
    return nn.Sequential(nn.Linear(width, 8), nn.Tanh(), nn.Linear(8, width))


def compiled(function: Any, **options: Any) -> Any:
    return torch.compile(function, **{"mode": MODE, **options})


def hazards_of(auditor: Auditor) -> list[Hazard]:
    auditor.finish()
    return list(auditor.hazards.by_key.values())


def kinds(auditor: Auditor) -> set[str]:
    return {hazard.kind for hazard in hazards_of(auditor)}


def train(net: Any, steps: int = 3, zero_first: bool = False, set_to_none: bool = True) -> list[float]:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for step in range(steps):
        if zero_first:
            optimizer.zero_grad(set_to_none=set_to_none)
        loss = net(torch.full((3, 4), float(step + 1))).square().mean()
        if not zero_first:
            optimizer.zero_grad(set_to_none=set_to_none)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# Training


@pytest.mark.parametrize("zero_first", [True, False])
def test_a_training_loop_raises_no_alarm_and_learns_the_same(auditor: Auditor, zero_first: bool) -> None:
    net = make_net()
    plain = make_net()
    plain.load_state_dict(net.state_dict())
    losses = train(compiled(net), zero_first=zero_first)
    assert hazards_of(auditor) == []
    assert losses == pytest.approx(train(plain, zero_first=zero_first))


def test_a_loss_made_inside_and_read_after_the_next_step_is_a_hazard(auditor: Auditor) -> None:
    net = make_net()
    loss_of = compiled(lambda x: net(x).square().mean())
    losses = []
    for step in range(3):
        net.zero_grad()
        loss = loss_of(torch.full((3, 4), float(step)))
        loss.backward()
        losses.append(loss.detach())
    sum(float(loss) for loss in losses)
    [hazard] = hazards_of(auditor)
    assert (hazard.kind, hazard.holder, hazard.count) == ("list item", "losses[...]", 2)
    assert hazard.used_by == "item"


def test_a_loss_made_inside_and_read_at_once_is_none(auditor: Auditor) -> None:
    net = make_net()
    loss_of = compiled(lambda x: net(x).square().mean())
    for step in range(3):
        net.zero_grad()
        loss = loss_of(torch.full((3, 4), float(step)))
        loss.backward()
        loss.item()
    assert hazards_of(auditor) == []


def test_outputs_of_two_nets_live_until_a_backward_has_run(auditor: Auditor) -> None:
    body, head = compiled(make_net()), compiled(make_net())
    for _ in range(3):
        body.zero_grad(), head.zero_grad()
        hidden = body(torch.ones(3, 4))
        head(hidden).sum().backward()
        hidden.sum().item()
    assert hazards_of(auditor) == []
    assert auditor.generations.begun == 3


def test_without_gradients_the_second_net_overwrites_what_it_is_given(auditor: Auditor) -> None:
    body, head = compiled(make_net()), compiled(make_net())
    with torch.no_grad():
        head(body(torch.ones(3, 4)))
    [hazard] = hazards_of(auditor)
    assert hazard.kind == "input"


def test_an_evaluation_between_forward_and_backward_overwrites_nothing(auditor: Auditor) -> None:
    net = compiled(make_net())
    for _ in range(3):
        net.zero_grad()
        out = net(torch.ones(3, 4))
        with torch.no_grad():
            baseline = net(torch.zeros(3, 4))
        (out - baseline).sum().backward()
    assert hazards_of(auditor) == []


def test_after_any_backward_the_next_call_frees_what_another_backward_needs(auditor: Auditor) -> None:
    first, second, third = compiled(make_net()), compiled(make_net()), compiled(make_net())
    one, two = first(torch.ones(3, 4)).sum(), second(torch.ones(3, 4)).sum()
    one.backward()
    with torch.no_grad():
        third(torch.ones(3, 4))
    two.backward()
    found = [hazard for hazard in hazards_of(auditor) if hazard.kind == "backward"]
    assert found
    assert found[0].mark is None


@pytest.mark.parametrize("set_to_none", [True, False])
def test_old_gradients_that_are_dropped_are_no_hazard_but_zeroing_them_in_place_is(
    auditor: Auditor, set_to_none: bool
) -> None:
    train(compiled(make_net()), set_to_none=set_to_none)
    assert kinds(auditor) == (set() if set_to_none else {"gradient"})


def test_gradients_added_up_over_steps_are_a_hazard_unless_they_were_there_before(auditor: Auditor) -> None:
    net = make_net()
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)
    call = compiled(net)
    for _ in range(3):
        call(torch.ones(3, 4)).sum().backward()
    assert hazards_of(auditor) == []
    net.zero_grad(set_to_none=True)
    for _ in range(3):
        call(torch.ones(3, 4)).sum().backward()
    assert kinds(auditor) == {"gradient"}


def test_gradients_are_a_hazard_for_an_optimizer_that_begins_a_step_of_its_own(auditor: Auditor) -> None:
    net = make_net()
    optimizer = torch.optim.Adam(net.parameters())
    call, update = compiled(net), compiled(optimizer.step)
    for _ in range(3):
        call(torch.ones(3, 4)).sum().backward()
        update()
        optimizer.zero_grad()
    assert kinds(auditor) == {"gradient"}


# Marks


def test_a_mark_between_forward_and_backward_is_told_with_both_lines(auditor: Auditor) -> None:
    net = compiled(make_net())
    loss = net(torch.ones(3, 4)).sum()
    mark_step()
    loss.backward()
    [hazard] = hazards_of(auditor)
    first = test_a_mark_between_forward_and_backward_is_told_with_both_lines.__code__.co_firstlineno
    assert hazard.kind == "backward"
    assert hazard.pending
    assert hazard.made is not None
    assert hazard.mark is not None
    assert (hazard.made.line, hazard.mark.line) == (first + 2, first + 3)


def test_a_mark_frees_what_the_backward_of_another_net_needs(auditor: Auditor) -> None:
    policy, value = compiled(make_net()), compiled(make_net())
    loss = policy(torch.ones(3, 4)).sum()
    mark_step()
    loss = loss + value(torch.ones(3, 4)).sum()
    loss.backward()
    assert "backward" in kinds(auditor)


def test_a_mark_before_each_training_step_is_none(auditor: Auditor) -> None:
    net = compiled(make_net())
    for _ in range(3):
        mark_step()
        net.zero_grad()
        net(torch.ones(3, 4)).sum().backward()
    assert hazards_of(auditor) == []


def test_a_mark_with_no_backward_to_come_frees_nothing_that_is_needed(auditor: Auditor) -> None:
    net = compiled(make_net())
    for _ in range(3):
        mark_step()
        net(torch.ones(3, 4)).sum().item()
    assert hazards_of(auditor) == []


def test_in_a_program_that_marks_only_marks_begin_a_step(auditor: Auditor) -> None:
    net = compiled(make_net())
    with torch.no_grad():
        for _ in range(2):
            mark_step()
            first, second = net(torch.ones(3, 4)), net(torch.zeros(3, 4))
            float((first + second).sum())
    assert hazards_of(auditor) == []
    assert auditor.generations.begun == 2


# What is compiled, and what is followed


def test_calls_without_cuda_graphs_are_left_alone_unless_all_are_asked_for() -> None:
    for everything, expected in ((False, set()), (True, {"list item"})):
        torch._dynamo.reset()
        auditor = Auditor(everything)
        with auditor.installed(), auditor.watching(), torch.no_grad():
            net: Any = torch.compile(make_net())
            kept = [net(torch.ones(3, 4)), net(torch.ones(3, 4))]
            assert len(kept) == 2
            net(torch.ones(3, 4))
            kept.clear()
        assert kinds(auditor) == expected


@pytest.mark.parametrize(
    "options",
    [{"mode": "max-autotune"}, {"mode": None, "options": {"triton.cudagraphs": True}}, {"dynamic": True}],
)
def test_every_way_to_ask_for_cuda_graphs_counts(auditor: Auditor, options: dict[str, Any]) -> None:
    net = compiled(make_net(), **options)
    with torch.no_grad():
        kept = [net(torch.ones(3, 4)), net(torch.ones(3, 4))]
        net(torch.ones(3, 4))
    assert "list item" in kinds(auditor), len(kept)


def test_a_module_compiled_in_place_and_a_decorated_method_are_seen(auditor: Auditor) -> None:
    class Scorer:
        def __init__(self) -> None:
            self.net = make_net()
            self.last: Any = None

        @torch.compile(mode=MODE)
        def score(self, x: Tensor) -> Any:
            return self.net(x)

    module, scorer = make_net(), Scorer()
    module.compile(mode=MODE)
    with torch.no_grad():
        for _ in range(2):
            scorer.last = scorer.score(torch.ones(3, 4))
            module(torch.ones(3, 4))
    [hazard] = hazards_of(auditor)
    assert hazard.holder == "Scorer.last"


def test_outputs_that_are_inputs_or_parameters_have_no_buffer(auditor: Auditor) -> None:
    net = make_net()
    call = compiled(lambda x: (x, net[0].weight, x[0], net(x)))
    kept: Any = []
    with torch.no_grad():
        for _ in range(3):
            kept.append(call(torch.ones(3, 4))[:3])
    assert hazards_of(auditor) == []
    assert all(torch.equal(same, torch.ones(3, 4)) for same, *_ in kept)


def test_outputs_that_share_memory_are_one_buffer(auditor: Auditor) -> None:
    net = make_net()

    def both(x: Tensor) -> tuple[Tensor, Tensor]:
        y = net(x)
        return y, y.view(-1)

    call, kept = compiled(both), []
    with torch.no_grad():
        for _ in range(2):
            kept.append(call(torch.ones(3, 4))[1])
        call(torch.ones(3, 4))
    assert {(hazard.kind, hazard.count) for hazard in hazards_of(auditor)} == {("list item", 2)}
    kept.clear()


@dataclass
class Result:
    scores: Tensor
    name: str
    size: int


def test_outputs_in_objects_and_beside_plain_values_are_followed(auditor: Auditor) -> None:
    net = make_net()
    call = compiled(lambda x: Result(net(x), "scores", x.shape[0]))
    kept = []
    with torch.no_grad():
        for _ in range(3):
            result = call(torch.ones(3, 4))
            kept.append((result.name, result.size, result.scores.clone()))
    assert hazards_of(auditor) == []
    assert kept[0][:2] == ("scores", 3)


def test_an_attribute_set_inside_the_compiled_call_is_a_hazard(auditor: Auditor) -> None:
    class Remembering(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = make_net()
            self.hidden: Any = None

        def forward(self, x: Tensor) -> Any:
            self.hidden = self.net(x)
            return self.hidden + 1

    module = Remembering()
    call = compiled(module)
    with torch.no_grad():
        for _ in range(3):
            call(torch.ones(3, 4))
    assert "Remembering.hidden" in {hazard.holder for hazard in hazards_of(auditor)}


def test_what_a_hook_keeps_inside_the_compiled_call_is_a_hazard(auditor: Auditor) -> None:
    net, seen = make_net(), []
    net[1].register_forward_hook(lambda module, given, output: seen.append(output))
    call = compiled(net)
    with torch.no_grad():
        for _ in range(3):
            call(torch.ones(3, 4))
    assert "list item" in kinds(auditor)


def test_runs_that_change_their_inputs_are_not_in_cuda_graphs_and_keep_their_outputs(auditor: Auditor) -> None:
    def decode(x: Tensor, cache: Tensor) -> Tensor:
        cache[0] = x * 2
        return x + cache.sum(0)

    call, cache = compiled(decode), torch.zeros(4, 3, 4)
    with torch.no_grad():
        kept = [call(torch.ones(3, 4), cache) for _ in range(3)]
    assert hazards_of(auditor) == []
    assert auditor.skipped == 3
    assert all(torch.equal(one, torch.full((3, 4), 3.0)) for one in kept)


def test_buffers_that_a_module_changes_itself_do_not_keep_it_out_of_cuda_graphs(auditor: Auditor) -> None:
    net = nn.BatchNorm1d(4)
    call, kept = compiled(net), []
    with torch.no_grad():
        for _ in range(3):
            kept.append(call(torch.randn(8, 4)))
    assert kinds(auditor) == {"list item"}
    assert auditor.skipped == 0


def test_a_second_use_of_a_detached_output_after_a_backward_is_a_hazard(auditor: Auditor) -> None:
    make, judge = compiled(make_net()), compiled(make_net())
    for _ in range(2):
        make.zero_grad()
        judge.zero_grad()
        made = make(torch.ones(3, 4))
        judge(made.detach()).mean().backward()
        judge(made).mean().backward()
    assert {"input", "backward"} <= kinds(auditor)


# Nothing else changes


def breaking(x: Tensor) -> Any:
    y = torch.tanh(x) * 2
    torch._dynamo.graph_break()
    z = y + 1
    torch._dynamo.graph_break()
    return y * z


def in_place(x: Tensor) -> Tensor:
    x.add_(1)
    return x * 2


def failing(x: Tensor) -> Tensor:
    y = x * 2
    torch._dynamo.graph_break()
    if y.shape[0] > 3:
        raise ValueError("too many rows")
    return y


PLAIN: dict[str, Callable[[Any], Any]] = {
    "graph breaks are one step": lambda call: [call(breaking)(torch.ones(3, 4) * k).clone() for k in range(3)],
    "inputs change in place": lambda call: [call(in_place)(torch.ones(3, 4) * k).clone() for k in range(3)],
    "two shapes": lambda call: [call(torch.tanh)(torch.ones(n, 4)).clone() for n in (2, 3, 2, 5, 3)],
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_program_computes_what_it_would_without_audit(auditor: Auditor, name: str) -> None:
    made: dict[Any, Any] = {}
    with torch.no_grad():
        audited = PLAIN[name](lambda function: made.setdefault(function, compiled(function)))
        plain = PLAIN[name](lambda function: function)
    assert hazards_of(auditor) == []
    torch.testing.assert_close(audited, plain, rtol=0, atol=0)


def test_an_exception_inside_ends_the_call_and_nothing_else(auditor: Auditor) -> None:
    call = compiled(failing)
    with torch.no_grad():
        with pytest.raises(ValueError, match="too many rows"):
            call(torch.ones(4, 4))
        assert float(call(torch.ones(2, 4)).sum()) == 16
    assert auditor.calls.entered == []
    assert hazards_of(auditor) == []


def test_nested_compiled_functions_compute_the_same(auditor: Auditor) -> None:
    inner = compiled(lambda x: torch.tanh(x) + 1)

    def outer(x: Tensor) -> Any:
        y = inner(x) * 2
        return y + 1

    call = compiled(outer)
    with torch.no_grad():
        for k in range(3):
            out = call(torch.ones(3, 4) * k)
            assert torch.equal(out, (torch.tanh(torch.ones(3, 4) * k) + 1) * 2 + 1)
    assert hazards_of(auditor) == []


def test_dropout_batch_norm_and_modes_behave_as_without_audit(auditor: Auditor) -> None:
    net: Any = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    call = compiled(net)
    for _ in range(2):
        call.train()
        call(torch.randn(8, 4)).sum().backward()
        net.zero_grad()
        call.eval()
        with torch.inference_mode():
            float(call(torch.randn(8, 4)).sum())
    assert hazards_of(auditor) == []
    assert not torch.isnan(net[1].running_mean).any()


def test_autocast_raises_no_alarm(auditor: Auditor) -> None:
    net = compiled(make_net())
    for _ in range(3):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = net(torch.ones(3, 4)).float().sum()
        loss.backward()
        assert not torch.isnan(loss)
        net.zero_grad()
    assert hazards_of(auditor) == []


def test_a_checkpoint_around_a_compiled_net_learns_the_same(auditor: Auditor) -> None:
    net = make_net()
    call = compiled(net)
    for _ in range(2):
        net.zero_grad()
        out = checkpoint(call, torch.ones(3, 4, requires_grad=True), use_reentrant=False)
        out.sum().backward()
    found = net[0].weight.grad.clone()
    net.zero_grad()
    net(torch.ones(3, 4)).sum().backward()
    torch.testing.assert_close(found, net[0].weight.grad)
    assert hazards_of(auditor) == []


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.complex64, torch.int64, torch.uint8, torch.bool])
def test_what_is_overwritten_reads_as_something_else(auditor: Auditor, dtype: torch.dtype) -> None:
    call = compiled(lambda x: (x * 2).to(dtype))
    source = torch.ones(3, 4)
    with torch.no_grad():
        first = call(source)
        second = call(source)
    assert not torch.equal(first, second)
    assert torch.equal(second, (source * 2).to(dtype))
