"""What the answer to a query is called."""

from __future__ import annotations

import ast
import builtins
import keyword
import re

from fullgraph.codemods.syntax.flow import last_name

ASKS = re.compile(r"_*(?:is|are|was|get|find|compute|lookup|fetch|read)_(?=[a-zA-Z])")
BEHIND = re.compile(r"_(?:of|for|at|in)$")
RESERVED = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins)}


def name_answer(call: ast.Call, taken: set[str]) -> str:
    """`occupied` for `host.is_occupied(slot)`; with the receiver's or the argument's name where that is taken."""
    asked = last_name(call).lstrip("_")
    bare = BEHIND.sub("", ASKS.sub("", asked)) or asked
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    owner = getattr(receiver, "attr", "") or getattr(receiver, "id", "")
    argument = next((item.id for item in call.args if isinstance(item, ast.Name)), "")
    choices = [bare, *(f"{part}_{bare}" for part in (argument, owner) if part not in ("", "self"))]
    choices += [f"{bare}_{number}" for number in range(2, 100)]
    return next(name for name in choices if name not in taken and name not in RESERVED)
