"""A verdict for programs: the schema, and a verdict again from what was stored."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fullgraph.codemods.ui.verdict.as_json import schema, verdict_as_json, verdict_from_json, verdicts_as_json
from fullgraph.validate import model
from fullgraph.validate.model import Ruling, ValidateError
from tests.ui.sample_verdicts import SAMPLES

EVERY = pytest.mark.parametrize("name", SAMPLES)
VALIDATOR = Draft202012Validator(schema())


def written(held: dict[str, Any]) -> Any:
    """As a program reads it: NaN would be an error."""
    return json.loads(json.dumps(held, allow_nan=False))


def objects_of(part: Any) -> list[dict[str, Any]]:
    """All parts of a schema that describe an object."""
    parts = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    here = [part] if isinstance(part, dict) and "properties" in part and "type" in part else []
    return [*here, *(found for one in parts for found in objects_of(one))]


def test_the_schema_is_one_and_is_strict() -> None:
    Draft202012Validator.check_schema(schema())
    for part in objects_of(schema()):
        if part is not None and part.get("properties", {}).get("cannot_show") is None:
            assert part["additionalProperties"] is False
            optional = {"eager", "compiled", "cold start"}
            assert set(part["properties"]) - optional == set(part.get("required", ()))


@EVERY
def test_every_verdict_is_as_the_schema_says(name: str) -> None:
    VALIDATOR.validate(written(verdict_as_json(SAMPLES[name]())))


def test_all_rulings_were_among_them() -> None:
    assert {make().ruling for make in SAMPLES.values()} == set(Ruling)


@pytest.mark.parametrize(
    ("part", "kind", "derived"),
    [
        ("settings", model.Settings, set()),
        ("scenario", model.Scenario, set()),
        ("measurement", model.Measurement, {"counts"}),
        ("graph", model.Graph, set()),
        ("break", model.Break, set()),
        ("sync", model.Sync, set()),
        ("difference", model.Difference, set()),
        ("ratio", model.Ratio, set()),
        ("reason", model.Reason, set()),
        ("outcome", model.Outcome, set()),
        ("verdict", model.Verdict, {"version", "kind", "sentence"}),
    ],
)
def test_the_schema_has_every_field_of_the_values(part: str, kind: Any, derived: set[str]) -> None:
    assert set(schema()["$defs"][part]["properties"]) == {field.name for field in fields(kind)} | derived


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("ruling",), "fine"),
        (("version",), 2),
        (("extra",), 1),
        (("before", "side"), "after"),
        (("before", "extra"), None),
        (("before", "outcome", "kind"), "tired"),
        (("before", "breaks", 0, "id"), "7"),
        (("before", "graphs", 0, "operators"), -1),
        (("reasons", 0, "tendency"), "good"),
        (("ratios", "warm"), {"ratio": 1, "low": 1, "high": 1, "blocks": 1}),
        (("environment", "torch"), 2.13),
    ],
)
def test_what_is_no_verdict_is_refused(path: tuple[Any, ...], value: Any) -> None:
    held = written(verdict_as_json(SAMPLES["proven"]()))
    place = held
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert not VALIDATOR.is_valid(held)


@EVERY
def test_a_stored_verdict_comes_back_the_same(name: str) -> None:
    verdict = SAMPLES[name]()
    held = written(verdict_as_json(verdict))
    assert verdict_as_json(verdict_from_json(held)) == held
    if name != "hostile":
        assert verdict_from_json(held) == verdict


def test_numbers_that_are_not_finite_are_null_and_come_back_as_nan() -> None:
    held = written(verdict_as_json(SAMPLES["hostile"]()))
    assert held["after"]["compiled_s"] == [None, 0.1, None]
    assert held["ratios"]["compiled"]["high"] is None
    assert math.isnan(verdict_from_json(held).after.compiled_s[2])


def test_halves_of_characters_are_escaped_and_the_json_is_valid_utf8() -> None:
    text = json.dumps(verdict_as_json(SAMPLES["hostile"]()), ensure_ascii=False)
    assert r"\\udc80" in text.encode("utf-8").decode()


def test_the_same_verdict_is_the_same_text() -> None:
    one, two = (SAMPLES["proven"]() for _ in range(2))
    turned = replace(
        two,
        environment=dict(reversed(list(two.environment.items()))),
        ratios=dict(reversed(list(two.ratios.items()))),
    )
    assert json.dumps(verdict_as_json(one)) == json.dumps(verdict_as_json(turned))


def test_counts_are_there_for_programs_that_want_no_lists() -> None:
    held = verdict_as_json(SAMPLES["proven"]())
    assert held["before"]["counts"] == {
        "graphs": 7,
        "breaks": 3,
        "recompiles": 4,
        "guards": 98,
        "operators": 22,
        "syncs": 8,
        "moves": 0,
        "guard_us": pytest.approx(79.8),
    }
    assert verdict_as_json(SAMPLES["pytest_scenario"]())["before"]["counts"]["breaks"] is None


def test_several_verdicts_are_one_object_with_what_they_say_together() -> None:
    held = written(verdicts_as_json([SAMPLES["proven"](), SAMPLES["worse"]()]))
    VALIDATOR.validate(held)
    assert (held["ruling"], held["exit_code"], len(held["verdicts"])) == ("worse", 3, 2)
    neutral = [SAMPLES["neutral"]()]
    assert verdicts_as_json(neutral)["exit_code"] == 3
    assert verdicts_as_json(neutral, keep_neutral=True)["exit_code"] == 0
    assert verdicts_as_json([SAMPLES["hang"]()])["exit_code"] == 4


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({}, "no verdict that this fullgraph can read"),
        ({"kind": "fullgraph.verdict", "version": 9}, "version 9"),
        ({"kind": "fullgraph.verdict", "version": 1, "ruling": "fine"}, "'fine' is not a valid Ruling"),
        ({"kind": "fullgraph.verdict", "version": 1, "ruling": "proven"}, "KeyError: 'reasons'"),
    ],
)
def test_what_cannot_be_read_is_one_clear_error(held: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidateError, match=said):
        verdict_from_json(held)
