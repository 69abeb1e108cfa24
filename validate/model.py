"""The values of the validator: what to run, what was measured, what follows. All frozen, none of them knows torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any


class ValidateError(Exception):
    """Nothing could be measured, and the user can act on it; the text is the whole message, with the way out."""


@dataclass(frozen=True)
class Scenario:
    """What to run. `kind` is `file` (a Python file), `capture` (a function with stored arguments) or `pytest`."""

    kind: str
    name: str
    target: str
    """The file's path, `module:function`, or the node id."""

    capture: str = ""
    """For `capture`: the file with the stored arguments."""

    imports: tuple[str, ...] = ()
    """Folders that stand on sys.path while it runs."""


@dataclass(frozen=True)
class Settings:
    """How to run it."""

    device: str = "auto"
    python: str = ""
    mode: str = ""
    backend: str = ""
    """Empty: what the scenario asks for, else inductor; the same for mode, fullgraph and dynamic."""

    fullgraph: bool = False
    dynamic: bool | None = None
    repeat: int = 0
    """Blocks of timing; 0 is as many as the interval needs."""

    untimed: bool = False
    """Whether no times are taken, so that only values and counts decide: they hold on a busy machine, too."""

    time_limit: float = 600
    """Seconds for the whole proof; one stage of one side that takes longer is a hang."""

    signed_zero: bool = False


@dataclass(frozen=True)
class Sides:
    """One tree, and the files that differ: by path below `root`, the bytes on each side; None is no file there."""

    root: Path
    before: Mapping[str, bytes | None]
    after: Mapping[str, bytes | None]

    def paths(self) -> list[str]:
        """The files that are not the same on both sides."""
        return sorted(p for p in {*self.before, *self.after} if self.before.get(p) != self.after.get(p))


@dataclass(frozen=True)
class Declared:
    """Something that a rewrite changes on purpose: everything else must stay.

    `warning`: new ones, whose whole text matches the pattern. `lost warning`: such ones that are no longer given.
    `keys`: dicts at paths that match have other keys, and the same values in the same order. `exception`: compiled code
    raises another one, where `ValueError: text > RuntimeError: text` of the two matches. `uncompiled`: what
    the pattern names in words leaves the graphs. `tested`: functions whose qualified names match are run by tests of
    their own, so that a proof need not see all of them.
    """

    kind: str
    pattern: str
    why: str = ""


@dataclass(frozen=True)
class Break:
    """One place where a graph ended before its function did, or a whole frame that was not compiled (`skipped`)."""

    file: str
    line: int
    function: str
    id: str
    """`GB0007`, from torch's registry; empty where torch gave none."""

    reason: str
    hint: str = ""
    kind: str = "break"
    frames: int = 1
    """Functions whose graph ends here: a break in an inlined call ends the caller's, and then its own."""

    count: int = 1
    """How often torch broke here, also when it compiled again."""


def count_breaks(breaks: Iterable[Break | Mapping[str, Any]]) -> int:
    """How many breaks there are, wherever they are counted: ends of graphs.

    The same place counts once for every function that it breaks. Also of breaks as JSON has them.
    """
    return sum(one.frames if isinstance(one, Break) else one.get("frames", 1) for one in breaks)


@dataclass(frozen=True)
class Graph:
    """One captured graph, in the order of capture."""

    function: str
    file: str
    line: int
    operators: int
    guards: int = 0
    guard_us: float = 0.0
    """One check of all guards, with warm caches."""

    recompile: str = ""
    """The guard that failed, when this graph replaced one for other inputs."""

    ended: str = "return"
    """`return`, or `break` where a break follows."""


@dataclass(frozen=True)
class Sync:
    """Host reads of device data on one source line."""

    file: str
    line: int
    call: str
    count: int


@dataclass(frozen=True)
class Outcome:
    """How a side ended: `ok`, or what became of it instead, in which stage, and the text that says why.

    `kind`: ok, error (an exception outside the cases), crash (the process died), hang (over the time limit), memory.
    """

    kind: str = "ok"
    stage: str = ""
    text: str = ""


