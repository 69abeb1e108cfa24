"""What compiled code asks where the text does not tell: whether something is a tensor, of which dtype, on which device.

A tensor without dimensions makes no other tensor wider, as a number does not: with a tensor that has dimensions the
same comes out for both, if the one is of no higher kind than the other. All of that is known while a graph is traced.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.scalars.repair import Look
from fullgraph.codemods.topics.scalars.roots import applied_to, root_of
from fullgraph.codemods.topics.scalars.variables import is_set_before, is_steady

ELEMENTWISE = frozenset({"abs", "square", "detach", "relu", "neg", "flatten"})
REDUCING = frozenset({"max", "min", "amax", "amin", "median", "mean", "std", "var", "sum"})
NARROW = frozenset({"half", "bfloat16"})
WIDE = frozenset({"float", "double"})


@dataclass(frozen=True)
class Chain:
    """A variable, and the methods without arguments that are called on it."""

    name: ast.Name
    methods: frozenset[str] = frozenset()


def chain_of(module: Module, node: ast.expr, among: frozenset[str], is_now: bool) -> Chain | None:
    """The variable behind `x.float().abs().max()`; None where it may be another by then, or other things are done."""
    methods: set[str] = set()
    while not isinstance(node, ast.Name):
        applied = applied_to(module, node, among)
        if applied is None or not isinstance(node, ast.Call):
            return None
        methods.add(getattr(node.func, "attr", ""))
        node = applied
    return Chain(node, frozenset(methods)) if is_now or is_steady(module, node) else None


def may_be_tensor(look: Look, node: ast.expr, is_now: bool) -> bool:
    """Whether a value is a tensor if the one variable from which it is made is, and nothing says that it is not."""
    chain = chain_of(look.module, node, ELEMENTWISE | NARROW | WIDE, is_now)
    name = chain.name if chain else named(look, root_of(look.module, node, is_now))
    return name is not None and look.tensors.known(look.module, name).what in ("", "tensor")


def named(look: Look, name: str) -> ast.Name | None:
    mentions = (node for node in ast.walk(look.function) if isinstance(node, ast.Name) and node.id == name)
    return next((node for node in mentions if look.holds(node)), None)


def is_tensor_tests(look: Look, *names: str) -> list[str]:
    """The tests for those of these variables that are not seen to be tensors."""
    torch, _ = look.module.imports.require("torch")
    mentions = {name: named(look, name) for name in names}
    unseen = [name for name, mention in mentions.items() if mention is None or not look.is_tensor(mention)]
    return [f"isinstance({name}, {torch}.Tensor)" for name in unseen]


@dataclass(frozen=True)
class Number:
    """A number that is read: the chain that it comes from, and what is sure about it by the text.

    `is_count`: it counts elements. `is_calculated`: Python goes on to calculate with it, which is done in doubles.
    `is_divided`: a tensor divides it; a half would have it cut to halves first, on every device.
    """

    chain: Chain
    must_be_float: bool = False
    is_count: bool = False
    is_calculated: bool = False
    is_divided: bool = False

    def tests(self, torch: str) -> list[str]:
        if self.is_count or self.chain.methods & WIDE:
            return []
        name = self.chain.name.id
        if self.must_be_float or self.is_calculated:
            return [f"{name}.is_floating_point()"]
        return [f"{name}.dtype in ({torch}.int64, {torch}.float32, {torch}.float64)"]


def tests_of(look: Look, number: Number, partners: list[Chain]) -> list[str]:
    """Everything that must hold for a tensor in place of a number."""
    torch, _ = look.module.imports.require("torch")
    source = number.chain.name.id
    names = dict.fromkeys([source, *(partner.name.id for partner in partners)])
    tests = [*is_tensor_tests(look, *names), *number.tests(torch)]
    for partner in partners:
        name = partner.name.id
        tests += [f"{name}.device == {source}.device"] if name != source else []
        tests += [f"{name}.dim() > 0", *dtype_tests(torch, number, partner)]
    is_told = f"{source}.dtype in ({torch}.float32, {torch}.float64)" in tests
    return [test for test in dict.fromkeys(tests) if not is_told or test != f"{source}.is_floating_point()"]


def dtype_tests(torch: str, number: Number, partner: Chain) -> list[str]:
    """Floats stay what they are with any number, whole numbers with whole ones.

    Off the CPU a number that is too large for a half would be cut to it first; not every device has doubles.
    """
    name, full = partner.name.id, f"({torch}.float32, {torch}.float64)"
    is_full = bool(partner.methods & WIDE) and not partner.methods & NARROW
    if number.is_calculated or number.is_divided:
        tests = [] if is_full else [f"{name}.dtype in {full}"]
        return [*tests, f'{name}.device.type in ("cpu", "cuda")'] if number.is_calculated else tests
    if partner.methods & NARROW:
        return [f'{name}.device.type == "cpu"']
    if is_full:
        return []
    is_float = number.must_be_float or number.chain.methods & WIDE
    whole = f"({name}.is_floating_point() or {number.chain.name.id}.dtype == {torch}.int64)"
    return [
        f"{name}.is_floating_point()" if is_float else whole,
        f'({name}.device.type == "cpu" or {name}.dtype in {full})',
    ]


def partners_of(look: Look, tensors: list[ast.expr], is_now: bool, statement: ast.stmt) -> list[Chain] | None:
    """The variables that a number meets; None where one is not there yet when the number is read."""
    chains = [chain_of(look.module, other, ELEMENTWISE | NARROW | WIDE, is_now) for other in tensors]
    found = [chain for chain in chains if chain and (is_now or is_set_before(look.module, chain.name, statement))]
    return found if len(found) == len(tensors) else None
