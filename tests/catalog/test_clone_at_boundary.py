"""Boundaries under the rule of CUDA graphs: every rewritten fixture runs on buffers that the next step overwrites."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import runpy
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from fullgraph import Project
from fullgraph.codemods.registry import codemod_named
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.topics.boundaries.screen import may_use_graphs
from fullgraph.codemods.topics.boundaries.steps import TEXT
from tests import written_tests
from tests.cases import FIXTURES, Case, all_cases, apply

CASES = {case.folder.name: case for case in all_cases("clone_at_boundary") if any(case.folder.glob("after*"))}


class Graphs:
    """Stands in for torch.compile with CUDA graphs: when a step begins, all outputs of the last one are overwritten.

    A step begins with a call while no backward pass is awaited, or after a mark. `destroyed` counts the marks that
    took away what an awaited backward pass needs.
    """

    def __init__(self) -> None:
        self.outputs: list[torch.Tensor] = []
        self.is_marked = self.is_awaited = self.is_running = False
        self.marks = self.destroyed = 0

    def mark(self) -> None:
        self.is_marked = True
        self.marks += 1

    def compile(self, model: Any = None, **options: Any) -> Any:
        if model is None:
            return lambda function: self.compile(function, **options)
        if isinstance(model, nn.Module):
            return Compiled(self, model)

        def run(*args: Any, **kwargs: Any) -> Any:
            return self.run(model, args, kwargs)

        return run

    def run(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if self.is_running:
            return function(*args, **kwargs)
        if self.is_marked or not self.is_awaited:
            self.begin_step()
        self.is_running = True
        try:
            made = changed(function(*args, **kwargs), torch.Tensor.clone)
        finally:
            self.is_running = False
        changed(made, self.note)
        return made

    def begin_step(self) -> None:
        self.destroyed += self.is_marked and self.is_awaited
        for output in self.outputs:
            output.fill_(float("nan") if output.is_floating_point() else -1)
        self.outputs, self.is_marked, self.is_awaited = [], False, False

    def note(self, output: torch.Tensor) -> torch.Tensor:
        self.outputs.append(output.detach())
        if output.grad_fn is not None:
            self.is_awaited = True
            output.grad_fn.register_hook(lambda *gradients: setattr(self, "is_awaited", False))
        return output


class Compiled(nn.Module):
    def __init__(self, graphs: Graphs, inner: nn.Module) -> None:
        super().__init__()
        self.graphs, self.inner = graphs, inner

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.graphs.run(self.inner, args, kwargs)


class NoGraphs(Graphs):
    """Plain torch: nothing is ever overwritten."""

    def begin_step(self) -> None:
        self.is_marked = False


def changed(tree: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(tree, torch.Tensor):
        return change(tree)
    if isinstance(tree, tuple):
        parts = [changed(part, change) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    if isinstance(tree, dict):
        return {name: changed(part, change) for name, part in tree.items()}
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        fields = {field.name: changed(getattr(tree, field.name), change) for field in dataclasses.fields(tree)}
        return dataclasses.replace(tree, **fields)
    return tree


def rows(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*(shape or (6, 4)), generator=torch.Generator().manual_seed(seed))


def run_shelf(*methods: str) -> Callable[[ModuleType], Any]:
    """Ask a `Shelf` twice for each method, and look at all that it holds."""

    def drive(module: ModuleType) -> Any:
        shelf, seen = module.Shelf(4), []
        for seed in (1, 2):
            seen += [getattr(shelf, method)(rows(seed)) for method in methods]
            seen.append({name: value for name, value in vars(shelf).items() if not isinstance(value, nn.Module)})
        return seen

    return drive


def run_film(module: ModuleType) -> Any:
    film = module.Film()
    made = [film.shoot(rows(seed), rows(seed + 1)) for seed in (1, 2)]
    return made, film.frame, film.next


def run_shop(module: ModuleType) -> Any:
    shop = module.Shop(4)
    for seed in (1, 2):
        shop.open(rows(seed))
    return shop.log.lines


def run_pages(module: ModuleType) -> Any:
    view = importlib.import_module("shop.view")
    page = SimpleNamespace()
    view.draw(page, rows(1))
    view.store("a", rows(2))
    module.warm_up()
    return page.scores, view.PAGES


def run_game(module: ModuleType) -> Any:
    game = module.Game()
    return [game.play(rows(seed, 5, 6)) for seed in (1, 2)], game.moves


def run_tracker(module: ModuleType) -> Any:
    tracker = module.Tracker()
    first = [tracker.track(rows(1, 3, 5)), dict(tracker.latest)]
    return first, tracker.track(rows(2, 3, 5)), tracker.latest


def run_monitor(module: ModuleType) -> Any:
    monitor, seen = module.Monitor(), []
    for seed in (1, 2):
        seen.append((monitor.watch(rows(seed, 4, 3)), monitor.trend))
    return seen


def run_mixer(module: ModuleType) -> Any:
    mixer = module.Mixer(rows(0, 4, 4))
    return [mixer.run(rows(seed)) for seed in (1, 2)], mixer.kept


def run_peaks(module: ModuleType) -> Any:
    module.listen("a", rows(1))
    module.listen("b", rows(2))
    return module.HIGHEST


def run_panel(module: ModuleType) -> Any:
    panel = module.Panel()
    panel.show(rows(1))
    module.remember(rows(2))
    latest = module.LATEST
    module.remember(rows(3))
    return panel.on_click(), latest, module.LATEST


def run_globals(module: ModuleType) -> Any:
    for seed in (1, 2):
        module.rank(rows(seed))
    return module.SEEN


def run_bed(module: ModuleType) -> Any:
    bed, seen = module.Bed(4), []
    for seed in (1, 2, 3):
        loss, given = bed.learn(rows(seed), rows(seed, 6))
        seen.append((loss, given, bed.wanted, bed.thirstiest(rows(seed))))
    return seen, list(bed.thirst.state_dict().values())


def run_runner(module: ModuleType) -> Any:
    runner, seen = module.Runner(nn.LSTM(4, 3)), []
    for seed in (1, 2):
        runner.run(rows(seed))
        seen.append(runner.outputs)
    return seen


def run_ranking(module: ModuleType) -> Any:
    others = [importlib.import_module(name) for name in ("page", "panel")]
    made = [(module.rank(rows(seed)), *(other.best(rows(seed))[:2] for other in others)) for seed in (1, 2)]
    return made, module.SEEN


def run_odd_panel(module: ModuleType) -> Any:
    module.load(4)
    panel, seen = module.Panel(), []
    for seed in (1, 2):
        seen += [panel.show(rows(seed)), dict(vars(panel))]
    return seen, module.SEEN


def run_school(module: ModuleType) -> Any:
    school = module.School(4)
    losses = [school.learn(rows(seed)) for seed in (1, 2)]
    return losses, [parameter.grad for parameter in school.student.parameters()]


def run_store(module: ModuleType) -> Any:
    split = importlib.import_module("store.split")
    made = []
    shelf = module.Shelf(4)
    for seed in (1, 2):
        shelf.rank(rows(seed))
        split.collect(rows(seed))
        made.append(shelf.last)
    return made, split.PARTS


def run_odd_keepers(module: ModuleType) -> Any:
    shelf = module.Shelf(4)
    made = [shelf.rank(rows(seed)) for seed in (1, 2)]
    notes = [note.scores for note in shelf.notes]
    kept = [shelf.first, shelf.same_scores, shelf.positive, shelf.front, shelf.spread]
    return made, shelf.by_name, [later() for later in shelf.later], notes, kept


def run_fast_shelf(module: ModuleType) -> Any:
    shelf, seen = module.FastShelf(4), []
    for seed in (1, 2):
        shelf.rank(rows(seed))
        seen.append(shelf.last)
    return seen


def run_switched_on(module: ModuleType) -> Any:
    config = importlib.import_module("torch._inductor.config")
    assert config.triton.cudagraphs
    config.triton.cudagraphs = False
    return run_shelf("rank")(module)


def run_grades(module: ModuleType) -> Any:
    shelf, seen = module.Shelf(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)), []
    for seed in (1, 2):
        shelf.grade(rows(seed))
        seen.append(shelf.last)
    return seen


def run_other_ways(module: ModuleType) -> Any:
    shelf, attributes, named, static = (
        kind(torch.nn.Linear(4, 4)) for kind in (module.Shelf, module.Attributes, module.Named, module.Static)
    )
    seen = []
    for seed in (1, 2):
        shelf.broken_off([100 * rows(seed)])
        for one in (attributes, named, static):
            one.score(rows(seed))
        seen.append((shelf.last, attributes.best, static.kept))
    return seen, named.seen


DRIVERS: dict[str, Callable[[ModuleType], Any]] = {
    **dict.fromkeys(["basic", "always", "boundary_is_there", "modes_all", "tabs_and_crlf"], run_shelf("rank")),
    **dict.fromkeys(
        ["getter", "compiled_on_condition", "mark_without_a_copy", "stays_direct_in_compiled_code"], run_shelf("rank")
    ),
    **dict.fromkeys(["clone_in_a_loop", "given_to_own_functions", "imported_grad"], run_shelf("rank")),
    "wrapped_by_own_function": run_shelf("rank"),
    "switched_on_elsewhere": run_switched_on,
    "odd_keepers": run_odd_keepers,
    "overriding_method": run_fast_shelf,
    "cached": lambda module: [module.grid(3), module.grid(4), module.grid(3)],
    "clones_by_hand": run_shelf("rank", "sample"),
    "dataclass_output": run_monitor,
    "decorated_method": run_mixer,
    "dict_output": run_tracker,
    "global_and_closure": run_panel,
    "global_on_condition": run_globals,
    "handed_to_the_next": lambda module: module.restore(rows(1)),
    "imported_with_others": run_ranking,
    "kept_by_a_handler": run_grades,
    "kept_in_other_ways": run_other_ways,
    "main_block": lambda module: runpy.run_path(str(module.__file__), run_name="__main__")["made"],
    "mixed_calls": lambda module: [
        (shelf := module.Shelf(4)).rank("a", rows(1)),
        shelf.best(rows(2)),
        shelf.worst(rows(3)),
        shelf.rank("a", rows(4)),
        shelf.cache,
    ],
    "mode_not_said": lambda module: [
        (shelf := module.Shelf(4, "reduce-overhead")).rank(rows(1)),
        (first := shelf.last),
        shelf.rank(rows(2)),
        first,
    ],
    "namedtuple_output": run_peaks,
    "nested": lambda module: [module.look(rows(1)), module.look(rows(2)), module.SEEN],
    "odd_layout": run_odd_panel,
    "one_expression": lambda module: [module.compare(rows(1), rows(2)), module.both([rows(1), rows(2)])],
    "other_module": run_pages,
    "previous_iteration": lambda module: module.settle(rows(1)),
    "returned_to_keeper": run_shop,
    "signatures": run_film,
    "teacher_and_student": run_school,
    "training_step": run_bed,
    "tuple_output": run_game,
    "two_calls": lambda module: module.compare(4, rows(1), rows(2)),
    "unknown_form": run_runner,
    "with_tests": run_store,
    "yielded": lambda module: list(module.Shelf(4).stream([rows(1), rows(2)])),
}
HOMES = {
    **dict.fromkeys(["imported_grad", "switched_on_elsewhere", "wrapped_by_own_function"], "shelf"),
    "imported_with_others": "ranking",
    "other_module": "shop.ranking",
    "teacher_and_student": "school",
    "training_step": "garden.bed",
    "unknown_form": "runner",
    "with_tests": "store.shelf",
}
RIGHT_BEFORE = {"always"}
"""Nothing is kept there: the boundary is asked for all the same."""


@contextmanager
def imported(files: dict[str, bytes], folder: Path, name: str) -> Iterator[ModuleType]:
    known = set(sys.modules)
    for path, raw in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(raw)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        for loaded in set(sys.modules) - known:
            if str(getattr(sys.modules[loaded], "__file__", "")).startswith(str(folder)):
                del sys.modules[loaded]


def outcome(case: Case, files: dict[str, bytes], folder: Path, graphs: Graphs) -> Any:
    """What a driver sees of one side; copied, so that nothing can overwrite it any more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "compile", graphs.compile)
        patch.setattr(torch.compiler, "cudagraph_mark_step_begin", graphs.mark)
        patch.setattr(torch.cuda, "is_available", lambda: True)
        torch.manual_seed(0)
        with imported(files, folder, HOMES.get(case.folder.name, "module")) as module:
            seen = DRIVERS[case.folder.name](module)
            return [plain(leaf) for leaf in torch.utils._pytree.tree_leaves(seen)]


