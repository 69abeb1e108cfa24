"""The stride of a flat dict: the project's one constant above all second parts, the user's, or none."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.pairs.annotations import global_value
from fullgraph.codemods.topics.pairs.dicts import PairDict
from fullgraph.codemods.topics.pairs.helper import SHIFT, Form, import_function
from fullgraph.codemods.topics.pairs.keys import Keys
from fullgraph.codemods.topics.pairs.uses import Use


@dataclass(frozen=True)
class Stride:
    """A stride by its text in the defining module, and by the constant behind it if it is one.

    `is_proven`: every second part is seen to lie between 0 and the stride.
    """

    text: str = ""
    constant: tuple[Module, str] | None = None
    is_proven: bool = False

    def spell(self, found: PairDict, user: Module) -> tuple[str, tuple[Edit, ...]]:
        """How to write the stride in a file that takes keys apart."""
        if self.constant:
            return import_function(found.project, self.constant[0], user, self.constant[1])
        if self.text and user is not found.module and not self.text.isdigit():
            raise Unsure(f"{user.path}:1: the stride {self.text} cannot be written there")
        return self.text or SHIFT, ()


def choose_stride(found: PairDict, uses: list[Use], keys: Keys, given: str) -> Stride:
    if given:
        return given_stride(found, keys, given)
    path, _, name = keys.bound().partition(":")
    if not path:
        return Stride()
    home = found.project.module(path)
    stride = Stride("", (home, name), True)
    try:
        for module in {use.module.path: use.module for use in uses}.values():
            spelling, _ = stride.spell(found, module)
            check_visible(module, uses, spelling)
        return Stride(stride.spell(found, found.module)[0], stride.constant, True)
    except Unsure:
        return Stride()


def check_visible(module: Module, uses: list[Use], spelling: str) -> None:
    """Unsure where a local variable hides the stride from a loop that needs it."""
    name = spelling.partition(".")[0]
    for use in uses:
        if use.module is module and use.loop:
            scope = module.scopes.around(use.node)
            if name.isidentifier() and module.scopes.lookup(scope, name) is not module.tree:
                raise Unsure(f"{use.place}: the stride {spelling} means something else there")


def given_stride(found: PairDict, keys: Keys, given: str) -> Stride:
    """The user's expression, which must mean something where the dict is defined."""
    try:
        node = ast.parse(given.strip(), mode="eval").body
    except SyntaxError:
        raise Unsure(f"the stride {given!r} is not an expression") from None
    number = literal(node)
    if number is not None:
        if type(number) is not int or number < 1:
            raise Unsure(f"the stride {given} is not a whole number above 0")
        return Stride(str(number), None, keys.fit(number))
    known = found.module.scopes.bound.get(found.module.tree, {})
    for name in (part.id for part in ast.walk(node) if isinstance(part, ast.Name)):
        if name not in known and not hasattr(builtins, name):
            raise Unsure(f"{found.module.path}:1: the stride {given} names {name}, which is not defined there")
    constant = global_value(found.module, node, found.project)
    bound = f"{constant[0].path}:{constant[1]}" if constant else None
    return Stride(given.strip(), constant[:2] if constant else None, bound == keys.bound())


def form_of(stride: Stride) -> Form:
    return Form(stride.text)


def literal(node: ast.expr) -> object:
    """The value of a constant expression; None if it names anything."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None
