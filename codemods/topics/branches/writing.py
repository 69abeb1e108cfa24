"""The new code: `torch.where` in the place of the branch, or before it for compiled code only."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from fullgraph.codemods.model import Edit, Span, Unsure
from fullgraph.codemods.topics.branches.aliases import doubt, kept
from fullgraph.codemods.topics.branches.arms import RESULT, is_result
from fullgraph.codemods.topics.branches.choices import Choice
from fullgraph.codemods.topics.branches.forks import Fork, forks
from fullgraph.codemods.topics.branches.needs import require_torch
from fullgraph.codemods.topics.branches.proof import Proof
from fullgraph.codemods.topics.branches.sides import Names, Sides, Wrap, depend, is_lone_part, joined, wrapper

WIDE = 100


@dataclass
class Written:
    edits: tuple[Edit, ...]
    caveat: str
    notes: tuple[str, ...]
    form: str
    covers: Span
    asks: bool = True
    """Whether the new text asks `torch.compiler.is_compiling`."""


def write(choice: Choice) -> Written:
    """The edits of one finding; Unsure where no form of it is right."""
    module = choice.reader.module
    torch, imports = require_torch(choice.reader, choice.node)
    proof = Proof(choice, torch)
    proof.prove()
    caveat = doubt(choice, proof)
    text = Text(choice, proof, torch, hands_on=bool(caveat))
    if not module.begins_line(module.statement(choice.node)):
        raise Unsure(f"line {choice.node.lineno}: it shares its line with another statement")
    if text.is_plain(kept(choice, proof)):
        return Written((*imports, text.plain()), caveat, (), "torch.where", text.replaced(), asks=False)
    notes = ("eager code runs as before; only compiled code takes the new lines", *text.notes())
    return Written((*imports, text.guarded()), caveat, notes, text.form, text.replaced())


class Text:
    """The lines that stand for a choice."""

    def __init__(self, choice: Choice, proof: Proof, torch: str, *, hands_on: bool) -> None:
        self.choice, self.proof, self.torch = choice, proof, torch
        self.module = choice.reader.module
        self.indent = self.module.indent(self.module.statement(choice.node))
        self.uses_cond = proof.is_heavy
        if self.uses_cond:
            check_cond(choice, proof)
        no_grad = choice.reader.no_grad
        if self.uses_cond or proof.apart or no_grad or hands_on:
            proof.need_no_gradients(always=self.uses_cond or no_grad)
        self.needs_no_grad = not no_grad and (self.uses_cond or not proof.need_apart())
        self.wraps = proof.is_bent and not self.needs_no_grad and not no_grad
        self.form = "torch.cond" if self.uses_cond else "torch.where"
        free = Names(choice.reader.function)
        self.names = [free.fresh("taken") if self.is_named(number) else "" for number in range(len(choice.conditions))]
        self.sides = Sides(choice, free, [self.wrap(number) for number in range(len(choice.arms))])

    def is_named(self, number: int) -> bool:
        """Whether a condition is needed more than once."""
        return len(self.choice.targets) > 1 or self.wraps or forks(self.choice.top).count(number) > 1

    def notes(self) -> tuple[str, ...]:
        if self.uses_cond:
            return ("where gradients are recorded the graph still breaks: torch.cond loses gradients",)
        told = "where something that not all sides use gets gradients the graph still breaks: it would get zeros too"
        return (told,) if self.proof.apart and not self.choice.reader.no_grad else ()

    def is_plain(self, shared: list[str]) -> bool:
        """Whether eager code may run the new form too: the same values, strides, gradients and owners."""
        choice, proof = self.choice, self.proof
        odd = self.needs_no_grad or self.uses_cond or self.wraps or choice.conditions[0].is_either
        special = proof.tests or odd or proof.is_bent or shared
        static = choice.conditions[0].static
        is_simple = not static or not (choice.returns or (isinstance(choice.node, ast.If) and choice.node.orelse))
        span = self.replaced()
        has_comment = "#" in self.module.text[span.start : span.end]
        return not special and proof.keeps_layout and is_simple and not has_comment

    # Lines

    def condition(self, number: int) -> str:
        return self.names[number] or self.choice.conditions[number].text

    def wrap(self, number: int) -> Wrap:
        if not self.wraps or not self.choice.arms[number].work.bent:
            return None
        return wrapper(self.torch, self.names, self.choice.ways[number])

    def chosen(self, name: str) -> list[str]:
        """The call that selects, as its pieces; only the text where all sides give the same."""
        top, values = self.choice.top, [side[name] for side in self.sides.values]
        if self.uses_cond:
            fresh = [not found.owners for found in self.proof.values[name]]
            values = [text if is_new else f"({text}).clone()" for text, is_new in zip(values, fresh, strict=True)]
            return [f"{self.torch}.cond(", self.condition(0), *(f"lambda: {side}" for side in values)]
        yes, no = (self.selected(side, values) for side in (top.yes, top.no))
        return [yes] if yes == no else [f"{self.torch}.where(", self.condition(top.condition), yes, no]

    def selected(self, place: Fork | int, values: list[str]) -> str:
        if isinstance(place, int):
            return values[place]
        yes, no = (self.selected(side, values) for side in (place.yes, place.no))
        return yes if yes == no else f"{self.torch}.where({self.condition(place.condition)}, {yes}, {no})"

    def lines(self, depth: int) -> list[str]:
        """The new statements; each level of a line's own indentation is one unit."""
        unit, found = self.module.indent_unit, []
        for number, name in enumerate(self.names):
            if name:
                found.append(f"{name} = {self.choice.conditions[number].text}")
        found += [f"{name} = {text}" for text, name in self.sides.lines.items()]
        targets, every = self.choice.targets, [self.chosen(name) for name in self.choice.targets]
        if is_result(targets[0]) or depend(targets, self.sides.values):
            head = "return " if is_result(targets[0]) else f"{', '.join(targets)} = "
            return found + self.together(head, every, unit * depth)
        for name, pieces in zip(targets, every, strict=True):
            found += self.together(f"{name} = ", [pieces], unit * depth)
        return found

    def together(self, head: str, every: list[list[str]], indent: str) -> list[str]:
        """One statement with one call, or several side by side; on several lines if it is long."""
        unit, calls = self.module.indent_unit, [joined(pieces) for pieces in every]
        line = head + ", ".join(calls) + ("," if is_lone_part(self.choice.targets) else "")
        if self.fits(indent + line):
            return [line]
        if len(every) == 1 and len(every[0]) > 1 and not is_lone_part(self.choice.targets):
            inner = [line for piece in every[0][1:] for line in self.spread(indent + unit, piece)]
            return [head + every[0][0], *(unit + line for line in inner), ")"]
        return [f"{head}(", *(unit + line for call in calls for line in self.spread(indent + unit, call)), ")"]

    def spread(self, indent: str, text: str) -> list[str]:
        """One argument, on several lines where it is a selection that is too long for one."""
        call = None if text.startswith("lambda:") else ast.parse(text, mode="eval").body
        is_where = isinstance(call, ast.Call) and ast.unparse(call.func) == f"{self.torch}.where"
        if self.fits(f"{indent}{text},") or not is_where:
            return [f"{text},"]
        assert isinstance(call, ast.Call)
        unit, parts = self.module.indent_unit, [ast.get_source_segment(text, part) or "" for part in call.args]
        inner = [line for part in parts for line in self.spread(indent + unit, part)]
        return [f"{self.torch}.where(", *(unit + line for line in inner), "),"]

    def fits(self, line: str) -> bool:
        """Whether a line is short enough; torch's name in this file does not count, nor may the layout depend on it."""
        return len(self.indent + line.replace(f"{self.torch}.", "torch.")) <= WIDE

    # Edits

    def replaced(self) -> Span:
        if isinstance(self.choice.node, ast.IfExp):
            return with_parentheses(self.module.text, self.module.span(self.choice.node))
        return Span(self.module.span(self.choice.node).start, self.module.span(self.choice.last).end)

    def plain(self) -> Edit:
        if isinstance(self.choice.node, ast.IfExp):
            return self.module.replace(self.replaced(), joined(self.chosen(RESULT)))
        static, unit = self.choice.conditions[0].static, self.module.indent_unit
        lines = self.lines(1 if static else 0)
        if static:
            lines = [f"if {' and '.join(static)}:", *(unit + line for line in lines)]
        return self.module.replace(self.replaced(), f"\n{self.indent}".join(lines))

    def guard(self) -> str:
        asked = [*self.static(), *self.proof.tests]
        asked += [f"not {self.torch}.is_grad_enabled()"] if self.needs_no_grad else []
        tests = [f"{self.torch}.compiler.is_compiling()", *dict.fromkeys(asked)]
        line = f"if {' and '.join(tests)}:"
        if self.fits(line):
            return line
        gap = f"\n{self.indent}{self.module.indent_unit}"
        return f"if ({gap}{f'{gap}and '.join(tests)}\n{self.indent}):"

    def static(self) -> list[str]:
        """The Python tests before the tensor's, without those that another test answers."""
        answered = {
            test.replace("isinstance(", "", 1).replace(f", {self.torch}.Tensor)", " is not None")
            for test in self.proof.tests
            if test.startswith("isinstance(") and test.endswith(f", {self.torch}.Tensor)")
        }
        return [test for test in self.choice.conditions[0].static if test not in answered]

    def guarded(self) -> Edit:
        """The new lines for compiled code, and the old ones for everybody else, as they are."""
        gap = f"\n{self.indent}{self.module.indent_unit}"
        statement = self.module.statement(self.choice.node)
        start = self.module.span(statement).start
        if isinstance(self.choice.node, ast.IfExp):
            return self.guarded_ternary(self.choice.node, statement, gap)
        body = "".join(gap + line for line in self.lines(1))
        return self.module.insert(start, f"{self.guard()}{body}\n{self.indent}{'' if self.choice.rest else 'el'}")

    def guarded_ternary(self, node: ast.IfExp, statement: ast.stmt, gap: str) -> Edit:
        old, span = self.module.code(statement), self.module.span(statement)
        if "\n" in old or "\r" in old or not isinstance(statement, ast.Assign | ast.Return | ast.Expr):
            raise Unsure(f"line {node.lineno}: it stands in a statement that cannot be written twice")
        where = self.replaced()
        call = joined(self.chosen(RESULT))
        new = old[: where.start - span.start] + call + old[where.end - span.start :]
        named = [f"{self.names[0]} = {self.choice.conditions[0].text}"] if self.names[0] else []
        named += [f"{name} = {text}" for text, name in self.sides.lines.items()]
        head = self.guard() + "".join(gap + line for line in [*named, new])
        if isinstance(statement, ast.Return):
            return self.module.insert(span.start, f"{head}\n{self.indent}")
        return self.module.replace(span, f"{head}\n{self.indent}else:{gap}{old}")


def check_cond(choice: Choice, proof: Proof) -> None:
    """What torch.cond is seen to stand: one value, two sides, tensors and written numbers only."""
    line = choice.node.lineno
    if len(choice.arms) != 2 or len(choice.targets) != 1 or choice.has_locals:
        raise Unsure(f"line {line}: too dear to compute every side, and torch.cond takes two sides with one value each")
    numbers = [key for arm in choice.arms for key in arm.work.numbers]
    if numbers:
        raise Unsure(f"line {line}: torch.cond fails with numbers that are not written out")
    proof.need_contiguous(proof.values[choice.targets[0]])


def with_parentheses(text: str, span: Span) -> Span:
    """The span with parentheses right around it that belong to no call."""
    is_wrapped = text[span.start - 1 : span.start] == "(" and text[span.end : span.end + 1] == ")"
    calls = re.match(r"[\w)\]]", text[span.start - 2 : span.start - 1])
    return Span(span.start - 1, span.end + 1) if is_wrapped and not calls else span
