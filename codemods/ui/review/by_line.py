"""The review on the terminal: one finding at a time, with everything it would change, and a key for the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from fullgraph.codemods.model import Finding, Safety
from fullgraph.codemods.project import Project
from fullgraph.codemods.ui.review.desk import Desk
from fullgraph.codemods.ui.review.frame import Frame
from fullgraph.codemods.ui.review.keys import DOWN, REDRAW, UP, Keys
from fullgraph.codemods.ui.review.keys_help import help_lines
from fullgraph.codemods.ui.terminal import paint

if TYPE_CHECKING:
    from rich.text import Text

KEYS = "[y,n,a,d,u,e,p,i,o,x,s,q,?] "
UNKNOWN = "That is none of the keys; ? explains them."
NO_ANSWER = "There is no answer to take back."


@dataclass
class Question:
    """A finding that is asked about, with its alternatives, and what is shown in place of its diff."""

    asked: Finding
    choices: list[Finding]
    shown: int
    body: list[Text] | None = None
    said: list[str] = field(default_factory=list)

    @property
    def finding(self) -> Finding:
        return self.choices[self.shown]


@dataclass
class Review:
    """Asks about each finding on the terminal."""

    desk: Desk
    keys: Keys
    color: bool

    @cached_property
    def frame(self) -> Frame:
        return Frame(self.color)

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]:
        """The accepted findings, with the edits of those that were changed by hand."""
        self.desk.lay_out(findings, project)
        if self.desk.ledger.queue and not self.keys.has_left:
            with self.frame.open(), self.keys.listening(self.frame.leave):
                while not self.keys.has_left and (finding := self.desk.next()):
                    self._ask(finding)
        return self.desk.chosen()

    def why_left(self, finding: Finding) -> str:
        """Why a finding that could be fixed was not chosen."""
        return self.desk.ledger.why_left(finding)

    def _ask(self, finding: Finding) -> None:
        """Ask until the finding is decided, an earlier answer is taken back, or the person leaves."""
        choices = self.desk.alternatives(finding)
        question = Question(finding, choices, choices.index(finding))
        self._turn_to(question, question.shown)
        while True:
            self._draw(question)
            question.said = []
            if self._obeys(self.keys.ask(self._prompt(question)), question):
                return

    def _prompt(self, question: Question) -> str:
        label = " (unsafe)" if question.finding.safety is Safety.UNSAFE else ""
        return paint(f"apply{label}? {KEYS}", self.color, fg="blue", bold=True)

    def _draw(self, question: Question) -> None:
        from rich.text import Text

        finding = question.finding
        head = [Text(self.desk.progress(question.asked), "bold blue"), *self.desk.told(finding)]
        if len(question.choices) > 1:
            head.insert(3, self._alternatives(question))
        diff = self.desk.diff(finding, self.frame.width, is_printed=not self.frame.is_screen)
        self.frame.draw(head, diff if question.body is None else question.body, [Text(line) for line in question.said])

    def _alternatives(self, question: Question) -> Text:
        """`alternatives: 1 log_without_break, 2 isolate_telemetry`, with the one that is shown marked."""
        from rich.text import Text

        named = [
            (
                f"{number + 1} {one.codemod}{' (shown)' if number == question.shown else ''}",
                "bold" * (number == question.shown),
            )
            for number, one in enumerate(question.choices)
        ]
        pieces = [piece for name in named for piece in (", ", name)][1:]
        return Text.assemble("alternatives: ", *pieces)

    def _turn_to(self, question: Question, number: int, body: list[Text] | None = None) -> None:
        question.shown, question.body, self.frame.offset = number, body, 0

    def _obeys(self, key: str, question: Question) -> bool:
        """Do what a key says; whether that settles the question."""
        finding = question.finding
        match key:
            case "y" | "n" | "a" | "d":
                self.desk.ledger.answer(key, finding)
            case "q":
                self.keys.has_left = True
            case "u":
                return self._take_back(question)
            case "e":
                return self._edit(question)
            case "o":
                return self._open(question)
            case "i":
                return self._says(self.desk.ignore(finding), question)
            case _:
                self._shows(key, question)
                return False
        return True

    def _says(self, said: str, question: Question) -> bool:
        """Whether there was nothing to say: then it is done."""
        question.said += [said] if said else []
        return not said

    def _shows(self, key: str, question: Question) -> None:
        """The keys that answer nothing: they show something, and the question stays."""
        from rich.text import Text

        finding = question.finding
        if key in DOWN or key in UP:
            self.frame.turn(1 if key in DOWN else -1)
        elif key == "?":
            self._turn_to(question, question.shown, [Text(line) for line in help_lines()])
        elif key == "x":
            self._turn_to(question, question.shown, self.desk.explained(finding, self.color))
        elif key == "s":
            self._turn_to(question, question.shown, self.desk.statistics())
        elif key == "p":
            self._prove(question)
        elif key.isdecimal() and 0 < int(key) <= len(question.choices):
            self._turn_to(question, int(key) - 1)
        elif key == REDRAW:
            self.frame.enter()
        else:
            self.keys.forget()
            question.said.append(UNKNOWN)

    def _prove(self, question: Question) -> None:
        """What comes out is said of the finding from then on. Ctrl-C ends the proof, and no more than that."""
        try:
            said = self.desk.prove(question.finding)
            question.said += [] if self.frame.is_screen else [f"proof: {said}"]
        except KeyboardInterrupt:
            question.said.append("The proof was stopped. Ctrl-C once more stops the review.")
        self.keys.forget()

    def _edit(self, question: Question) -> bool:
        with self.frame.resting(), self.keys.resting():
            said = self.desk.edit(question.finding)
        return self._says(said, question)

    def _open(self, question: Question) -> bool:
        """Settled only if the file was changed there: then nothing of it can be written."""
        with self.frame.resting(), self.keys.resting():
            said = self.desk.open(question.finding)
        self._says(said, question)
        return not self.desk.is_possible(question.finding)

    def _take_back(self, question: Question) -> bool:
        if self.desk.ledger.take_back():
            return True
        return self._says(NO_ANSWER, question)
