"""What an answer of a worker must look like: user code ran in that process, so nothing is taken for granted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from fullgraph.validate.model import Break, Difference, Graph, Sync

Shape = Any
"""A type; a dataclass, for the dict of its fields; shapes by name; a list of one shape; a tuple of choices."""

SECONDS = float
NUMBER = (None, int, float)
KINDS = {"str": str, "int": int, "float": SECONDS}
"""By the annotations of the dataclasses that answers are made into."""

RECORDS: Shape = {
    "digest": str,
    "raised": [str],
    "exceptions": [str],
    "mutated": bool,
    "random": bool,
    "opaque": [[str]],
}
SHAPES: Mapping[str, Shape] = {
    "hello": {"torch": str, "python": str},
    "open": {"cases": [str], "environment": dict, "exact": bool, "rtol": NUMBER, "atol": NUMBER, "notices": [str]},
    "eager": {**RECORDS, "peak_bytes": (None, int), "wrote": bool},
    "compiled": RECORDS,
    "syncs": {"syncs": [Sync], "moves": [Sync], "how": str, "ran": dict, "stale": [str]},
    "graphs": {"graphs": [Graph], "breaks": [Break], "fullgraph": (None, bool), "fullgraph_reason": str},
    "warm_up": {"fallback": str},
    "cold": SECONDS,
    "prepare": {"seconds": SECONDS, "around": SECONDS},
    "block": SECONDS,
    "compare": [{"differences": [Difference], "declared_seen": [str]}],
    "audit": {
        "hazards": [dict],
        "raised": [[str]],
        "graph_runs": int,
        "generations": int,
        "compiled_calls": int,
        "skipped": int,
        "idle": int,
        "passed_over": int,
        "compiled_here": bool,
    },
    "find_lines": [dict],
}
"""By stage; of others it is only known that there is an answer."""


def find_flaw(stage: str, told: Any) -> str:
    """What is wrong with an answer, in one line; nothing if all is well."""
    if not isinstance(told, dict):
        return f"no JSON object ({shorten(told)})"
    if "error" in told:
        return find_in({"error": str, "text": str}, told, "answer")
    if "result" not in told:
        return "neither a result nor an error"
    result = told["result"]
    return find_in(SHAPES.get(stage, object), result, stage) or find_uneven(stage, result)


def find_uneven(stage: str, result: Any) -> str:
    """Every case that raised has its exception, and in an audit its text."""
    if stage in ("eager", "compiled") and len(result["raised"]) != len(result["exceptions"]):
        return "the exceptions are not those of the cases that raised"
    if stage == "audit" and any(len(row) != 2 for row in result["raised"]):
        return "audit.raised has a row without a case and its error"
    return ""


def find_in(shape: Shape, value: Any, path: str) -> str:
    if isinstance(shape, tuple):
        return "" if any(not find_in(one, value, path) for one in shape) else wrong(path, value)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return wrong(path, value)
        return first(find_in(shape[0], item, f"{path}[{place}]") for place, item in enumerate(value))
    if is_dataclass(shape):
        return find_in_fields(shape, value, path)
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return wrong(path, value)
        missing = [name for name in shape if name not in value]
        if missing:
            return f"{path} has no {missing[0]!r}"
        return first(find_in(inner, value[name], f"{path}.{name}") for name, inner in shape.items())
    return "" if fits(shape, value) else wrong(path, value)


def find_in_fields(shape: Any, value: Any, path: str) -> str:
    """A dict of which that dataclass can be made."""
    if not isinstance(value, dict):
        return wrong(path, value)
    known = {field.name: field for field in fields(shape)}
    lost = [name for name, field in known.items() if field.default is MISSING and name not in value]
    strange = [*lost, *(name for name in value if name not in known)]
    if strange:
        return f"{path}: {strange[0]!r} is missing or unknown"
    return first(find_in(KINDS[str(known[name].type)], inner, f"{path}.{name}") for name, inner in value.items())


def fits(kind: Any, value: Any) -> bool:
    """A bool is no number here, and a number of seconds is one that can be reckoned with."""
    if kind is None or kind is object:
        return kind is object or value is None
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def first(flaws: Any) -> str:
    return next((flaw for flaw in flaws if flaw), "")


def wrong(path: str, value: Any) -> str:
    return f"{path} is {shorten(value)}"


def shorten(value: Any) -> str:
    return f"{type(value).__name__} {repr(value)[:60]}"
