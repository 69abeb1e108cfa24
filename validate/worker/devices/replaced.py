"""Attributes that have other values for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

_MISSING = object()


@contextlib.contextmanager
def replaced(changes: Iterable[tuple[Any, str, Any]]) -> Iterator[None]:
    """Set (object, attribute, value) one after the other; afterwards everything is as it was, or gone if it was not."""
    before: list[tuple[Any, str, Any]] = []
    try:
        for owner, name, value in changes:
            before.append((owner, name, vars(owner).get(name, _MISSING)))
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in reversed(before):
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
