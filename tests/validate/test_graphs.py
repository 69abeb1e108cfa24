"""Graphs, breaks and recompiles, each with the line that is to blame. Every trap of torch's own counts has its test."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from fullgraph.validate import model
from fullgraph.validate.worker.graphs import breaks, dynamo, frames, guards, places
from fullgraph.validate.worker.graphs import counting as graphs
from fullgraph.validate.worker.graphs.places import TORCH, Line
from fullgraph.validate.worker.graphs.stacks import join_stacks, tell_stack
from tests.validate import graph_programs as programs
from tests.validate.graph_programs import line_of

FILE = str(Path(programs.__file__).resolve())


@dataclass
class Case:
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass
class Subject:
    call: Callable[..., Any]
    cases: list[Case]


def run_case(call: Callable[..., Any], case: Case) -> BaseException | None:
    try:
        call(*case.args, **case.kwargs)
    except Exception as error:
        return error
    return None


def count(call: Callable[..., Any], *cases: tuple[Any, ...], **options: Any) -> dict[str, Any]:
    """Count with fresh arguments in every run, four ones if none are given."""

    def build() -> Subject:
        given = cases or ((torch.ones(4),),)
        return Subject(call, [Case(tuple(map(renew, args))) for args in given])

    return graphs.count_graphs(build(), run_case, rebuild=build, **options)


def renew(value: Any) -> Any:
    return value.detach().clone().requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) else value


def places_of(counted: dict[str, Any]) -> list[tuple[int, str]]:
    """Line and id of all breaks, which are all in the programs."""
    assert {one["file"] for one in counted["breaks"]} <= {FILE}
    return [(one["line"], one["id"]) for one in counted["breaks"]]


def recompiles_of(counted: dict[str, Any]) -> list[str]:
    return [one["recompile"] for one in counted["graphs"] if one["recompile"]]


# Where it breaks


@pytest.mark.parametrize(
    ("call", "mark", "id_", "function", "kind"),
    [
        (programs.lone_print, "lone print", "GB0059", "lone_print", "break"),
        (programs.print_in_loop, "in loop", "GB0059", "print_in_loop", "skipped"),
        (programs.item_in_loop, "item in loop", "GB0124", "item_in_loop", "skipped"),
        (programs.item_in_comprehension, "in comprehension", "GB0124", "item_in_comprehension", "break"),
        (programs.item_in_generator, "in generator", "GB0124", "item_in_generator", "skipped"),
        (programs.item_in_lambda, "in lambda", "GB0124", "item_in_lambda.<lambda>", "break"),
        (programs.inlined, "in helper", "GB0059", "helper", "break"),
        (programs.inlined_in_loop, "in helper", "GB0059", "helper", "skipped"),
        (programs.nested, "nested", "GB0059", "nested.inside", "break"),
        (programs.recursive, "recursive", "GB0059", "recursive", "break"),
        (programs.wrapped, "in wrapper", "GB0059", "traced.wrapper", "break"),
        (programs.branch_on_data, "branch", "GB0170", "branch_on_data", "break"),
        (programs.calls_switched_off, "disabled", "GB0098", "calls_switched_off", "break"),
        (programs.calls_once_off, "disabled once", "GB0099", "calls_once_off", "break"),
        (programs.warns, "warning", "GB0007", "warns", "break"),
        (programs.in_try, "in try", "GB0059", "in_try", "skipped"),
        (programs.in_context, "in context", "GB0059", "announced", "skipped"),
        (programs.explicit, "explicit", "GB0025", "explicit", "break"),
        (programs.scalar, "scalar", "GB0124", "scalar", "break"),
        (programs.same_name, "same name", "GB0170", "same_name.assert_close", "break"),
        (programs.Stack(), "in layer", "GB0170", "Layer.forward", "skipped"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_break_is_told_at_its_line(call: Any, mark: str, id_: str, function: str, kind: str) -> None:
    counted = count(call)
    assert places_of(counted) == [(line_of(mark), id_)]
    (one,) = counted["breaks"]
    assert (one["function"], one["kind"]) == (function, kind)
    assert one["reason"]
    assert one["hint"]
    assert "\n" not in one["reason"] + one["hint"]
    assert not counted["fullgraph"]
    assert f"{FILE}:{line_of(mark)}: {id_} " in counted["fullgraph_reason"]


def test_a_lone_print_has_no_graph_and_one_break() -> None:
    counted = count(programs.lone_print)
    assert counted["graphs"] == []
    assert counted["counts"]["places"] == 1


def test_a_break_in_a_loop_says_that_the_frame_is_skipped() -> None:
    counted = count(programs.print_in_loop)
    assert "graph break in loop: the whole frame is skipped" in counted["breaks"][0]["reason"]
    assert counted["graphs"] == []


def test_the_graphs_around_a_break_are_told_in_order() -> None:
    counted = count(programs.inlined)
    start = programs.helper.__code__.co_firstlineno
    outer = programs.inlined.__code__.co_firstlineno
    told = [(one["function"], one["line"], one["operators"], one["ended"]) for one in counted["graphs"]]
    assert told == [
        ("inlined", outer, 1, "break"),
        ("helper", start, 1, "break"),
        ("helper", line_of("in helper"), 1, "return"),
        ("inlined", outer + 1, 1, "return"),
    ]
    assert counted["breaks"][0]["count"] == 2


def test_a_break_in_a_hook_is_told() -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    net[0].register_forward_hook(programs.say_hook)
    assert places_of(count(net)) == [(line_of("in hook"), "GB0059")]


def test_two_kinds_of_break_on_one_line_are_two() -> None:
    here = line_of("two")
    assert places_of(count(programs.two_on_a_line)) == [(here, "GB0124"), (here, "GB0059")]


def test_what_breaks_inside_python_below_a_broken_line_is_the_same_break() -> None:
    counted = count(programs.logs_tensor)
    assert places_of(counted) == [(line_of("logging"), "GB0291")]
    assert counted["breaks"][0]["count"] > 1


def test_a_break_in_torchs_own_code_is_told_at_the_users_line() -> None:
    counted = count(programs.Trainer().step)
    assert places_of(counted) == [(line_of("backward"), "GB0123"), (line_of("optimizer"), "GB0025")]


def test_a_generator_that_a_skipped_frame_runs_is_told() -> None:
    counted = count(programs.feeds_on_generator)
    start = programs.parts.__code__.co_firstlineno
    assert places_of(counted) == [(line_of("between yields"), "GB0059"), (start, "GB0003")]


def test_a_break_is_found_whatever_the_program_does_to_logging() -> None:
    kept = {name: getattr(one, "disabled", False) for name, one in logging.root.manager.loggerDict.items()}
    root = logging.root.handlers[:]
    try:
        counted = count(programs.silences_logging)
        assert places_of(counted) == [(line_of("compiled"), "GB0059")]
        assert counted["counts"]["graphs"] == 2
    finally:
        logging.disable(logging.NOTSET)
        logging.root.handlers[:] = root
        for name, was in kept.items():
            logging.getLogger(name).disabled = was


def test_a_break_in_another_thread_is_found() -> None:
    assert places_of(count(programs.compiles_in_a_thread)) == [(line_of("compiled"), "GB0059")]


def test_a_place_that_breaks_again_by_a_recompile_is_one_break() -> None:
    counted = count(programs.sometimes_says, *[(torch.ones(size), True) for size in (4, 5)])
    assert places_of(counted) == [(line_of("loud"), "GB0059")]
    assert counted["breaks"][0]["count"] == 2


def test_a_break_in_a_later_case_is_found() -> None:
    counted = count(programs.sometimes_says, (torch.ones(4), False), (torch.ones(4), True))
    assert places_of(counted) == [(line_of("loud"), "GB0059")]
    assert recompiles_of(counted) == ["loud == False failed"]


def test_a_break_without_a_known_message_is_still_told() -> None:
    """Torch's structured log may lose one; that a graph ended is known from its reason too."""
    frame = frames.Frame(FILE, 7, "lone_print", outcome="compiled")
    frame.unlogged = [("something new", [places.Line(FILE, line_of("lone print"), "lone_print")])]
    (one,) = breaks.list_breaks([frame])
    assert (one.line, one.reason, one.kind) == (line_of("lone print"), "something new", "break")


