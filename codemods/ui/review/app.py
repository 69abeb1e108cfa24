"""The full screen: all findings on the left, one of them with its diff on the right, proofs in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from fullgraph.codemods.foreign.blame import in_one_line
from fullgraph.codemods.model import Finding
from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.review.apart import Apart
from fullgraph.codemods.ui.review.desk import Desk
from fullgraph.codemods.ui.review.ledger import ACCEPTED, IGNORED, LEFT
from fullgraph.codemods.ui.review.shown import RULINGS, badge
from fullgraph.codemods.ui.view import view_of

HELP = """\
y  apply this finding
n  do not
a  apply this and all undecided ones of the same codemod (not unsafe ones, unless this one is)
d  do not, nor anything undecided in this file
u  take the last answer back
e  open the diff in the editor; what you save is applied instead
p  prove it in the background: the scenarios of --prove, or those of this function
i  ignore it from now on: a comment on its line is written with the rest
o  open its place in the editor
x  explain the codemod
s  statistics: what is left, accepted and declined, by codemod
1  to 9: go to an alternative; accepting one declines the others
/  show only what holds a text: file, codemod, symbol or message; Escape shows all
q  leave and write what was accepted (Ctrl-C: leave and write nothing)
?  this help; Tab goes to the diff and back"""

MARKS = {ACCEPTED: ("y", "bold green"), IGNORED: ("i", "cyan"), LEFT: (" ", ""), "declined": ("n", "dim")}
PROVING = "proving"


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


class Detail(VerticalScroll):
    """What is said of a finding, and its diff: laid out anew when there is more room, or less."""

    class Resized(Message):
        """It has another width."""

    def on_resize(self) -> None:
        self.post_message(self.Resized())


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
        self.by_key = {finding.key: finding for finding in desk.ledger.queue}
        self.wanted = ""
        self.proving: set[str] = set()
        self.turn = threading.Lock()
        self.apart = Apart(lambda stage, detail: self.call_from_thread(self.say, f"proof: {stage} {detail}"))
        if desk.proving and desk.proving.proofs.run is None:
            desk.proving.proofs.run = self.apart

    def compose(self) -> ComposeResult:
        yield Static(id="progress")
        with Horizontal():
            with Vertical(id="left"):
                yield Input(placeholder="file, codemod, symbol or message", id="filter")
                yield OptionList(id="list", markup=False)
            with Detail(id="detail"):
                yield Static(id="told", markup=False)
                yield Static(id="diff", markup=False)
        yield Static(id="said", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.listed.focus()
        self.fill(next(iter(self.shown_findings())).key)

    # What is shown

    @property
    def listed(self) -> OptionList:
        return self.query_one("#list", OptionList)

    @property
    def finding(self) -> Finding | None:
        """The one that the list points at."""
        option = self.listed.highlighted_option
        return self.by_key.get(option.id or "") if option else None

    def shown_findings(self) -> Iterator[Finding]:
        """What the filter lets through, file by file."""
        paths = list(dict.fromkeys(one.path for one in self.desk.ledger.queue))
        for path in paths:
            yield from (one for one in self.desk.ledger.queue if one.path == path and self.is_wanted(one))

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
            self.listed.clear_options().add_options(options)
        self.point_at(key)
        self.refresh_detail()

    def point_at(self, key: str) -> None:
        numbers = {option.id: number for number, option in enumerate(self.listed.options) if option.id}
        self.listed.highlighted = numbers.get(key, next(iter(numbers.values()), None))

    def line_of(self, finding: Finding, state: str) -> Text:
        """`y  103 hoist_invariant_construction  unsafe  proven`"""
        mark, trust, key = MARKS[state], badge(view_of(finding)), finding.key
        proof = PROVING if key in self.proving else self.desk.proofs.get(key, "").partition(":")[0]
        said = (f"  {proof}", RULINGS.get(proof, "italic")) if proof else ""
        return Text.assemble(mark, f" {finding.line:>4} ", (finding.codemod, "cyan"), "  ", trust, said)

    def refresh_lines(self) -> None:
        made = self.desk.ledger.decisions()
        for key in (option.id for option in self.listed.options if option.id):
            state = self.desk.ledger.state(self.by_key[key], made)
            self.listed.replace_option_prompt(key, self.line_of(self.by_key[key], state))
        self.refresh_detail()

    def refresh_detail(self) -> None:
        finding = self.finding
        self.query_one("#progress", Static).update(self.progress_text())
        if finding is None:
            self.query_one("#told", Static).update("Nothing holds that text; Escape shows all.")
            self.query_one("#diff", Static).update("")
            return
        width = max(self.query_one("#detail").scrollable_content_region.width, 20)
        told = self.desk.told(finding)
        told.insert(2, self.alternatives_text(finding))
        if not self.desk.is_possible(finding):
            told.append(Text(f"cannot be written: {self.desk.ledger.impossible[finding.key]}", "bold red"))
        self.query_one("#told", Static).update(Text("\n").join(line for line in told if line))
        self.query_one("#diff", Static).update(Text("\n").join(self.desk.diff(finding, width)))

    def progress_text(self) -> Text:
        counts = self.desk.ledger.totals()
        answered = ", ".join(f"{number} {state}" for state, number in counts.items() if number)
        return Text(f"{len(self.by_key)} findings: {answered}", "bold")

    def alternatives_text(self, finding: Finding) -> Text:
        choices = self.alternatives(finding)
        named = ", ".join(f"{number} {one.codemod}:{one.line}" for number, one in enumerate(choices, 1))
        return Text(f"alternatives: {named}" if len(choices) > 1 else "")

    def alternatives(self, finding: Finding) -> list[Finding]:
        keys = {finding.key, *self.desk.ledger.rivals.get(finding.key, ())}
        return [one for one in self.desk.ledger.queue if one.key in keys]

    def say(self, text: str) -> None:
        self.query_one("#said", Static).update(Text(plain(text)))

    def on_option_list_option_highlighted(self) -> None:
        self.query_one("#detail", VerticalScroll).scroll_home(animate=False)
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
        """To the next finding that is undecided, if there is one below."""
        made, options = self.desk.ledger.decisions(), self.listed.options
        start = self.listed.highlighted or 0
        below = [one.id for one in options[start:] if one.id and one.id not in made]
        if below:
            self.point_at(below[0] or "")
        elif len(made) == len(self.by_key):
            self.say("All are decided: q writes what was accepted.")
        self.refresh_lines()

    def action_take_back(self) -> None:
        answer = self.desk.ledger.take_back()
        if answer is None:
            self.say("There is no answer to take back.")
            return
        self.point_at(answer.finding.key)
        self.refresh_lines()

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
            self.refresh_lines()
        else:
            self.go_on()

    def action_prove(self) -> None:
        if (finding := self.finding) and finding.key not in self.proving:
            work = self.desk.prepared(finding)
            self.proving.add(finding.key)
            self.refresh_lines()
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
        self.proving.discard(finding.key)
        self.desk.proofs[finding.key] = said
        self.say(f"{finding.codemod} at {finding.path}:{finding.line}: {said}")
        self.refresh_lines()

    def action_explain(self) -> None:
        if self.finding:
            self.push_screen(Page(self.desk.explained(self.finding, self.color)))

    def action_statistics(self) -> None:
        self.push_screen(Page(self.desk.statistics()))

    def action_help(self) -> None:
        self.push_screen(Page(map(Text, HELP.splitlines())))

    def action_alternative(self, number: int) -> None:
        choices = self.alternatives(self.finding) if self.finding else []
        if 1 < len(choices) >= number:
            self.point_at(choices[number - 1].key)

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
        self.wanted = event.value
        self.fill(key)

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
