"""The text of a scenario file, from what was found out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from fullgraph.validate.drafting.asked import choices_in, guesser_for
from fullgraph.validate.drafting.callers import passed_values
from fullgraph.validate.drafting.calls import is_torch
from fullgraph.validate.drafting.construct import construct
from fullgraph.validate.drafting.evaluate import Scope
from fullgraph.validate.drafting.facts import BATCH
from fullgraph.validate.drafting.fitting import fitting_sizes
from fullgraph.validate.drafting.layout import lay_out
from fullgraph.validate.drafting.library import Definition, Library
from fullgraph.validate.drafting.makers import Value
from fullgraph.validate.drafting.needs import (
    WEIGHTS,
    WITH_GRADIENTS,
    given_gradients,
    is_disabled,
    left_on_host,
    moved,
    reads_gradients,
    takes_weights,
)
from fullgraph.validate.drafting.parameters import Parameter, constructor_of
from fullgraph.validate.drafting.seen import Seen
from fullgraph.validate.drafting.subject import RESERVED, Subject
from fullgraph.validate.drafting.values import Guesser

SIZES = [4, 7]
"""Two batches of different sizes, so that a recompile shows."""


@dataclass
class Function:
    """One function of the file: its lines, and what was guessed or is missing in it."""

    lines: list[str] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def settle(self, values: dict[Parameter, Value | None]) -> tuple[list[str], dict[Parameter, str]]:
        """Texts for the values. A module that an optimizer needs gets a name of its own, in a line before."""
        models = [one.name for one, value in values.items() if value and value.is_module]
        needs_model = any(value and "{model}" in value.text for value in values.values())
        before, texts = [], {}
        for one, value in values.items():
            text = value.text if value else "..."
            is_orphan = "{model}" in text and not models
            self.note(one, None if is_orphan else value)
            texts[one] = "..." if is_orphan else text.replace("{model}", models[0] if models else "")
            if value and value.is_module and needs_model and one.name == models[0]:
                before.append(f"{one.name} = {text}")
                texts[one] = one.name
        return before, texts

    def note(self, one: Parameter, value: Value | None) -> None:
        if value is None:
            self.missing.append(f"`{one.name}`" + (f": {one.written}" if one.written else ""))
        elif value.guess:
            self.guesses.append(value.guess)

    def text(self, head: str) -> str:
        notes = []
        if self.missing:
            wanted = "; ".join(self.missing).replace('"', "'")
            notes.append(f'raise NotImplementedError("fill in below, then delete this line: {wanted}")')
        if self.guesses:
            notes.append(f"# Guessed: {', '.join(dict.fromkeys(self.guesses))}.")
        return "\n".join([head, *(f"    {line}".rstrip() for line in [*notes, *self.lines])])


class Draft:
    """Collects the parts of one file."""

    def __init__(self, subject: Subject, library: Library, seen: Seen) -> None:
        self.subject = subject
        self.library = library
        self.seen = seen
        self.sizes = seen.sizes or SIZES
        self.imports: set[tuple[str, str]] = set()
        self.scope = Scope(library, subject.function.module)
        self.needs_gradients = reads_gradients(subject.node) and not is_torch(subject.function)

    # What is built

    def spelled(self, name: str, module: str) -> str:
        """How the file names it; of what would hide a name of the file, the module is imported."""
        if name in RESERVED:
            self.imports.add((module, ""))
            return f"{module}.{name}"
        self.imports.add((module, name))
        return name

    def build(self) -> Function:
        module, _, qualname = self.subject.target.partition(":")
        first, _, rest = qualname.partition(".")
        name = ".".join(filter(None, [self.spelled(first, module), rest]))
        made = Function()
        owner = self.subject.owner
        if owner is None:
            made.lines = [f"return {name}"]
            return made
        before, arguments = made.settle(self.constructor_values(owner))
        given = ", ".join(f"{one.name}={text}" for one, text in arguments.items())
        class_name = name.rpartition(".")[0] if self.subject.method else name
        is_module = self.library.is_torch_module(owner)
        thing = f"{class_name}({given}){'.to(device)' if is_module else ''}"
        thing = given_gradients(thing) if is_module and self.needs_gradients else thing
        method = f".{self.subject.method}" if self.subject.method else ""
        made.lines = [*before, *lay_out("return ", f"{thing}{method}", 4)]
        return made

    def built(self) -> Function:
        """What is compiled; around what torch.compile leaves alone, a caller."""
        made = self.build()
        if not is_disabled(self.subject.function):
            return made
        made.lines = [line.replace("return ", "function = ", 1) for line in made.lines]
        made.lines += ["", "def caller(*args, **kwargs):", "    return function(*args, **kwargs)", "", "return caller"]
        return made

    def constructor_values(self, owner: Definition) -> dict[Parameter, Value | None]:
        """What the constructor needs; the object that it makes is known from now on as `self`."""
        guesser = Guesser(self.scope, True)
        guesser.imports = self.imports
        init = self.library.member(owner, "__init__")
        guesser.choices = choices_in(init.node) if init else {}
        wanted = constructor_of(owner, self.scope) or []
        guesser.passed = passed_values(owner, wanted, self.scope)
        values = {one: guesser.value(one) for one in wanted if one.is_needed or one.name == "device"}
        worth = {one.name: value.worth for one, value in values.items() if value}
        shapes = self.seen.shapes([one.name for one in self.subject.parameters])
        sizes = fitting_sizes(self.subject, owner, wanted, worth, self.scope, shapes) if shapes else {}
        values |= {one: Value(str(sizes[one.name]), sizes[one.name]) for one in wanted if one.name in sizes}
        worth |= sizes
        thing = construct(owner, [], worth, self.scope)
        self.scope.names["self"] = thing
        return values

    # What it is called with

    def cases(self) -> Function:
        made = Function()
        before, texts = made.settle(self.argument_values())
        expression = self.case(texts)
        everything = "\n".join([*before, expression])
        if "generator" in everything:
            made.lines.append("generator = torch.Generator().manual_seed(seed)")
        if re.search(rf"\b{BATCH}\b[,)]", everything):
            made.lines.append(f"for {BATCH} in ({', '.join(map(str, self.sizes))}):")
            made.lines += [f"    {line}" for line in [*before, *lay_out("yield ", expression, 8)]]
        else:
            made.lines += [*before, *lay_out("yield ", expression, 4)]
        return made

    def argument_values(self) -> dict[Parameter, Value | None]:
        guesser = self.argument_guesser()
        guesser.imports = self.imports
        guesser.passed = passed_values(self.subject.function, self.subject.parameters, self.scope)
        wanted = self.wanted_parameters(guesser)
        return {one: self.fitted(one, self.seen.value(one, guesser) or guesser.value(one)) for one in wanted}

    def fitted(self, one: Parameter, value: Value | None) -> Value | None:
        """A module with gradients where they are read; a tensor on the host where the function moves it."""
        if self.needs_gradients and takes_weights(one):
            return Value(WEIGHTS, guess=f"`{one.name}`")
        if value and value.is_module and self.needs_gradients:
            return replace(value, text=given_gradients(value.text))
        is_moved = any(isinstance(node, ast.Name) and node.id == one.name for node in moved(self.subject.node))
        return left_on_host(value) if value and is_moved else value

    def argument_guesser(self) -> Guesser:
        return guesser_for(self.subject, self.scope, self.seen)

    def wanted_parameters(self, guesser: Guesser) -> list[Parameter]:
        """What has to be given, and what a captured call gave or else tensors of a known shape; of many, one."""
        every, seen = self.subject.parameters, self.seen.arguments
        is_own = not is_torch(self.subject.function)
        return [
            one
            for one in every
            if one.is_needed
            or (one.name in seen if seen else is_own and guesser.knows_tensor(one))
            or (one.kind == "star" and len(every) == 1)
        ]

    def case(self, texts: dict[Parameter, str]) -> str:
        """A tuple for one argument or for what must be given by position, a dict otherwise."""
        by_position = [text for one, text in texts.items() if one.kind in ("positional", "star")]
        named = {one.name: text for one, text in texts.items() if one.kind not in ("positional", "star")}
        if not by_position and len(named) == 1 and all(one.kind == "plain" for one in texts):
            by_position, named = list(named.values()), {}
        entries = ", ".join(f'"{name}": {text}' for name, text in named.items())
        positional = f"({', '.join(by_position)}{',' if len(by_position) == 1 else ''})"
        if by_position and named:
            self.imports.add(("types", "SimpleNamespace"))
            return f"SimpleNamespace(args={positional}, kwargs={{{entries}}})"
        return f"{{{entries}}}" if named else positional


def compose(draft: Draft, file: str) -> str:
    """The whole file."""
    build, cases = draft.built(), draft.cases()
    body = "\n\n\n".join([build.text("def build(device):"), cases.text("def cases(device, seed):")])
    body = f"{WITH_GRADIENTS}\n\n\n{body}" if "with_gradients(" in body else body
    second = " --device second" if moved(draft.subject.node) and not is_torch(draft.subject.function) else ""
    head = f'"""{draft.subject.target}, before and after a change:\n\n    fullgraph prove {file}{second}\n"""'
    return "\n\n".join([head, *import_blocks(draft.imports, "torch." in body)]) + f"\n\n\n{body}\n"


def import_blocks(imports: Iterable[tuple[str, str]], needs_torch: bool) -> list[str]:
    """The standard library, torch, the user's own: a block each."""
    by_module: dict[str, set[str]] = {}
    for module, name in imports:
        by_module.setdefault(module, set()).add(name)
    blocks: dict[int, list[str]] = {0: [], 1: ["import torch"] if needs_torch else [], 2: []}
    for module, names in sorted(by_module.items()):
        place = 0 if module == "types" else 1 if module.partition(".")[0] == "torch" else 2
        plain = sorted(name for name in names if name)
        blocks[place] += [f"import {module}"] if "" in names else []
        blocks[place] += [f"from {module} import {', '.join(plain)}"] if plain else []
    return ["\n".join(dict.fromkeys(block)) for block in blocks.values() if block]