def plain(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):
        return [str(value) for value in leaf.flatten().tolist()], leaf.dtype, leaf.requires_grad
    return leaf if isinstance(leaf, (int, str, type(None))) else str(leaf) if isinstance(leaf, float) else type(leaf)


def test_every_rewritten_fixture_is_run() -> None:
    assert set(DRIVERS) == set(CASES)


@pytest.mark.parametrize("name", DRIVERS)
def test_the_boundary_changes_no_value_where_nothing_is_overwritten(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    before = outcome(case, case.before, tmp_path / "before", NoGraphs())
    assert outcome(case, case.after, tmp_path / "after", NoGraphs()) == before


@pytest.mark.parametrize("name", DRIVERS)
def test_what_is_kept_survives_the_next_step_only_behind_the_boundary(name: str, tmp_path: Path) -> None:
    case, graphs = CASES[name], Graphs()
    wanted = outcome(case, case.before, tmp_path / "plain", NoGraphs())
    is_right = outcome(case, case.before, tmp_path / "before", Graphs()) == wanted
    assert is_right == (name in RIGHT_BEFORE)
    assert outcome(case, case.after, tmp_path / "after", graphs) == wanted
    assert graphs.marks > 0
    assert graphs.destroyed == 0


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, Graphs]]:
    """The file that a project gets, on stand-in graphs."""
    graphs = Graphs()
    monkeypatch.setattr(torch.compiler, "cudagraph_mark_step_begin", graphs.mark)
    with imported({"compiled_steps.py": TEXT.encode()}, tmp_path, "compiled_steps") as module:
        yield module, graphs


