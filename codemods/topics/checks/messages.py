"""What a failed check says, as a text that torch can carry through a compiled graph."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.checks.forms import Link
from fullgraph.codemods.topics.checks.texts import Piece, pieces

SAFE_AS = {'"': "'", "\n": " ", "\r": " ", "\\": "/", "\0": " "}
"""Characters that inductor does not carry: it writes the text into C++ as it is."""

NOT_ERRORS = {"StopIteration", "StopAsyncIteration", "GeneratorExit", "KeyboardInterrupt", "SystemExit"}
UNTOLD = "a check failed"
HOLE = re.compile(r"\\\{.*?\\\}", re.DOTALL)


@dataclass(frozen=True)
class Message:
    """`text`: what compiled code says. `literal`: that as it is written there; `told`: how eager code tells it."""

    text: str
    literal: str = ""
    is_told: bool = True
    left_out: tuple[str, ...] = ()


def message_of(module: Module, link: Link) -> Message:
    """The message of what a link raises; Unsure where the exception is made elsewhere."""
    raised = link.raised
    if link.error in NOT_ERRORS:
        raise Unsure(f"{place(module, link.test)}: {link.error} is no error but steers who called")
    if raised is None:
        return Message(UNTOLD if not link.is_for_all else "not all elements are true", is_told=False)
    if isinstance(raised, ast.Lambda):
        return text_of(module, raised.body)
    if link.error == "AssertionError" and not is_exception(raised):
        return text_of(module, raised)
    if isinstance(raised, (ast.Name, ast.Attribute)):
        check_is_class(module, raised)
        return Message(ast.unparse(raised), is_told=False)
    if not isinstance(raised, ast.Call):
        raise Unsure(f"{place(module, raised)}: what is raised is made elsewhere")
    check_is_class(module, raised.func)
    if len(raised.args) != 1 or raised.keywords or isinstance(raised.args[0], ast.Starred):
        return Message(safe(ast.unparse(raised)), is_told=False)
    return text_of(module, raised.args[0], safe(ast.unparse(raised)))


def is_exception(node: ast.expr) -> bool:
    func = node.func if isinstance(node, ast.Call) else node
    return isinstance(func, ast.Name) and func.id.endswith(("Error", "Exception"))


def check_is_class(module: Module, node: ast.expr) -> None:
    """Unsure unless a name is that of a class: `raise error` raises what somebody made."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    bound = module.scopes.bindings(node) if isinstance(node, ast.Name) else []
    is_variable = any(one.how in ("assign", "argument", "loop") for one in bound)
    if not (name[:1].isupper() or name[:1] == "_") or is_variable:
        raise Unsure(f"{place(module, node)}: `{ast.unparse(node)}` is made elsewhere")


def text_of(module: Module, node: ast.expr, otherwise: str = "") -> Message:
    """A text with the values that it shows written as their source: no tensor is computed for a message."""
    if isinstance(node, ast.Name):
        return named_text(module, node, otherwise)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = safe(node.value)
        code = module.code(node)
        is_kept = text == node.value and "\n" not in code and "\r" not in code and bool(text)
        return Message(text or UNTOLD, code if is_kept else "", is_told=bool(text))
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return Message(str(node.value))
    parts = pieces(node)
    if parts is None or not any(isinstance(part, str) and part.strip() for part in parts):
        return Message(otherwise or safe(ast.unparse(node)), is_told=False, left_out=(ast.unparse(node),))
    return shown(parts)


def named_text(module: Module, name: ast.Name, otherwise: str) -> Message:
    """A text by the only value of its name."""
    given = module.scopes.bindings(name)
    value = given[0].value if len(given) == 1 and given[0].how == "assign" and not given[0].path else None
    if isinstance(value, ast.Constant) and isinstance(value.value, str) and safe(value.value) == value.value:
        is_above = isinstance(module.scopes.of(name), ast.Module)
        return Message(value.value, name.id if is_above else "", is_told=bool(value.value))
    if isinstance(value, (ast.Constant, ast.JoinedStr, ast.BinOp)):
        return text_of(module, value, otherwise)
    raise Unsure(f"{place(module, name)}: the text `{name.id}` is made elsewhere")


def shown(parts: list[Piece]) -> Message:
    """The values of a text by their source."""
    text = "".join(part if isinstance(part, str) else f"{{{ast.unparse(part)}}}" for part in parts)
    return Message(safe(text), left_out=tuple(ast.unparse(part) for part in parts if not isinstance(part, str)))


def safe(text: str) -> str:
    return "".join(SAFE_AS.get(char, char) for char in text)


def place(module: Module, node: ast.AST) -> str:
    return f"{module.path}:{getattr(node, 'lineno', 0)}"


# What changes on purpose

TOLD = re.compile(
    r"compiled code says `RuntimeError: (?P<after>.*)`, eager code `(?P<error>[\w.]+)(?:: (?P<before>.*))?`"
)


def tell(link: Link, message: Message) -> str:
    """How a failed check looks from outside, in one line that `purpose_of` can read."""
    before = f": {message.text}" if message.is_told else ""
    return f"of a failed check compiled code says `RuntimeError: {message.text}`, eager code `{link.error}{before}`"


def purpose_of(note: str) -> str:
    """The pattern of `before > after` for two exceptions, from the line that tells of them."""
    found = TOLD.search(note)
    if not found:
        return ""
    error = found["error"].rpartition(".")[2]
    before = rf"(?:.*\.)?{re.escape(error)}: " + (loosely(found["before"]) if found["before"] else ".*")
    return f"{before} > RuntimeError: {re.escape(found['after'])}"


def loosely(text: str) -> str:
    """A pattern of what eager code says where compiled code says this: holes are filled, characters as they were."""
    pattern = HOLE.sub(lambda _: ".*", re.escape(text))
    return pattern.replace("'", "['\"]").replace(r"\ ", r"\s").replace("/", r"[/\\]")
