"""What every screen, report and protocol shows of a finding: plain values, made once, laid out by each in its way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from fullgraph.codemods.model import Finding, Safety


class State(Enum):
    """Who has settled an assumption: nobody yet, or a run in which it held."""

    OPEN = "open"
    OBSERVED = "observed"


class Badge(Enum):
    """How far a fix can be trusted; LEFT is of a finding that has none."""

    SAFE = "safe"
    OBSERVED = "observed"
    UNSAFE = "unsafe"
    LEFT = "left alone"


@dataclass(frozen=True, slots=True)
class Assumed:
    """What must hold for the fix to keep what the program does, beyond what the text proves."""

    text: str
    state: State = State.OPEN


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of code without its line break. `sign` is that of a diff; `marked` are the characters a finding is about.

    `number` counts from 1 in the file, or in its cell of a notebook; of an added line, in the new text.
    """

    number: int
    text: str
    sign: str = " "
    marked: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What a fix changes in one file: each hunk has the lines that change, and those between two changes."""

    path: str
    hunks: tuple[tuple[CodeLine, ...], ...]
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """One finding. `path` and `place` are as people write them; `cost` is what a run showed, `gain` what was measured.

    `reason` says why it was not fixed; `also` are the places of findings that say the same.
    """

    codemod: str
    title: str
    symbol: str = ""
    path: str = ""
    place: str = ""
    outcome: str = "found"
    reason: str = ""
    is_fixable: bool = True
    assumptions: tuple[Assumed, ...] = ()
    notes: tuple[str, ...] = ()
    creates: tuple[str, ...] = ()
    cost: str = ""
    gain: str = ""
    frame: tuple[CodeLine, ...] = ()
    fix: tuple[FileDiff, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def badge(self) -> Badge:
        if not self.is_fixable:
            return Badge.LEFT
        states = {assumed.state for assumed in self.assumptions}
        if State.OPEN in states:
            return Badge.UNSAFE
        return Badge.OBSERVED if states else Badge.SAFE

    @property
    def help(self) -> str:
        """What to type next."""
        explain = f"`fullgraph explain {self.codemod}`"
        return f"`fullgraph fix --select {self.codemod}`, {explain}" if self.is_fixable else explain

    def remarks(self) -> Iterator[tuple[str, str]]:
        """What is said of it beside its title, each with its label."""
        if self.reason:
            yield ("unsafe", self.reason[8:]) if self.reason.startswith("unsafe: ") else ("left alone", self.reason)
        elif self.is_fixable:
            yield from ((Badge.UNSAFE.value, one.text) for one in self.assumptions if one.state is State.OPEN)
        yield from (("note", note) for note in self.notes)
        if self.creates:
            yield "new", ", ".join(self.creates)


def view_of(finding: Finding, reason: str = "") -> View:
    """What is known of a finding without its file; whoever has that fills in the rest with `dataclasses.replace`."""
    is_unsafe = finding.is_fixable and finding.safety is Safety.UNSAFE
    return View(
        codemod=finding.codemod,
        title=finding.message,
        symbol=finding.symbol,
        path=finding.path,
        place=f"{finding.path}:{finding.line}:{finding.column}",
        reason=reason or finding.left_alone,
        is_fixable=finding.is_fixable,
        assumptions=(Assumed(finding.caveat),) if is_unsafe else (),
        notes=finding.notes,
        creates=tuple(finding.created()),
    )