def forward(steps: ModuleType, graphs: Graphs, net: nn.Module, seed: int = 0) -> torch.Tensor:
    steps.begin_step()
    output: torch.Tensor = steps.expect_backward(graphs.run(net, (rows(seed),), {})).clone()
    return output


def test_no_step_begins_between_a_forward_and_its_backward(steps: tuple[ModuleType, Graphs]) -> None:
    module, graphs = steps
    net, other = nn.Linear(4, 2), nn.Linear(4, 2)
    loss = forward(module, graphs, net).square().sum()
    with torch.no_grad():
        for seed in range(3):
            forward(module, graphs, other, seed)
    assert graphs.marks == 1
    loss.backward()  # type: ignore[no-untyped-call]
    forward(module, graphs, other)
    assert (graphs.marks, graphs.destroyed) == (2, 0)


def test_a_step_begins_while_the_last_loss_is_still_alive(steps: tuple[ModuleType, Graphs]) -> None:
    module, graphs = steps
    net, losses = nn.Linear(4, 2), []
    for seed in range(3):
        losses.append(forward(module, graphs, net, seed).sum())
        losses[-1].backward()  # type: ignore[no-untyped-call]
    assert graphs.marks == 3


def test_a_forward_without_a_backward_holds_nothing_up(steps: tuple[ModuleType, Graphs]) -> None:
    module, graphs = steps
    net = nn.Linear(4, 2)
    for seed in range(3):
        forward(module, graphs, net, seed)
    assert graphs.marks == 3


