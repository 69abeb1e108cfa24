"""The parts of the full screen: the list of findings, what is said of one of them, and pages over both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from fullgraph.codemods.model import Finding
from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.report.model import DECLINED
from fullgraph.codemods.ui.review.desk import Desk
from fullgraph.codemods.ui.review.ledger import ACCEPTED, IGNORED, LEFT
from fullgraph.codemods.ui.review.shown import RULINGS, badge
from fullgraph.codemods.ui.view import view_of

MARKS = {ACCEPTED: ("y", "bold green"), IGNORED: ("i", "cyan"), LEFT: (" ", ""), DECLINED: ("n", "dim")}
PROVING = "proving"
NOTHING = "Nothing holds that text; Escape shows all."
NARROWEST = 20


class FindingList(OptionList):
    """The findings below their files, each with its answer, its badge and what a proof says."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(id="list", markup=False)
        self.desk = desk
        self.by_key = {finding.key: finding for finding in desk.ledger.queue}
        self.wanted = ""
        """What must occur in a finding for it to be shown."""

        self.proving: set[str] = set()

    @property
    def finding(self) -> Finding | None:
        """The one that the list points at."""
        option = self.highlighted_option
        return self.by_key.get(option.id or "") if option else None

    def shown_findings(self) -> Iterator[Finding]:
        """What is wanted, file by file."""
        queue = self.desk.ledger.queue
        for path in dict.fromkeys(one.path for one in queue):
            yield from (one for one in queue if one.path == path and self.is_wanted(one))

    def is_wanted(self, finding: Finding) -> bool:
        held = " ".join((finding.path, finding.codemod, finding.symbol, finding.message)).lower()
        return all(word in held for word in self.wanted.lower().split())

    def fill(self, key: str = "") -> None:
        """Write the list anew and point at a finding."""
        made, path = self.desk.ledger.decisions(), ""
        options = []
        for finding in self.shown_findings():
            if finding.path != path:
                path = finding.path
                options.append(Option(Text(plain(path), "bold"), disabled=True))
            options.append(Option(self.line_of(finding, self.desk.ledger.state(finding, made)), id=finding.key))
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options().add_options(options)
        self.point_at(key)

    def point_at(self, key: str) -> None:
        numbers = {option.id: number for number, option in enumerate(self.options) if option.id}
        self.highlighted = numbers.get(key, next(iter(numbers.values()), None))

    def go_on(self) -> bool:
        """Point at the next finding below that is undecided; whether there is one."""
        made, start = self.desk.ledger.decisions(), self.highlighted or 0
        below = [one.id for one in self.options[start:] if one.id and one.id not in made]
        if below:
            self.point_at(below[0] or "")
        return bool(below)

    def line_of(self, finding: Finding, state: str) -> Text:
        """`y  103 hoist_invariant_construction  unsafe  proven`"""
        mark, trust, key = MARKS[state], badge(view_of(finding)), finding.key
        proof = PROVING if key in self.proving else self.desk.proofs.get(key, "").partition(":")[0]
        said = (f"  {proof}", RULINGS.get(proof, "italic")) if proof else ""
        return Text.assemble(mark, f" {finding.line:>4} ", (finding.codemod, "cyan"), "  ", trust, said)

    def update_lines(self) -> None:
        made = self.desk.ledger.decisions()
        for key in (option.id for option in self.options if option.id):
            state = self.desk.ledger.state(self.by_key[key], made)
            self.replace_option_prompt(key, self.line_of(self.by_key[key], state))


class Detail(VerticalScroll):
    """What is said of a finding, and its diff: laid out anew when there is more room, or less."""

    class Resized(Message):
        """It has another width."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(id="detail")
        self.desk = desk

    def compose(self) -> ComposeResult:
        yield Static(id="told", markup=False)
        yield Static(id="diff", markup=False)

    def on_resize(self) -> None:
        self.post_message(self.Resized())

    def show(self, finding: Finding | None) -> None:
        told, diff = (self.query_one(name, Static) for name in ("#told", "#diff"))
        if finding is None:
            told.update(NOTHING)
            diff.update("")
            return
        width = max(self.scrollable_content_region.width, NARROWEST)
        told.update(Text("\n").join(line for line in self.said_of(finding) if line))
        diff.update(Text("\n").join(self.desk.diff(finding, width)))

    def said_of(self, finding: Finding) -> list[Text]:
        said = self.desk.told(finding)
        choices = self.alternatives(finding)
        named = ", ".join(f"{number} {one.codemod}:{one.line}" for number, one in enumerate(choices, 1))
        said.insert(2, Text(f"alternatives: {named}" if len(choices) > 1 else ""))
        if not self.desk.is_possible(finding):
            said.append(Text(f"cannot be written: {self.desk.ledger.impossible[finding.key]}", "bold red"))
        return said

    def alternatives(self, finding: Finding) -> list[Finding]:
        """Also those that are decided: here a choice can be changed."""
        keys = {finding.key, *self.desk.ledger.rivals.get(finding.key, ())}
        return [one for one in self.desk.ledger.queue if one.key in keys]


class Page(ModalScreen[None]):
    """A text over the screen, until a key closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,x,s,question_mark,enter", "dismiss", "Close")]

    def __init__(self, lines: Iterable[Text]) -> None:
        super().__init__()
        self.text = Text("\n").join(lines)

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="page"):
            yield Static(self.text)
        yield Footer()
