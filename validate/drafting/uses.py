"""How a function uses its parameters: which are tensors, and what the code asks of them."""

from __future__ import annotations

import ast
from typing import Any

from fullgraph.validate.drafting.calls import (
    ELEMENTWISE,
    TENSOR_METHODS,
    called_name,
    first,
    is_method,
    is_new_axis,
    is_torch,
    measured_by,
    receiver,
)
from fullgraph.validate.drafting.documented import shapes_in
from fullgraph.validate.drafting.evaluate import UNKNOWN, Array, Layer, Scope, Thing, evaluate
from fullgraph.validate.drafting.facts import BATCH, WIDTH, Facts
from fullgraph.validate.drafting.layers import KEEPING, NORMALIZING, facts_of_call, facts_of_layer
from fullgraph.validate.drafting.library import Definition, Functions


class Uses:
    """Collects facts about the parameters of one function, from its body and from what it calls."""

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, names: list[str]) -> None:
        self.node = node
        self.scope = scope
        self.facts: dict[str, Facts] = {name: Facts() for name in names}
        self.alias: dict[str, str] = {name: name for name in names}
        self.tails: dict[str, str] = {}
        """Names that still have the last dimension of a parameter, if not its shape."""
        self.lasts: dict[str, str] = {}
        """Names that are the size of a parameter's last dimension."""
        self.tensors: set[str] = set()
        self.keys: dict[str, list[str]] = {}
        """Keys that a parameter is asked for, if it is a dict."""
        self.limits: dict[str, int] = {}
        """Where a parameter is an index: the length of what it is an index of."""
        for statement in node.body:
            self.visit(statement)

    def parameter(self, node: ast.AST | None) -> str | None:
        """The parameter, or the attribute of a parameter, that an expression still has the shape of."""
        if isinstance(node, ast.Name):
            return self.alias.get(node.id)
        if isinstance(node, ast.Attribute) and node.attr not in TENSOR_METHODS:
            holder = self.parameter(node.value)
            return f"{holder}.{node.attr}" if holder else None
        if isinstance(node, ast.Call):
            name = called_name(node)
            if name in ("dict", "list", "tuple") and isinstance(node.func, ast.Name):
                return self.parameter(first(node.args))
            if name in ELEMENTWISE:
                return self.parameter(receiver(node, self.scope) or first(node.args))
            layer = evaluate(node.func, self.scope)
            if isinstance(layer, Layer) and layer.kind in KEEPING | NORMALIZING:
                return self.parameter(first(node.args))
        if isinstance(node, ast.BinOp):
            sides = [
                side for side in (node.left, node.right) if not isinstance(evaluate(side, self.scope), (int, float))
            ]
            named = [name for name in map(self.parameter, sides) if name]
            return named[0] if len(named) == 1 else None
        return self.parameter(node.operand) if isinstance(node, ast.UnaryOp) else None

    def tail(self, node: ast.AST | None) -> str | None:
        """The parameter whose last dimension an expression has: `x.reshape(b * n, d)` after `b, n, d = x.shape`."""
        if isinstance(node, ast.Call) and called_name(node) in ("view", "reshape") and node.args:
            name = self.tail(receiver(node, self.scope))
            last = node.args[-1]
            return name if isinstance(last, ast.Name) and self.lasts.get(last.id) == name else None
        if isinstance(node, ast.Name) and node.id in self.tails:
            return self.tails[node.id]
        return self.parameter(node)

    def add(self, node: ast.AST | None, facts: Facts) -> None:
        name = self.parameter(node)
        if name is None and (name := self.tail(node)):
            facts = Facts(sizes={-1: facts.sizes[-1]} if -1 in facts.sizes else {})
        if name is not None:
            self.tensors.add(name)
            self.facts[name] = self.facts.get(name, Facts()).plus(facts)

    # Statements

    def visit(self, node: ast.AST) -> None:
        """What is evaluated first is visited first: the parts before the whole, the value before its target."""
        if isinstance(node, (*Functions, ast.Lambda, ast.ClassDef)):
            return
        if isinstance(node, ast.Assign):
            self.visit(node.value)
            for target in node.targets:
                self.assign(target, node.value)
            return
        if isinstance(node, ast.For):
            self.bind_first(node)
        for child in ast.iter_child_nodes(node):
            self.visit(child)
        reader = getattr(self, f"see_{type(node).__name__.lower()}", None)
        if reader:
            reader(node)

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        measured = measured_by(value)
        if isinstance(target, (ast.Tuple, ast.List)) and measured:
            self.add(measured, Facts(rank=len(target.elts)))
            name, last = self.parameter(measured), target.elts[-1]
            if name and isinstance(last, ast.Name):
                self.lasts[last.id] = name
        elif isinstance(target, ast.Name):
            self.rename(target.id, value)

    def rename(self, name: str, value: ast.expr) -> None:
        """What a local name stands for from now on."""
        source, tail = self.parameter(value), self.tail(value)
        self.tails.pop(name, None)
        if source:
            self.alias[name] = source
            return
        self.alias.pop(name, None)
        if tail:
            self.tails[name] = tail
        self.scope.names[name] = evaluate(value, self.scope)

    def bind_first(self, node: ast.For) -> None:
        """A loop over layers is seen once, with the first of them."""
        items = evaluate(node.iter, self.scope)
        items = items.args if isinstance(items, Layer) else items
        items = items[0] if isinstance(items, list) and items and isinstance(items[0], list) else items
        if isinstance(node.target, ast.Name) and isinstance(items, list) and items:
            self.scope.names[node.target.id] = items[0]

    def see_attribute(self, node: ast.Attribute) -> None:
        if node.attr in TENSOR_METHODS:
            self.add(node.value, Facts())

    def see_subscript(self, node: ast.Subscript) -> None:
        name = self.parameter(node.value)
        if isinstance(node.slice, ast.Tuple):
            self.add(node.value, Facts(at_least=len([one for one in node.slice.elts if not is_new_axis(one)])))
        elif name and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            self.keys.setdefault(name, []).append(node.slice.value)
        elif isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            index = evaluate(node.slice, self.scope)
            if isinstance(index, int):
                self.add(node.value.value, Facts(at_least=index + 1 if index >= 0 else -index))
        elif name is None and isinstance(node.slice, ast.Name) and self.parameter(node.slice):
            held = evaluate(node.value, self.scope)
            if isinstance(held, Array):
                self.add(node.slice, Facts(kind="int", below=held.shape[0]))
            elif isinstance(held, (list, tuple)) and held:
                self.limits[self.parameter(node.slice) or ""] = len(held)

    def see_binop(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.MatMult):
            self.see_product(node.left, node.right)
        for side in (node.left, node.right):
            other = node.right if side is node.left else node.left
            held = evaluate(other, self.scope)
            if isinstance(held, Array) and held.shape and not isinstance(node.op, ast.MatMult) and held.shape[-1] > 1:
                self.add(side, Facts(sizes={-1: held.shape[-1]}))

    def see_product(self, left: ast.expr, right: ast.expr) -> None:
        weight = evaluate(right, self.scope)
        if isinstance(weight, Array) and len(weight.shape) >= 2:
            self.add(left, Facts(sizes={-1: weight.shape[-2]}))
        elif self.parameter(left) and self.parameter(right):
            self.add(left, Facts())
            self.add(right, Facts(rank=2, has_batch=False))

    def see_unaryop(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Invert):
            self.add(node.operand, Facts(kind="bool"))

    def see_for(self, node: ast.For) -> None:
        self.look_for_keys(node.target, node.iter, node.body)

    def see_dictcomp(self, node: ast.DictComp) -> None:
        self.look_for_keys(node.generators[0].target, node.generators[0].iter, [node.key, node.value])

    def see_listcomp(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        self.look_for_keys(node.generators[0].target, node.generators[0].iter, [node.elt])

    see_generatorexp = see_listcomp

    def look_for_keys(self, target: ast.expr, source: ast.expr, body: list[Any]) -> None:
        """`for name in NAMES: ... param[name]` asks the parameter for every one of the names."""
        items = evaluate(source, self.scope)
        items = list(items) if isinstance(items, (list, tuple, dict)) else []
        if not isinstance(target, ast.Name) or not items or not all(isinstance(item, str) for item in items):
            return
        for node in (inner for part in body for inner in ast.walk(part)):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and node.slice.id == target.id:
                name = self.parameter(node.value)
                if name:
                    self.keys.setdefault(name, []).extend(items)

    # Calls

    def see_call(self, node: ast.Call) -> None:
        callee = evaluate(node.func, self.scope)
        if isinstance(callee, Layer):
            for position, arg in enumerate(node.args):
                self.add(arg, facts_of_layer(callee, position))
        elif isinstance(callee, Thing):
            method = self.scope.library.member(callee.definition, "forward")
            self.see_inner(node, method, callee)
        elif isinstance(callee, Definition) and isinstance(callee.node, Functions) and not is_torch(callee):
            self.see_inner(node, callee, self.receiver(node))
        else:
            self.see_function(node)

    def receiver(self, node: ast.Call) -> Thing | None:
        holder = evaluate(node.func.value, self.scope) if isinstance(node.func, ast.Attribute) else None
        return holder if isinstance(holder, Thing) else None

    def see_inner(self, node: ast.Call, callee: Definition | None, holder: Thing | None) -> None:
        """A call of the user's own code: what that asks of its parameters is asked of ours."""
        if callee is None or not isinstance(callee.node, Functions) or self.scope.depth > 6:
            return
        names = [one.arg for one in (*callee.node.args.posonlyargs, *callee.node.args.args)][bool(holder) :]
        given = dict(zip(names, node.args, strict=False)) | {word.arg: word.value for word in node.keywords if word.arg}
        wanted = [name for name in names if name in given and self.tail(given[name])]
        if not wanted:
            return
        inner = Uses(callee.node, self.scope.inside(callee.module, {"self": holder} if holder else {}), wanted)
        inner.read_docstring()
        for name in wanted:
            source = self.parameter(given[name])
            if source:
                self.take_over(inner, name, source)
            else:
                self.add(given[name], inner.facts[name])

    def read_docstring(self) -> None:
        """Shapes that are written down, where the code does not speak against them."""
        told = shapes_in(ast.get_docstring(self.node) or "", list(self.facts), self.scope, {})
        for name, facts in told.items():
            if self.facts[name].rank in (None, len(facts.dims)):
                self.add(ast.Name(name), facts)

    def take_over(self, inner: Uses, name: str, source: str) -> None:
        """What was found out about a parameter of another function, and its attributes, holds for what was passed."""
        for path, facts in inner.facts.items():
            if path in inner.tensors and (path == name or path.startswith(f"{name}.")):
                mine = source + path.removeprefix(name)
                self.tensors.add(mine)
                self.facts[mine] = self.facts.get(mine, Facts()).plus(facts)
        for path, keys in inner.keys.items():
            if path == name or path.startswith(f"{name}."):
                self.keys.setdefault(source + path.removeprefix(name), []).extend(keys)

    def see_function(self, node: ast.Call) -> None:
        name = called_name(node)
        is_function = self.scope.module.dotted(node.func).startswith("torch.")
        args: list[ast.expr] = list(node.args)
        if is_method(node, self.scope) and isinstance(node.func, ast.Attribute):
            args = [node.func.value, *args]
        elif not is_function:
            return
        if name == "einsum":
            self.see_einsum(args)
        elif name in ("permute", "transpose", "swapaxes"):
            self.see_reordering(name, args)
        elif name in ("view", "reshape") and len(args) == 3:
            self.see_flattening(args)
        else:
            values = [evaluate(arg, self.scope) for arg in args]
            for position, arg in enumerate(args):
                facts = facts_of_call(name, position, values)
                if is_function or facts != Facts():
                    self.add(arg, facts)

    def see_einsum(self, args: list[ast.expr]) -> None:
        equation = evaluate(first(args), self.scope)
        if isinstance(equation, str):
            operands = equation.partition("->")[0].replace(" ", "").replace("...", "").split(",")
            for letters, arg in zip(operands, args[1:], strict=False):
                dims = tuple(BATCH if letter == operands[0][:1] else WIDTH for letter in letters)
                self.add(arg, Facts(dims=dims))

    def see_flattening(self, args: list[ast.expr]) -> None:
        """`x.view(-1, 784)` takes vectors of that size."""
        rows, size = evaluate(args[1], self.scope), evaluate(args[2], self.scope)
        if isinstance(size, int) and size > 0 and rows in (-1, UNKNOWN):
            self.add(args[0], Facts(sizes={-1: size}))

    def see_reordering(self, name: str, args: list[ast.expr]) -> None:
        places = [evaluate(arg, self.scope) for arg in args[1:]]
        places = list(places[0]) if len(places) == 1 and isinstance(places[0], (tuple, list)) else places
        numbers = [place for place in places if isinstance(place, int)]
        if name == "permute" and places:
            self.add(args[0], Facts(rank=len(places)))
        elif numbers:
            self.add(args[0], Facts(at_least=max(one + 1 if one >= 0 else -one for one in numbers)))