# Frames that were not compiled


def test_a_case_that_raises_counts() -> None:
    counted = count(programs.raises, (torch.ones(4), False), (torch.ones(4), True))
    assert places_of(counted) == [(line_of("raised"), "GB0088")]
    assert counted["counts"]["graphs"] == 1


def test_an_operator_that_fails_while_tracing_is_an_error_and_not_a_crash() -> None:
    counted = count(programs.mismatched)
    (one,) = counted["breaks"]
    assert (one["line"], one["kind"]) == (line_of("mismatch"), "error")
    assert one["reason"].startswith("TorchRuntimeError: ")


@pytest.mark.parametrize("suppress", [False, True])
def test_a_backend_that_fails_is_an_error(suppress: bool) -> None:
    with torch._dynamo.config.patch(suppress_errors=suppress):
        counted = count(programs.compiled_by_bad_backend)
    (one,) = counted["breaks"]
    assert (one["line"], one["kind"]) == (line_of("bad backend"), "error")
    assert "this backend refuses" in one["reason"]


def test_without_a_graph_there_is_a_break() -> None:
    counted = count(programs.pure)
    (one,) = counted["breaks"]
    assert (one["line"], one["kind"]) == (programs.pure.__code__.co_firstlineno, "skipped")
    assert one["reason"] == "no graph was captured: No ops traced for the FX graph"
    assert not counted["fullgraph"]


