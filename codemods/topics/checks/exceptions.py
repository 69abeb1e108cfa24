"""Exceptions that say something else than what they are given: compiled code says what they are given."""

from __future__ import annotations

import ast
import builtins

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import only_class
from fullgraph.codemods.topics.checks.forms import Check, Link
from fullgraph.codemods.topics.checks.messages import message_of

MAKERS = ("__init__", "__new__", "__str__")
QUOTING = ("KeyError",)
DEEP = 8


def doubt_about_texts(names: Definitions, module: Module, check: Check) -> list[str]:
    """For each link of a check what eager code says and compiled code does not; empty where it says the same."""
    is_raised = isinstance(check.statement, ast.If)
    return [
        (doubt_about_class(names, module, link) if is_raised else "") or doubt_about_text(module, link)
        for link in check.links
    ]


def doubt_about_text(module: Module, link: Link) -> str:
    message = message_of(module, link)
    if message.is_told or not message.left_out:
        return ""
    return f"{module.path}:{link.test.lineno}: compiled code does not say what `{message.left_out[0]}` gives"


def doubt_about_class(names: Definitions, module: Module, link: Link) -> str:
    raised = link.raised
    assert raised is not None, "a branch that raises has an exception"
    kind = raised.func if isinstance(raised, ast.Call) else raised
    count = len([*raised.args, *raised.keywords]) if isinstance(raised, ast.Call) else 0
    if says_its_argument(names, module, kind, count):
        return ""
    return f"{module.path}:{raised.lineno}: what {link.error} says is made by its class; compiled code does not say it"


def says_its_argument(names: Definitions, module: Module, kind: ast.expr, count: int, depth: int = 0) -> bool:
    """Whether the text of an exception is its only argument, or empty if it has none."""
    if count > 1 or depth > DEEP:
        return False
    if module.scopes.is_builtin(kind, *dir(builtins)):
        return count == 0 or ast.unparse(kind) not in QUOTING
    if (module.resolve(kind) or "").startswith("torch."):
        return True
    found = only_class(names.denoted(module, kind))
    if found is None or found.node.decorator_list:
        return False
    home, owner = found
    is_own = any(home.scopes.within(owner, maker) for maker in MAKERS)
    return not is_own and all(says_its_argument(names, home, base, count, depth + 1) for base in owner.bases)
