"""What the answers of the tools hold, as JSON Schema: put together from the schemas of the command line's reports."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from fullgraph.codemods.mcp.tools import BULKY
from fullgraph.codemods.ui.described import SCHEMA as DESCRIBED
from fullgraph.codemods.ui.verdict.as_json import SCHEMA as VERDICT

REPORT = VERDICT.parent.parent / "report" / "report.schema.json"
STRING = {"type": "string"}
STRINGS = {"type": "array", "items": STRING}
COUNT = {"type": "integer", "minimum": 0}
OBJECTS = {"type": "array", "items": {"type": "object"}}
WHOLE = {"type": "integer"}
CUT = {"description": "What was left out because an answer has at most 25,000 characters.", **STRINGS}
PAGED = {
    "total": {"description": "On all pages.", **COUNT},
    "offset": COUNT,
    "next_offset": {"description": "Null on the last page.", "type": ["integer", "null"]},
}


@cache
def read(file: Path) -> dict[str, Any]:
    held: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return held


def definitions() -> dict[str, Any]:
    """Those of reports and verdicts; of a finding without what an agent reads as a diff."""
    found = {**read(REPORT)["$defs"], **read(VERDICT)["$defs"]}
    finding = found["finding"]
    brief = {
        **finding,
        "required": [name for name in finding["required"] if name not in BULKY],
        "properties": {name: one for name, one in finding["properties"].items() if name not in BULKY},
    }
    return {**found, "finding": brief}


def described(name: str) -> Any:
    """A property of the report, as its own schema has it."""
    return read(REPORT)["properties"][name]


def answer(properties: dict[str, Any], definitions: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these properties and a word on what was cut, with those definitions that it needs."""
    held = {
        "type": "object",
        "additionalProperties": False,
        "required": [*properties, "cut"],
        "properties": {**properties, "cut": CUT},
    }
    used = needed(held, definitions or {})
    return {**held, **({"$defs": used} if used else {})}


def needed(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The definitions that a schema leads to: hosts read the schemas of all tools whenever they connect."""
    found: dict[str, Any] = {}
    open_names = references(schema)
    while open_names:
        name = open_names.pop()
        if name not in found:
            found[name] = definitions[name]
            open_names += references(definitions[name])
    return {name: found[name] for name in sorted(found)}


def references(schema: Any) -> list[str]:
    return re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema))


def of_report() -> dict[str, Any]:
    names = ("version", "exit_code", "files", "errors", "warnings", "notices", "findings")
    return {**{name: described(name) for name in names}, **PAGED}


def check() -> dict[str, Any]:
    left = {"description": "Findings that cannot be rewritten; `everything` lists them.", **COUNT}
    return answer({**of_report(), "left_alone": left}, definitions())


def fix() -> dict[str, Any]:
    proofs = {"type": "array", "items": {"$ref": "#/$defs/verdict"}}
    return answer({**of_report(), "runs": described("runs"), "proofs": proofs}, definitions())


def diff() -> dict[str, Any]:
    counted = {**PAGED, "total": {"description": "Characters of the whole patch.", **COUNT}}
    own = {name: described(name) for name in ("version", "errors", "notices")}
    return answer({**own, "keys": STRINGS, "caveats": STRINGS, "patch": STRING, **counted}, definitions())


def prove() -> dict[str, Any]:
    found = read(VERDICT)["$defs"]
    return answer(found["verdicts"]["properties"], found)


def undo() -> dict[str, Any]:
    lists = dict.fromkeys(("undoes", "paths", "created", "removed", "conflicts"), STRINGS)
    return answer({"version": {"const": 1}, "exit_code": WHOLE, "run": COUNT, **lists})


def observe() -> dict[str, Any]:
    texts = dict.fromkeys(("ending", "torch", "python", "device", "report", "output"), STRING)
    held = {"version": {"const": 1}, "command": STRINGS, "exit_code": WHOLE, "seconds": {"type": "number"}}
    return answer({**held, **texts, "entries": OBJECTS, "reads": OBJECTS, "notices": STRINGS})


def explain() -> dict[str, Any]:
    """One codemod, or the names of all."""
    found = read(DESCRIBED)["$defs"]
    properties = {**found["explained"]["properties"], **found["list"]["properties"], "cut": CUT}
    return {"type": "object", "additionalProperties": False, "required": ["version", "cut"], "properties": properties}


SCHEMAS = {
    "check": check,
    "explain": explain,
    "diff": diff,
    "prove": prove,
    "fix": fix,
    "undo": undo,
    "observe": observe,
}