def test_a_function_that_torch_gave_up_before_it_had_work_is_told() -> None:
    counted = count(programs.empty_at_first, (torch.ones(4),), (torch.ones(4), torch.ones(4)))
    (one,) = counted["breaks"]
    assert one["line"] == programs.empty_at_first.__code__.co_firstlineno
    assert one["reason"] == graphs.GIVEN_UP


def test_nothing_is_compiled_where_dynamo_is_off() -> None:
    with torch._dynamo.config.patch(disable=True):
        counted = count(programs.add_one)
    assert [one["reason"] for one in counted["breaks"]] == ["Dynamo tracing is disabled"]


def test_the_recompile_limit_is_told_as_a_skipped_frame() -> None:
    cases = [(torch.ones(4), f"text {number}") for number in range(12)]
    counted = count(programs.add_length, *cases)
    assert counted["counts"]["graphs"] == 8
    (one,) = counted["breaks"]
    assert (one["line"], one["id"]) == (programs.add_length.__code__.co_firstlineno, "GB0039")
    assert (one["kind"], one["count"]) == ("skipped", 1)
    assert "(at last text == 'text 7' failed)" in one["reason"]


# Recompiles


@pytest.mark.parametrize(
    ("call", "cases", "reasons"),
    [
        (programs.add_one, [(torch.ones(4),)] * 3, []),
        (
            programs.add_one,
            [(torch.ones(size),) for size in (4, 5, 6, 7)],
            ["tensor 'x' size mismatch at index 0. expected 4, actual 5"],
        ),
        (
            programs.add_one,
            [(torch.ones(4),), (torch.ones(4, dtype=torch.float64),)],
            ["tensor 'x' dtype mismatch. expected Float, actual Double"],
        ),
        (
            programs.add_one,
            [(torch.ones(4, requires_grad=True),), (torch.ones(4),)],
            ["tensor 'x' requires_grad mismatch. expected requires_grad=1"],
        ),
        (
            programs.add_all,
            [(torch.ones(4), {"a": torch.ones(4)}), (torch.ones(4), {"a": torch.ones(4), "b": torch.ones(4)})],
            ["len(terms) == 1 failed"],
        ),
        (
            programs.apply,
            [(nn.Linear(4, 4), torch.ones(4)), (nn.ReLU(), torch.ones(4))],
            ["type(module) is torch.nn.modules.linear.Linear failed"],
        ),
        (programs.apply, [(torch.sin, torch.ones(4)), (torch.cos, torch.ones(4))], ["module is another object"]),
        (programs.add_length, [(torch.ones(4), "a"), (torch.ones(4), "bb")], ["text == 'a' failed"]),
    ],
    ids=["none", "shape", "dtype", "requires_grad", "dict", "module", "function", "text"],
)
def test_a_recompile_names_the_guard_that_failed(call: Any, cases: list[Any], reasons: list[str]) -> None:
    counted = count(call, *cases)
    assert recompiles_of(counted) == reasons
    assert counted["counts"]["recompiles"] == len(reasons)
    assert counted["counts"]["graphs"] == len(reasons) + 1
    assert counted["breaks"] == []
    assert counted["fullgraph"]


def test_another_instance_of_a_module_is_no_recompile_in_this_version() -> None:
    cases = [(nn.Linear(4, 4), torch.ones(4)), (nn.Linear(4, 4), torch.ones(4))]
    assert recompiles_of(count(programs.apply, *cases)) == []