@dataclass(frozen=True)
class Measurement:
    """Everything that was measured on one side. None: not measured, and a notice of the verdict says why."""

    side: str
    outcome: Outcome = Outcome()
    cases: tuple[str, ...] = ()
    raised: int = 0
    """Cases that ended in an exception."""

    graphs: tuple[Graph, ...] | None = None
    breaks: tuple[Break, ...] | None = None
    fullgraph: bool | None = None
    fullgraph_reason: str = ""
    compiles_itself: bool | None = None
    """Whether the code calls torch.compile by itself."""

    operations: int | None = None
    """Operators that all cases run in eager mode."""

    syncs: tuple[Sync, ...] | None = None
    moves: tuple[Sync, ...] | None = None
    """Copies between devices, by source line."""

    eager_s: tuple[float, ...] = ()
    compiled_s: tuple[float, ...] = ()
    cold_s: tuple[float, ...] = ()
    """Seconds of one pass over all cases, block by block; of a first compiled pass with empty caches."""

    peak_bytes: int | None = None
    ran: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Of the files that differ, the lines that ran inside functions or, negative, at the top level of the module."""

    @property
    def recompiles(self) -> tuple[Graph, ...] | None:
        return None if self.graphs is None else tuple(graph for graph in self.graphs if graph.recompile)

    @property
    def break_count(self) -> int | None:
        return None if self.breaks is None else count_breaks(self.breaks)

    @property
    def captured(self) -> tuple[float, float] | None:
        """Operators in graphs for each one that runs in eager mode, at least and at most: of graphs that were compiled
        again, nobody knows which were used for how much."""
        if self.graphs is None or not self.operations:
            return None
        first = sum(graph.operators for graph in self.graphs if not graph.recompile)
        return first / self.operations, sum(graph.operators for graph in self.graphs) / self.operations

    @property
    def guard_us(self) -> float | None:
        return None if self.graphs is None else sum(graph.guard_us for graph in self.graphs)


@dataclass(frozen=True)
class Difference:
    """The first place where two records of one case are not the same.

    `between`: eager (before and after), compiled (before and after), or before, after (eager and compiled of a side).
    """

    between: str
    case: str
    path: str
    """`output[0]['loss']`, `args[1]`, `state.weight.grad`, `warnings[2]`, `stdout`, `exception`, `rng.torch`."""

    what: str
    """What is not the same: value, dtype, shape, device, type, keys, length, missing, ..."""

    first: str
    second: str
    error: str = ""
    """The largest absolute and relative error, and where, when two tensors differ in value."""


@dataclass(frozen=True)
class Ratio:
    """Seconds before divided by seconds after: above 1 is faster. The interval is a 95 % bootstrap one."""

    ratio: float
    low: float
    high: float
    blocks: int


class Ruling(Enum):
    """Only proven and, on request, neutral may be written."""

    PROVEN = "proven"
    NEUTRAL = "neutral"
    WORSE = "worse"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Reason:
    """One number or fact that the ruling rests on. `tendency`: better, worse, same, noisy, different or unknown."""

    name: str
    """equivalence, breaks, fullgraph, recompiles, syncs, compiled, eager, guards, cold start, memory, ..."""

    text: str
    tendency: str


@dataclass(frozen=True)
class ChangedPlace:
    """Changed lines in a row, and what the runs have shown of them."""

    path: str
    side: str
    """Where they have code: `after`, or `before` where all of it is gone."""

    first: int
    last: int
    before: tuple[int, int]
    """The lines before; the second is below the first where there were none."""

    lines: int
    ran: int
    unseen: tuple[str, ...] = ()
    """What of its effect no run has shown: a branch never taken, a loop without a round, a wait not performed."""

    notes: tuple[str, ...] = ()
    """Conditions that were never seen both ways, and new functions that nobody called."""

    @property
    def is_seen(self) -> bool:
        return self.ran > 0 and not self.unseen

    @property
    def name(self) -> str:
        last = f"-{self.last}" if self.last > self.first else ""
        return f"{self.path}:{self.first}{last} ({self.side})"

    @property
    def sentence(self) -> str:
        """`ran 3 of 4 changed lines; the `else` of line 7 (after) was never taken`"""
        ran = f"ran {self.ran} of {self.lines} changed lines" if self.ran else "never ran"
        return "; ".join([ran, *self.unseen, *self.notes])


@dataclass(frozen=True)
class Verdict:
    """What follows from the two measurements, with everything it rests on."""

    ruling: Ruling
    reasons: tuple[Reason, ...]
    before: Measurement
    after: Measurement
    scenario: Scenario
    settings: Settings
    differences: tuple[Difference, ...] = ()
    ratios: Mapping[str, Ratio] = field(default_factory=dict)
    """By name: eager, compiled, cold start."""

    notices: tuple[str, ...] = ()
    """What a reader must know to trust it: what was not measured, declared changes, lines that never ran."""

    environment: Mapping[str, Any] = field(default_factory=dict)
    """torch, python, device, driver, platform, threads; the same for both sides."""

    changed: tuple[ChangedPlace, ...] = ()
    """Every changed place, and what was seen of it. Empty: the proof ended before."""

    diff: str = ""
    """The unified diff between the two sides."""

    @property
    def sentence(self) -> str:
        """The reasons in one line: what changed, or, where nothing did, everything that stayed the same."""
        quiet = ("same", "noisy")
        telling = [reason for reason in self.reasons if reason.tendency not in quiet or reason.name == "equivalence"]
        shown = telling if len(telling) > 1 or self.ruling is not Ruling.NEUTRAL else self.reasons
        return "; ".join(reason.text for reason in shown)
