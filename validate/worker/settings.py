"""What a scenario file may say beside `build` and `cases`, and what it must be."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from .errors import UserError

OPTIONS = ("backend", "mode", "dynamic", "fullgraph", "options")


class FileSettings(NamedTuple):
    """The names that a scenario file may define."""

    compile_options: dict[str, Any]
    tolerance: dict[str, float]
    exact: bool
    backward: bool
    compiled: bool
    seed: int
    second_derivatives: bool
    state: Callable[..., Any] | None


def read_settings(module: ModuleType, path: str) -> FileSettings:
    given = {name: getattr(module, name, None) for name in FileSettings._fields}
    check(path, "compile_options", given["compile_options"], dict, "a dict")
    check(path, "tolerance", given["tolerance"], dict, "a dict with rtol, atol or both")
    check(path, "exact", given["exact"], bool, "True or False")
    check(path, "backward", given["backward"], bool, "True or False")
    check(path, "compiled", given["compiled"], bool, "True or False")
    check(path, "second_derivatives", given["second_derivatives"], bool, "True or False")
    check(path, "seed", given["seed"], int, "a whole number")
    check_keys(path, "compile_options", given["compile_options"] or {}, OPTIONS)
    check_keys(path, "tolerance", given["tolerance"] or {}, ("rtol", "atol"))
    for value in (given["tolerance"] or {}).values():
        check(path, "tolerance", value, (int, float), "a dict of numbers")
    return FileSettings(
        dict(given["compile_options"] or {}),
        dict(given["tolerance"] or {}),
        given["exact"] is not False,
        given["backward"] is not False,
        given["compiled"] is not False,
        given["seed"] or 0,
        given["second_derivatives"] is True,
        check_state(path, given["state"]),
    )


def check(path: str, name: str, value: Any, kind: Any, wanted: str) -> None:
    if value is not None and not isinstance(value, kind):
        raise UserError(f"{path}: `{name}` is {type(value).__name__}; it is {wanted}")


def check_keys(path: str, name: str, value: dict[str, Any], known: tuple[str, ...]) -> None:
    for key in value:
        if key not in known:
            raise UserError(f"{path}: `{name}` has {key!r}; it may have {', '.join(known)}")


def check_state(path: str, state: Any) -> Callable[..., Any] | None:
    """`state(obj)` or `state(obj, output)`."""
    if state is None:
        return None
    try:
        signature = inspect.signature(state)
        count = next((count for count in (2, 1) if can_take(signature, count)), 0)
    except (TypeError, ValueError):
        count = 0
    if not count:
        raise UserError(f"{path}: `state` is a function of the object, or of the object and its output")
    return state  # type: ignore[no-any-return]


def can_take(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True