def test_losses_that_are_summed_wait_for_one_backward(steps: tuple[ModuleType, Graphs]) -> None:
    module, graphs = steps
    net = nn.Linear(4, 2)
    total = forward(module, graphs, net).sum() + forward(module, graphs, net, 1).sum()
    assert graphs.marks == 1
    total.backward()  # type: ignore[no-untyped-call]
    forward(module, graphs, net)
    assert (graphs.marks, graphs.destroyed) == (2, 0)


def test_autograd_grad_ends_the_waiting_too(steps: tuple[ModuleType, Graphs]) -> None:
    module, graphs = steps
    net = nn.Linear(4, 2)
    out = forward(module, graphs, net)
    torch.autograd.grad(out.sum(), list(net.parameters()))
    forward(module, graphs, net)
    assert graphs.marks == 2


@dataclasses.dataclass(frozen=True)
class Pair:
    left: torch.Tensor
    right: list[torch.Tensor | None]


def test_every_tensor_is_copied_and_nothing_else_changes(steps: tuple[ModuleType, Graphs]) -> None:
    module, _ = steps
    one = torch.ones(2, requires_grad=True) * 2
    tree = {"pair": Pair(one, [one, None]), "rest": (3, "text", torch.Size([1]))}
    copied = module.clone_tensors(tree)
    assert type(copied["pair"]) is Pair
    assert copied["rest"] == tree["rest"]
    for tensor in (copied["pair"].left, copied["pair"].right[0]):
        assert tensor is not None
        assert tensor.data_ptr() != one.data_ptr()
        assert tensor.tolist() == one.tolist()
        assert tensor.grad_fn is not None


