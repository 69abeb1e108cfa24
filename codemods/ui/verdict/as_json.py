"""A verdict for programs: one JSON object, the same for the same verdict, and a verdict again from it.

`verdict.schema.json` says what it holds. A number that is not finite is null, because JSON has none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fullgraph.codemods.ui.verdict.rows import (
    break_count,
    graph_count,
    guard_count,
    move_count,
    operator_count,
    recompile_count,
    sync_count,
)
from fullgraph.validate.judge import combined, exit_code
from fullgraph.validate.model import (
    Break,
    ChangedPlace,
    Difference,
    Graph,
    Measurement,
    Outcome,
    Ratio,
    Reason,
    Ruling,
    Scenario,
    Settings,
    Sync,
    ValidateError,
    Verdict,
)

VERSION = 1
KIND = "fullgraph.verdict"
SCHEMA = Path(__file__).with_name("verdict.schema.json")

COUNTS = {
    "graphs": graph_count,
    "breaks": break_count,
    "recompiles": recompile_count,
    "guards": guard_count,
    "operators": operator_count,
    "syncs": sync_count,
    "moves": move_count,
}
"""What can be counted from the lists; here too, for a program that only wants the numbers."""


def schema() -> dict[str, Any]:
    """The JSON Schema of one verdict and of several."""
    held: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return held


def verdicts_as_json(verdicts: Sequence[Verdict], keep_neutral: bool = False) -> dict[str, Any]:
    """Several verdicts in one object, with what they say together."""
    ruling = combined(verdicts)
    return {
        "version": VERSION,
        "kind": f"{KIND}s",
        "ruling": ruling.value,
        "exit_code": exit_code(ruling, keep_neutral),
        "verdicts": [verdict_as_json(verdict) for verdict in verdicts],
    }


def verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    held = {
        "version": VERSION,
        "kind": KIND,
        "ruling": verdict.ruling.value,
        "sentence": verdict.sentence,
        "reasons": [asdict(reason) for reason in verdict.reasons],
        "scenario": asdict(verdict.scenario),
        "settings": asdict(verdict.settings),
        "environment": dict(sorted(verdict.environment.items())),
        "differences": [asdict(difference) for difference in verdict.differences],
        "ratios": {name: asdict(ratio) for name, ratio in sorted(verdict.ratios.items())},
        "before": measurement_as_json(verdict.before),
        "after": measurement_as_json(verdict.after),
        "notices": list(verdict.notices),
        "changed": [{**asdict(place), "is_seen": place.is_seen} for place in verdict.changed],
        "diff": verdict.diff,
    }
    cleaned: dict[str, Any] = clean(held)
    return cleaned


def measurement_as_json(side: Measurement) -> dict[str, Any]:
    counts: dict[str, Any] = {name: counted(side) for name, counted in COUNTS.items()}
    return {**asdict(side), "ran": dict(sorted(side.ran.items())), "counts": {**counts, "guard_us": side.guard_us}}


def clean(value: Any) -> Any:
    """Only what JSON has: lists, finite numbers, whole characters; anything unknown as its text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Mapping):
        return {clean(str(key)): clean(one) for key, one in value.items()}
    if isinstance(value, Sequence):
        return [clean(one) for one in value]
    return clean(str(value))


def verdict_from_json(held: Mapping[str, Any]) -> Verdict:
    """The inverse of `verdict_as_json`. A number that was not finite comes back as NaN."""
    if held.get("kind") != KIND or held.get("version") != VERSION:
        found = f"{held.get('kind')!r}, version {held.get('version')!r}"
        raise ValidateError(
            f"this is no verdict that this fullgraph can read: {found} is not {KIND!r}, version {VERSION}"
        )
    try:
        return Verdict(
            ruling=Ruling(held["ruling"]),
            reasons=tuple(Reason(**one) for one in held["reasons"]),
            before=measurement_from_json(held["before"]),
            after=measurement_from_json(held["after"]),
            scenario=Scenario(**{**held["scenario"], "imports": tuple(held["scenario"]["imports"])}),
            settings=Settings(**held["settings"]),
            differences=tuple(Difference(**one) for one in held["differences"]),
            ratios={name: ratio_from_json(one) for name, one in held["ratios"].items()},
            notices=tuple(held["notices"]),
            environment=held["environment"],
            changed=tuple(place_from_json(one) for one in held["changed"]),
            diff=held["diff"],
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValidateError(f"this is no verdict as fullgraph writes it: {type(error).__name__}: {error}") from error


def ratio_from_json(held: Mapping[str, Any]) -> Ratio:
    return Ratio(number(held["ratio"]), number(held["low"]), number(held["high"]), held["blocks"])


def place_from_json(held: Mapping[str, Any]) -> ChangedPlace:
    fields: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in held.items()}
    fields.pop("is_seen")
    return ChangedPlace(**fields)


def measurement_from_json(held: Mapping[str, Any]) -> Measurement:
    kinds: dict[str, Any] = {"graphs": graph_from_json, "breaks": make(Break), "syncs": make(Sync), "moves": make(Sync)}
    fields = {name: value for name, value in held.items() if name != "counts"}
    for name, load in kinds.items():
        fields[name] = None if held[name] is None else tuple(load(one) for one in held[name])
    for name in ("eager_s", "compiled_s", "cold_s"):
        fields[name] = tuple(number(one) for one in held[name])
    fields["outcome"] = Outcome(**held["outcome"])
    fields["cases"] = tuple(held["cases"])
    fields["ran"] = {path: tuple(lines) for path, lines in held["ran"].items()}
    return Measurement(**fields)


def graph_from_json(held: Mapping[str, Any]) -> Graph:
    return Graph(**{**held, "guard_us": number(held["guard_us"])})


def make(kind: type[Break] | type[Sync]) -> Any:
    return lambda held: kind(**held)


def number(value: float | None) -> float:
    return math.nan if value is None else value