def test_another_grad_mode_is_a_recompile() -> None:
    with graphs.watching() as seen:
        call = torch.compile(programs.add_one, backend="eager")
        call(torch.ones(4, requires_grad=True))
        with torch.no_grad():
            call(torch.ones(4, requires_grad=True))
    torch._dynamo.reset()
    assert recompiles_of(seen.as_json()) == ["GLOBAL_STATE changed: grad_mode"]


def test_dynamic_shapes_are_passed_on() -> None:
    cases = [(torch.ones(size),) for size in (4, 5, 6)]
    assert recompiles_of(count(programs.add_one, *cases, dynamic=True)) == []
    assert len(recompiles_of(count(programs.add_one, *cases, dynamic=False))) == 2


def test_a_recompile_without_a_graph_is_told() -> None:
    counted = count(programs.recursive)
    empty = [one["recompile"] for one in counted["graphs"] if not one["operators"]]
    assert empty == ["depth != 0 failed"]


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("0/0: len(d) != 3", "len(d) == 3 failed"),
        ("0/1: L['k'] == 3                        # return x * k  # net.py:7 in f", "k == 3 failed"),
        ("0/0: G['p'].a == 1   # a  # b.py:1 in f\nUser stack trace:\n  File ...", "p.a == 1 failed"),
        ("[0/0]: ___check_type_id(mod, 94921472400672)", "type(mod) changed"),
        ("0/0: ___check_obj_id(L['self'].f, 139886478067568), type=<class 'x'>", "self.f is another object"),
        ("0/0: GLOBAL_STATE changed: grad_mode ", "GLOBAL_STATE changed: grad_mode"),
        ("0/0: object at 0x7f3a439841b0 died", "object at 0x... died"),
        ("Unable to find recompilation reasons", "Unable to find recompilation reasons"),
        ("", ""),
    ],
)
def test_a_guard_reads_like_a_sentence_and_has_no_addresses(reason: str, told: str) -> None:
    assert guards.read_guard(reason) == told


def test_guards_are_counted_and_timed() -> None:
    few = count(programs.add_one)["graphs"][0]
    many = count(programs.add_all, (torch.ones(4), {key: torch.ones(4) for key in range(20)}))["graphs"][0]
    assert 0 < few["guards"] < many["guards"]
    assert few["guard_us"] > 0
    assert many["guard_us"] > 0


# Code that compiles itself


def test_what_is_compiled_already_is_not_compiled_again() -> None:
    counted = count(programs.compiled_print)
    assert counted["compiles_itself"]
    assert places_of(counted) == [(line_of("compiled"), "GB0059")]
    assert [one["ended"] for one in counted["graphs"]] == ["break", "return"]


def test_a_compiled_method_and_a_compiled_module_count() -> None:
    assert places_of(count(programs.Compiled())) == [(line_of("method"), "GB0059")]
    assert places_of(count(programs.Compiled().forward)) == [(line_of("method"), "GB0059")]
    assert places_of(count(torch.compile(programs.Layer()))) == [(line_of("in layer"), "GB0170")]
    in_place = programs.Layer()
    in_place.compile()
    assert places_of(count(in_place)) == [(line_of("in layer"), "GB0170")]


def test_a_compiled_module_of_torchs_own_counts() -> None:
    counted = count(torch.compile(nn.Linear(4, 4)))
    assert [one["function"] for one in counted["graphs"]] == ["Linear.forward"]
    assert counted["fullgraph"]


def test_torch_compile_inside_a_function_counts_and_the_rest_is_left_eager() -> None:
    counted = count(programs.compiles_inside)
    assert [one["function"] for one in counted["graphs"]] == ["compiles_inside.<lambda>", "compiled_clean"]
    assert counted["breaks"] == []
    assert counted["fullgraph"]


def test_what_torch_compiles_on_its_own_does_not_count_as_the_users_doing() -> None:
    counted = count(programs.decides)
    assert not counted["compiles_itself"]
    assert [(one["function"], one["ended"]) for one in counted["graphs"]] == [("decides", "return")]
    assert counted["fullgraph"]


def test_a_break_where_the_user_wants_none_is_a_break() -> None:
    counted = count(programs.compiled_whole)
    assert places_of(counted) == [(line_of("whole"), "GB0059")]
    assert counted["breaks"][0]["kind"] == "break"


def test_inductor_is_not_needed_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **options: Any) -> Any:
        raise AssertionError("inductor was asked")

    monkeypatch.setattr("torch._inductor.compile_fx.compile_fx", fail)
    assert count(programs.compiled_clean)["counts"]["graphs"] == 1


