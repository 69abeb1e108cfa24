"""On which stream code runs, seen from two streams of which one waits for the other."""

from __future__ import annotations

import ast

from fullgraph.codemods.syntax.assignments import attribute_settings
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.topics.streams.frames import Frame, same_words
from fullgraph.codemods.topics.streams.waits import Repeated, loops_around

SWITCHES = {"torch.cuda.stream", "torch.cuda.StreamContext", "torch.xpu.stream"}


class Streams:
    """The waiter and the producer of a repeated wait, in words that hold in every function.

    `is_ambient`: the producer is the default or the current stream, where all work goes that says nothing else.
    """

    def __init__(self, repeated: Repeated, names: Definitions) -> None:
        self.names = names
        outer = repeated.outer
        self.inside = frozenset(loops_around(outer.frame.module, repeated.loop, outer.frame.function))
        self.waiter = same_words(outer.frame, outer.waiter, self.inside)
        self.producer = same_words(outer.frame, outer.producer, self.inside) or ""
        self.spelling = ast.unparse(repeated.inner.producer)
        self.is_ambient = self.producer.startswith("<")

    def words(self, frame: Frame, node: ast.AST) -> str | None:
        return same_words(frame, node, self.inside)

    def stream_around(self, frame: Frame, node: ast.AST) -> str | None:
        """The stream on which a node runs, by the `with` statements around it."""
        for outer in frame.module.ancestors(node):
            if outer is frame.function:
                return None
            if isinstance(outer, ast.With):
                for item in reversed(outer.items):
                    if (stream := self.switched_to(frame, item.context_expr)) is not None:
                        return stream
        return None

    def switched_to(self, frame: Frame, node: ast.expr) -> str | None:
        """The stream that a `with` makes current; "?" for one that cannot be told."""
        if isinstance(node, ast.IfExp):
            return self.switched_to(frame, node.body) or self.switched_to(frame, node.orelse)
        binding = frame.only_binding(node) if isinstance(node, ast.Name) else None
        if binding and binding.how == "assign" and not binding.path and binding.value is not None:
            return self.switched_to(frame, binding.value)
        if isinstance(node, ast.Call):
            switches = frame.module.resolve(node.func) in SWITCHES and node.args
            return (self.words(frame, node.args[0]) or "?") if switches else None
        words = self.words(frame, node)
        return words if words in (self.waiter, self.producer) else "?"

    def counts(self, stream: str | None) -> bool:
        """Whether work at this place goes to the other stream."""
        if stream is None:
            return self.is_ambient
        return stream == "?" or (stream == self.producer and not self.is_ambient)

    def waits_for_others(self, frame: Frame, call: ast.Call) -> bool:
        """Whether the other stream itself waits for something that the waiter does not know yet."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr not in ("wait_stream", "wait_event"):
            return False
        mine = self.words(frame, func.value)
        theirs = self.words(frame, call.args[0]) if call.args else None
        return mine == self.producer and theirs != self.waiter

    def reaches_producer(self, frame: Frame, call: ast.Call) -> bool:
        """Whether a call that cannot be followed may know the other stream: by its object, or as an argument."""
        root = self.producer.partition(".")[0].partition("[")[0]
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        receiver = (
            call.func.value if isinstance(call.func, ast.Attribute) and not self.is_held(frame, call.func) else None
        )
        words = [self.words(frame, node) for node in (*given, receiver) if node is not None]
        return any(word and (word == root or self.producer.startswith(f"{word}.")) for word in words)

    def is_held(self, frame: Frame, func: ast.Attribute) -> bool:
        """Whether what is called is an object that the class keeps, and not a method, which would know the rest."""
        owner = self.names.instance(frame.module, func.value)
        return isinstance(owner and owner.node, ast.ClassDef) and bool(attribute_settings(owner.node, func.attr))  # type: ignore[union-attr,arg-type]

    def said(self) -> str:
        """The other stream as people call it."""
        if self.is_ambient:
            return "the " + self.producer.strip("<>").replace("_", " ")
        return f"`{self.spelling}`"