def test_the_helper_breaks_no_graph_when_it_is_traced(steps: tuple[ModuleType, Graphs]) -> None:
    module, _ = steps
    net = nn.Linear(4, 2)

    def run(x: torch.Tensor) -> torch.Tensor:
        module.begin_step()
        made: torch.Tensor = module.clone_tensors(module.expect_backward(net(x)))
        return made

    x = rows(1)
    assert torch.equal(torch.compile(run, backend="eager", fullgraph=True)(x), run(x))


BOTH_FORMS = {
    "nets.py": b"""
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


net = torch.compile(Net(), mode="reduce-overhead")
other = Net()
other.compile(mode="reduce-overhead")
SEEN = []


@torch.compile(mode="reduce-overhead")
def split(x: torch.Tensor, at: float = 0.5) -> tuple[torch.Tensor, torch.Tensor]:
    return x - at, x + at


@torch.no_grad()
def look(x: torch.Tensor) -> None:
    SEEN.extend([net(x), other(x), *split(x, at=0.1)])
"""
}


def example_project() -> dict[str, bytes]:
    folder = FIXTURES / "stabilize"
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*.py")}


def rewritten_by(files: dict[str, bytes], codemods: Iterable[str], root: Path) -> dict[str, bytes]:
    for name in codemods:
        codemod, project = codemod_named(name)(), Project(root, files, files)
        findings = [finding for path in project.files for finding in find(project, path, [codemod]).findings]
        assert findings
        assert all(finding.is_fixable for finding in findings)
        files = apply(files, findings)
    return files


def boundaries(files: dict[str, bytes]) -> dict[str, str]:
    trees = {path: ast.parse(raw) for path, raw in files.items()}
    functions = [(path, node) for path, tree in trees.items() for node in ast.walk(tree)]
    return {
        f"{path}:{node.name}": ast.unparse(node)
        for path, node in functions
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_run_")
    }


@pytest.mark.parametrize("files", [example_project(), BOTH_FORMS], ids=["stabilize", "both forms"])
def test_counters_and_gates_may_come_before_boundaries_or_after(files: dict[str, bytes], tmp_path: Path) -> None:
    alone = boundaries(rewritten_by(files, ["clone_at_boundary"], tmp_path))
    for order in permutations(["clone_at_boundary", "count_compiled_calls", "gate_compile"]):
        assert boundaries(rewritten_by(files, order, tmp_path)) == alone


KEEPS_OR_RUNS = [
    "NETS.append(net)",
    "net(torch.zeros(1, 4))",
    "net.forward(torch.zeros(1, 4))",
    "net.to('cpu')(torch.zeros(1, 4))",
    "[net(x) for x in NETS]",
    "NETS.append(lambda x: net(x))",
    "setattr(NETS, 'last', net)",
    "NETS.add(net); print([one for one in NETS])",
    "for one in [net]: one(torch.zeros(1, 4))",
]


@pytest.mark.parametrize("statement", KEEPS_OR_RUNS)
def test_a_function_that_keeps_or_runs_the_callable_hides_calls(statement: str, tmp_path: Path) -> None:
    case = CASES["basic"]
    given = "\n\nNETS = []\n\n\ndef register(net):\n    " + statement + "\n"
    text = case.before["module.py"].decode().rstrip("\n") + given
    request = 'mode="reduce-overhead")\n'
    text = text.replace(request, request + "        register(self.ranker)\n", 1)
    files = {"module.py": text.encode()}
    findings = find(Project(tmp_path, files, files), "module.py", [case.codemod()]).findings
    assert [finding.is_fixable for finding in findings] == [False]
    assert "is passed on as a value" in findings[0].left_alone


