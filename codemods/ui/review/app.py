"""The full screen: all findings on the left, one of them with its diff on the right, proofs in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static

from fullgraph.codemods.foreign.blame import in_one_line
from fullgraph.codemods.model import Finding
from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.review.apart import Apart
from fullgraph.codemods.ui.review.desk import Desk
from fullgraph.codemods.ui.review.keys_help import ON_THE_FULL_SCREEN, help_lines
from fullgraph.codemods.ui.review.ledger import LEFT
from fullgraph.codemods.ui.review.widgets import Detail, FindingList, Page


class ReviewApp(App[bool]):
    """Ends with True to write what was accepted, with False to write nothing."""

    TITLE = "fullgraph fix"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-wide")]  # noqa: RUF012 - textual declares it so
    CSS = """
    #progress { height: 1; background: $panel; padding: 0 1; }
    #left { width: 2fr; min-width: 24; }
    #detail { width: 3fr; padding: 0 1; scrollbar-gutter: stable; }
    #filter { display: none; }
    #filter.-shown { display: block; }
    #said { height: auto; max-height: 6; padding: 0 1; background: $panel; }
    .-narrow Horizontal { layout: vertical; }
    .-narrow #left, .-narrow #detail { width: 100%; }
    .-narrow #left { height: 1fr; }
    .-narrow #detail { height: 2fr; border-top: solid $panel; }
    #diff { margin-top: 1; }
    OptionList { height: 1fr; border: none; }
    Page { align: center middle; }
    #page { width: 90%; height: 90%; border: round $primary; background: $surface; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('y')", "apply"),
        Binding("n", "answer('n')", "not"),
        Binding("q", "leave", "write"),
        Binding("question_mark", "help", "help"),
        Binding("a", "answer('a')", "all of it"),
        Binding("d", "answer('d')", "not this file"),
        Binding("u", "take_back", "undo"),
        Binding("p", "prove", "prove"),
        Binding("i", "ignore", "ignore"),
        Binding("e", "edit", "edit"),
        Binding("o", "open", "open"),
        Binding("x", "explain", "explain"),
        Binding("s", "statistics", "statistics"),
        Binding("slash", "filter", "filter"),
        Binding("escape", "all", "all", show=False),
        Binding("ctrl+c", "stop", "stop", show=False, priority=True),
        *(Binding(str(number), f"alternative({number})", show=False) for number in range(1, 10)),
    ]

    def __init__(self, desk: Desk, color: bool = True) -> None:
        super().__init__(ansi_color=False)
        self.desk = desk
        self.color = color
        self.turn = threading.Lock()
        self.apart = Apart(lambda stage, detail: self.call_from_thread(self.say, f"proof: {stage} {detail}"))
        if desk.proving and desk.proving.proofs.run is None:
            desk.proving.proofs.run = self.apart

    def compose(self) -> ComposeResult:
        yield Static(id="progress")
        with Horizontal():
            with Vertical(id="left"):
                yield Input(placeholder="file, codemod, symbol or message", id="filter")
                yield FindingList(self.desk)
            yield Detail(self.desk)
        yield Static(id="said", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.listed.focus()
        self.listed.fill()

    # What is shown

    @property
    def listed(self) -> FindingList:
        return self.query_one(FindingList)

    @property
    def detail(self) -> Detail:
        return self.query_one(Detail)

    @property
    def finding(self) -> Finding | None:
        return self.listed.finding

    def refresh_all(self) -> None:
        self.listed.update_lines()
        self.refresh_detail()

    def refresh_detail(self) -> None:
        self.query_one("#progress", Static).update(self.progress_text())
        self.detail.show(self.finding)

    def progress_text(self) -> Text:
        counts = self.desk.ledger.totals()
        answered = ", ".join(f"{number} {state}" for state, number in counts.items() if number)
        return Text(f"{len(self.desk.ledger.queue)} findings: {answered}", "bold")

    def say(self, text: str) -> None:
        self.query_one("#said", Static).update(Text(plain(text)))

    def on_option_list_option_highlighted(self) -> None:
        self.detail.scroll_home(animate=False)
        self.refresh_detail()

    def on_detail_resized(self) -> None:
        self.listed.scroll_to_highlight()
        self.refresh_detail()

    # What keys do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a text is typed or read, only leaving it means something."""
        if isinstance(self.screen, ModalScreen):
            return action in ("stop", "dismiss")
        return True

    def action_answer(self, key: str) -> None:
        finding = self.finding
        if finding is None:
            return
        if key in "ya" and not self.desk.is_possible(finding):
            self.say(f"It cannot be written: {self.desk.ledger.impossible[finding.key]}.")
            return
        self.desk.ledger.answer(key, finding, everywhere=True)
        self.say("")
        self.go_on()

    def go_on(self) -> None:
        if not self.listed.go_on() and not self.desk.ledger.totals()[LEFT]:
            self.say("All are decided: q writes what was accepted.")
        self.refresh_all()

    def action_take_back(self) -> None:
        answer = self.desk.ledger.take_back()
        if answer is None:
            self.say("There is no answer to take back.")
            return
        self.listed.point_at(answer.finding.key)
        self.refresh_all()

    def action_ignore(self) -> None:
        if self.finding:
            self.settle(self.desk.ignore(self.finding))

    def action_edit(self) -> None:
        self.with_the_editor(self.desk.edit)

    def action_open(self) -> None:
        self.with_the_editor(self.desk.open, is_answer=False)

    def with_the_editor(self, use: Callable[[Finding], str], is_answer: bool = True) -> None:
        if finding := self.finding:
            with self.suspend():
                said = use(finding)
            self.refresh()
            self.settle(said, is_answer)

    def settle(self, said: str, is_answer: bool = True) -> None:
        self.say(said)
        if said or not is_answer:
            self.refresh_all()
        else:
            self.go_on()

    def action_prove(self) -> None:
        if (finding := self.finding) and finding.key not in self.listed.proving:
            work = self.desk.prepared(finding)
            self.listed.proving.add(finding.key)
            self.refresh_all()
            self.run_worker(lambda: self.prove(finding, work), thread=True, group="proofs")

    def prove(self, finding: Finding, work: Callable[[], str]) -> None:
        """In a thread: one proof at a time, as two would disturb each other's times."""
        with self.turn:
            try:
                said = work()
            except Exception as error:  # the answers must outlive it
                said = f"undecided: {in_one_line(error)}"
        if not self.apart.is_over:
            self.call_from_thread(self.proven, finding, said)

    def proven(self, finding: Finding, said: str) -> None:
        self.listed.proving.discard(finding.key)
        self.desk.proofs[finding.key] = said
        self.say(f"{finding.codemod} at {finding.path}:{finding.line}: {said}")
        self.refresh_all()

    def action_explain(self) -> None:
        if self.finding:
            self.push_screen(Page(self.desk.explained(self.finding, self.color)))

    def action_statistics(self) -> None:
        self.push_screen(Page(self.desk.statistics()))

    def action_help(self) -> None:
        self.push_screen(Page(map(Text, help_lines(ON_THE_FULL_SCREEN))))

    def action_alternative(self, number: int) -> None:
        choices = self.detail.alternatives(self.finding) if self.finding else []
        if 1 < len(choices) >= number:
            self.listed.point_at(choices[number - 1].key)

    def action_filter(self) -> None:
        self.query_one("#filter").add_class("-shown")
        self.query_one("#filter").focus()

    def action_all(self) -> None:
        """Show all findings again."""
        typed = self.query_one("#filter", Input)
        typed.value = ""
        typed.remove_class("-shown")
        self.listed.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        key = self.finding.key if self.finding else ""
        self.listed.wanted = event.value
        self.listed.fill(key)
        self.refresh_detail()

    def on_input_submitted(self) -> None:
        self.listed.focus()

    def action_leave(self) -> None:
        self.end(True)

    def action_stop(self) -> None:
        self.end(False)

    def end(self, writes: bool) -> None:
        """Proofs that still run end too."""
        self.apart.close()
        self.exit(writes)
