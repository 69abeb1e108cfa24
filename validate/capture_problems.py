"""Why a capture holds nothing, or less than was asked for: one sentence each, with the way out."""

from __future__ import annotations

import ast
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fullgraph.validate.capture_session import Session

BIG = 1_000_000_000


def explain(target: str, session: Session, exit_code: int) -> str:
    """The reason why no call was stored: the most telling one."""
    module = target.partition(":")[0]
    ended = f"the program {how_it_ended(exit_code)}"
    for text in session.problems("arguments"):
        return (
            f"the arguments of {target} cannot be stored: {text}; capture a function further in, "
            f"or write a scenario file: fullgraph scenario new {target}"
        )
    for text in session.problems("torch"):
        return f"{text}; the program has to run where torch is"
    for text in session.problems("name"):
        return text
    for text in session.problems("busy"):
        return f"{text}, so that its calls cannot be watched; run it without them"
    for text in session.problems("fault"):
        return f"watching the program failed, and it went on alone: {text.strip().splitlines()[-1]}"
    if not session.pythons("entered"):
        return explain_outsider(session, ended)
    if exit_code:
        return f"{ended} before the first call of {target}"
    for event in session.events("other name"):
        name = target.partition(":")[2]
        return f"the program knows {module} as {event['name']}: capture {event['name']}:{name}"
    if not session.events("module"):
        return (
            f"{ended}, and no Python that could be watched imported the module {module!r}; "
            f"check the name, and that nothing sets PYTHONPATH anew on the way to it"
        )
    return f"{ended}, and {target} was never called"


def explain_outsider(session: Session, ended: str) -> str:
    for executable, version in session.pythons("old"):
        return f"{executable} is Python {version}; 3.9 or newer is needed"
    return (
        f"{ended}, and no Python could be watched: python -I, -E and -S shut fullgraph out, and so does whatever sets "
        "PYTHONPATH anew (write PYTHONPATH=src:$PYTHONPATH)"
    )


def how_it_ended(exit_code: int) -> str:
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    try:
        return f"was killed by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was killed by signal {-exit_code}"


def notices(index: dict[str, Any], session: Session, wanted: int) -> Iterator[str]:
    """What a user must know about the calls that were stored."""
    stored = len(index["calls"])
    for text in session.problems("arguments")[:1]:
        yield f"not every call could be stored: {text}"
    if stored < wanted and not session.problems("arguments"):
        yield f"{wanted} calls were asked for; the program made no more than {stored}"
    size = sum(call["bytes"] for call in index["calls"])
    if size > BIG:
        yield f"the calls take {size / BIG:.1f} GB; a tensor is stored with all of the storage that it is a view of"
    yield from main_notices(index)


def main_notices(index: dict[str, Any]) -> Iterator[str]:
    """A main program that runs when it is imported cannot be proven without running it all."""
    main = index["main"]
    if not main:
        return
    needed = main["name"] == index["target"].partition(":")[0] or any(call["needs_main"] for call in index["calls"])
    if needed and runs_on_import(Path(main["file"])):
        yield (
            f"{main['file']} will be imported for the proof and runs its program then; "
            'put that under `if __name__ == "__main__":`'
        )


def runs_on_import(file: Path) -> bool:
    """Whether the module does more than define: a loop or a bare call at its top level."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    return any(
        isinstance(node, (ast.For, ast.While, ast.With)) or is_bare_call(node)
        for node in tree.body
        if not is_guard(node)
    )


def is_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.dump(node.test)


def is_bare_call(node: ast.stmt) -> bool:
    """`main()`; a call of a method (`sys.path.append`, `torch.manual_seed`) is mostly setting up."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name)