# The whole as one graph


@pytest.mark.parametrize(
    "call",
    [
        programs.add_one,
        programs.Clean(),
        programs.Clean().forward,
        programs.Scale(),
        partial(programs.apply, torch.sin),
    ],
    ids=["function", "module", "method", "object", "partial"],
)
def test_clean_code_is_one_whole_graph(call: Any) -> None:
    counted = count(call)
    assert counted["breaks"] == []
    assert (counted["fullgraph"], counted["fullgraph_reason"]) == (True, "")
    (one,) = counted["graphs"]
    assert one["ended"] == "return"
    assert one["file"] == FILE


def test_a_whole_graph_is_never_claimed_beside_a_break() -> None:
    """Torch compiles this one with `fullgraph=True`: it then captures the scalar that breaks the graph otherwise."""
    torch._dynamo.reset()
    torch.compile(programs.scalar, fullgraph=True, backend="eager")(torch.ones(4))
    counted = count(programs.scalar)
    assert len(counted["breaks"]) == 1
    assert not counted["fullgraph"]


def test_a_break_that_only_the_second_run_shows_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the log had lost it: only what is raised is left."""

    def forget(frame: frames.Frame) -> Iterator[breaks.Event]:
        return (event for event in original(frame) if frame.outcome == "raised")

    original = breaks.list_events
    monkeypatch.setattr(breaks, "list_events", forget)
    counted = count(programs.inlined)
    assert places_of(counted) == [(line_of("in helper"), "GB0059")]


def test_a_refusal_of_the_whole_graph_has_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Older versions cannot forbid breaks, and the whole graph is then the only second opinion."""

    def forget(frame: frames.Frame) -> Iterator[breaks.Event]:
        return iter(())

    monkeypatch.setattr(breaks, "list_events", forget)
    monkeypatch.setattr(dynamo, "forbid_breaks", contextlib.nullcontext)
    counted = count(programs.inlined)
    assert not counted["fullgraph"]
    assert "print" in counted["fullgraph_reason"]


# Watching


def test_a_program_is_watched_without_compiling_anything() -> None:
    torch._dynamo.reset()
    with graphs.watching() as seen:
        programs.add_one(torch.ones(4))
        torch.compile(programs.sine, backend="aot_eager")(torch.ones(4))
    told = seen.as_json()
    assert [one["function"] for one in told["graphs"]] == ["sine"]
    assert told["breaks"] == []
    with graphs.watching() as nothing:
        programs.sine(torch.ones(4))
    assert nothing.as_json()["graphs"] == nothing.as_json()["breaks"] == []


def test_watching_changes_nothing_of_what_is_compiled() -> None:
    def compile_all() -> dict[str, dict[str, int]]:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        for call in (programs.inlined, programs.calls_once_off, programs.branch_on_data, programs.print_in_loop):
            torch.compile(call, backend="eager")(torch.ones(4))
        counters = torch._dynamo.utils.counters
        return {name: dict(counters[name]) for name in ("frames", "stats", "graph_break")}

    compile_all()
    alone = compile_all()
    with graphs.watching() as seen:
        watched = compile_all()
    assert watched == alone
    assert alone["stats"]["unique_graphs"] == len(seen.graphs)
    assert alone["stats"]["calls_captured"] == sum(frame.operators for frame in seen.graphs)


def test_everything_is_put_back() -> None:
    def look() -> list[Any]:
        trace, wrapper = dynamo.TRACE, torch._TorchCompileInductorWrapper
        patched = [torch._dynamo.convert_frame.CatchErrorsWrapper, torch._dynamo.convert_frame.ConvertFrameAssert]
        state: list[Any] = [dict(vars(trace)), list(trace.handlers), dict(torch._dynamo.config.get_config_copy())]
        state += [dict(vars(logging.getLogger(name))) for name in dynamo.BREAKS_LOGGERS]
        state += [vars(one).get("__call__") for one in (*patched, wrapper)]
        return [*state, vars(torch._dynamo.exc.SkipFrame).get("__init__"), torch._dynamo.utils._error_on_graph_break]

    before = look()
    count(programs.inlined)
    count(programs.add_one)
    with pytest.raises(KeyError), graphs.watching():
        raise KeyError
    after = look()
    assert [strip(one) for one in after] == [strip(one) for one in before]