@pytest.mark.parametrize("is_broken", [False, True])
def test_the_written_tests_fail_when_a_graph_breaks(is_broken: bool, tmp_path: Path) -> None:
    for path, raw in CASES["with_tests"].after.items():
        text = raw.decode()
        if is_broken:
            text = text.replace("    return x - at", "    torch._dynamo.graph_break()\n    return x - at")
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    expected = "2 failed, 3 passed" if is_broken else "5 passed"
    assert written_tests.outcome(tmp_path, "tests/test_run_split.py") == expected


ASKS = [
    b"import torch\nf = torch.compile(g, mode='reduce-overhead')",
    b"import torch\nf = torch.compile(nn.Sequential(nn.Linear(1, 2), nn.ReLU()),  # deep\n    mode=MODE)",
    b"import torch\nBACKEND = 'cudagraphs'\nf = torch.compile(g, backend=BACKEND)",
    b"import torch as th\nf = th.compile(g, **{'mode': MODE})",
    b"from torch import (\n    compile,\n    nn,\n)\nf = compile(g, mode=MODE)",
    b"import torch\n@functools.partial(torch.compile, mode='max-autotune')\ndef f(x): ...",
]
ASKS_NOT = [
    b"import torch\nf = torch.compile(g)\nopen(name, mode='r')",
    b"import torch\nf = re.compile(g)\nrun(mode='reduce-overhead')",
    b"import torch\n# torch.compile(g, mode='reduce-overhead')",
]


@pytest.mark.parametrize("raw", ASKS + ASKS_NOT)
def test_a_file_is_parsed_if_a_request_may_ask_for_graphs(raw: bytes) -> None:
    assert may_use_graphs(raw) == (raw in ASKS)


SHELF = """
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Twin({base}):
    def forward(self, x):
        return x * 2, x


class Shelf:
    def __init__(self, net: Net, fast: bool = True) -> None:
        if fast:
            self.net = torch.compile({compiled}, mode="reduce-overhead")
        else:
            self.net = {other}

    @torch.no_grad()
    def go(self, x: torch.Tensor) -> None:
        self.last = self.net(x)
        {more}
"""


def rewritten_shelf(root: Path, **parts: str) -> str:
    given = {"base": "nn.Module", "compiled": "Net()", "other": "Net()", "more": "pass"}
    files = {"shelf.py": SHELF.format(**{**given, **parts}).encode()}
    return rewritten_by(files, ["clone_at_boundary"], root)["shelf.py"].decode()


def test_the_form_is_known_where_everything_under_the_name_is_alike(tmp_path: Path) -> None:
    assert "return self.net(x).clone()" in rewritten_shelf(tmp_path)
    assert "return self.net(x).clone()" in rewritten_shelf(tmp_path, compiled="net", other="None")


@pytest.mark.parametrize("parts", [{"other": "lambda x: (x, x)"}, {"base": "Net", "compiled": "net", "other": "None"}])
def test_the_form_is_not_guessed_where_something_else_may_stand_there(parts: dict[str, str], tmp_path: Path) -> None:
    text = rewritten_shelf(tmp_path, **parts)
    assert "compiled_steps.clone_tensors(self.net(*args, **kwargs))" in text


@pytest.mark.parametrize("made", ["float()", "to(x.dtype)", "type_as(x)"])
def test_a_boundary_copies_what_may_be_the_very_tensor(made: str, tmp_path: Path) -> None:
    text = rewritten_shelf(tmp_path, more=f"self.other = self.net(x).{made}")
    assert f"self.other = self._run_net(x).{made}" in text
    assert "keep" not in text


def test_a_boundary_does_not_copy_what_is_used_up(tmp_path: Path) -> None:
    text = rewritten_shelf(tmp_path, more="self.other = self.net(x).float().sum().item()")
    assert "self._run_net(x, keep=False).float().sum().item()" in text