def strip(state: Any) -> Any:
    """A logger's cache of levels is no state."""
    return {key: value for key, value in state.items() if key != "_cache"} if isinstance(state, dict) else state


def test_the_answer_is_json_that_the_model_takes() -> None:
    counted = count(programs.inlined, (torch.ones(4),), (torch.ones(5),))
    assert json.loads(json.dumps(counted)) == counted
    assert [model.Graph(**one) for one in counted["graphs"]]
    assert [model.Break(**one) for one in counted["breaks"]]
    assert {one.name for one in fields(model.Break)} | {"stacks"} == {one.name for one in fields(breaks.Break)}


# Other versions of torch


def test_a_message_of_an_older_torch_is_read() -> None:
    text = (
        f"Graph break in user code at {FILE}:{line_of('lone print')}\n"
        "Reason: Unsupported: builtin: print [<class 'ConstantVariable'>] False\n"
        "User code traceback:\n"
        f'  File "{FILE}", line {line_of("lone print")}, in lone_print\n'
        '    print("here")\n'
        "\n"
        "Traceback (most recent call last):\n"
        '  File "/torch/_dynamo/symbolic_convert.py", line 1, in wrapper\n'
    )
    (one,) = breaks.list_breaks([frames.Frame(FILE, 1, "lone_print", outcome="compiled", logged=[text])])
    assert (one.file, one.line, one.function) == (FILE, line_of("lone print"), "lone_print")
    assert one.reason == "Unsupported: builtin: print [<class 'ConstantVariable'>] False"


def test_code_that_an_older_torch_returns_bare_is_taken_for_compiled() -> None:
    @dataclass
    class Guarded:
        guard_manager: Any = None

    @dataclass
    class Result:
        guarded_code: Any

    bare = Guarded()
    assert frames.guarded_code(bare) is bare
    assert frames.guarded_code(Result(bare)) is bare
    assert frames.guarded_code(Result(None)) is None
    assert frames.guarded_code(None) is None


def test_a_loop_that_an_older_torch_skips_without_a_word_is_told() -> None:
    frame = frames.Frame(FILE, programs.print_in_loop.__code__.co_firstlineno, "print_in_loop", tensors=True)
    frame.skip = "Skipping frame because there is a graph break in a for/while loop"
    (one,) = breaks.list_breaks([frame])
    assert (one.line, one.kind) == (frame.line, "skipped")


def test_without_a_registry_there_are_no_ids_and_still_breaks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(breaks, "TORCH", str(tmp_path))
    breaks.read_registry.cache_clear()
    try:
        assert breaks.find_id("some message", "graph break in loop") == ""
        assert breaks.find_hint("some message", "GB0059") == ""
    finally:
        breaks.read_registry.cache_clear()


def test_the_registry_gives_the_id_where_the_message_has_no_link() -> None:
    assert breaks.find_id("Data-dependent branching", "Data-dependent branching") == "GB0170"
    assert breaks.find_hint("Data-dependent branching", "GB0170")


# How a break was reached


def test_a_stack_begins_where_code_is_compiled_and_has_no_halves() -> None:
    """A resumed half is called by the half before it, and is the same call of the program."""
    entrance = Line(os.path.join(TORCH, "_dynamo", "eval_frame.py"), 9, "compile_wrapper")
    half = Line(FILE, 4, "torch_dynamo_resume_in_step_at_3")
    callers = [Line(FILE, 1, "main"), entrance, Line(FILE, 3, "step"), half]
    stack = join_stacks(callers, "torch_dynamo_resume_in_step_at_4", [Line(FILE, 6, "step"), Line(FILE, 20, "inner")])
    told = [(line["line"], line["function"]) for line in tell_stack(stack)]
    assert told == [(6, "step"), (20, "inner")]


def test_a_function_that_calls_itself_is_there_twice() -> None:
    stack = join_stacks([Line(FILE, 3, "step")], "step", [Line(FILE, 3, "step"), Line(FILE, 5, "step")])
    assert [line["line"] for line in tell_stack(stack)] == [3, 3, 5]


def test_every_way_to_a_break_is_told() -> None:
    counted = count(programs.inlined, (torch.ones(4),))
    assert len(counted["stacks"]) == len(counted["breaks"])
    for one, ways in zip(counted["breaks"], counted["stacks"], strict=True):
        assert {(way[-1]["file"], way[-1]["line"]) for way in ways} == {(one["file"], one["line"])}
