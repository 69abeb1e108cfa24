"""Results of SARIF 2.1.0 as tickets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from fullgraph.codemods.tickets.model import CodeBlock, Place, Severity, Ticket
from fullgraph.codemods.tickets.parts.references import merge, symbols_in
from fullgraph.codemods.tickets.parts.severity import level_of
from fullgraph.codemods.tickets.records.lookup import Record, code_block, lines_between, pick, present, text, words

SCHEME = re.compile(r"file://(?:/(?=[A-Za-z]:))?")
NUMBER_LINK = re.compile(r"\[([^\[\]]{1,200})\]\(\d{1,3}\)")


def is_sarif(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("runs"), list) and "version" in data


def results_in(data: Record) -> Iterator[tuple[Record, Record]]:
    """Every result with the rule that it names; what it only refers to in its run is written out."""
    for run in data["runs"]:
        listed = objects(pick(run, "tool.driver.rules"))
        more = [rule for each in objects(pick(run, "tool.extensions")) for rule in objects(each.get("rules"))]
        by_id = {text(pick(rule, "id")): rule for rule in (*more, *listed)}
        files = objects(pick(run, "artifacts"))
        for result in objects(pick(run, "results")):
            rule = rule_of(result, listed, by_id)
            yield {**result, "message": message_of(result, rule), "artifacts": files}, rule


def objects(value: Any) -> list[Record]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def message_of(result: Record, rule: Record) -> str:
    """The message itself, or the rule's by its id with the arguments put in. Links keep their words only."""
    said = text(pick(result, "message"))
    if not said and (name := text(pick(result, "message.id"))):
        said = text(pick(pick(rule, "messageStrings"), name))
        arguments = pick(result, "message.arguments")
        for number, word in enumerate(arguments[:20] if isinstance(arguments, list) else []):
            said = said.replace(f"{{{number}}}", text(word))
    return NUMBER_LINK.sub(r"\1", said)


def rule_of(result: Record, listed: list[Record], by_id: dict[str, Record]) -> Record:
    index = pick(result, "ruleIndex", "rule.index")
    named = by_id.get(text(pick(result, "ruleId", "rule.id")))
    if named is None and isinstance(index, int) and 0 <= index < len(listed):
        named = listed[index]
    return named or {}


def read_result(path: str, result: Record, rule: Record, default_id: str) -> Ticket:
    level = text(pick(result, "level")) or text(pick(rule, "defaultConfiguration.level")) or "warning"
    settled = settled_by(result)
    message = text(pick(result, "message"))
    return Ticket(
        source=path,
        id=text(pick(result, "guid", "correlationGuid")) or default_id,
        title=message.partition("\n")[0] or text(pick(rule, "shortDescription", "name")),
        severity=Severity(level, level_of(level)),
        status=text(pick(result, "baselineState")),
        is_resolved=bool(settled),
        why_resolved=settled,
        category=tuple(
            dict.fromkeys((*filter(None, [rule_name(result, rule)]), *words(pick(rule, "properties.tags") or [])))
        ),
        places=places_of(result),
        summary=text(pick(rule, "shortDescription")),
        problem="\n".join(filter(None, (message, text(pick(rule, "fullDescription"))))),
        fix=fix_told(result, rule),
        code=present([*snippets_of(result), *inserted_by(result)]),
    )


def fix_told(result: Record, rule: Record) -> str:
    """The rule's help, if that is more than its name, else what the fixes say of themselves."""
    told = text(pick(rule, "help"))
    if told and told != rule_name(result, rule):
        return told
    return ", ".join(filter(None, (text(pick(fix, "description")) for fix in fixes_of(result))))


def rule_name(result: Record, rule: Record) -> str:
    return text(pick(result, "ruleId", "rule.id")) or text(pick(rule, "id"))


def settled_by(result: Record) -> str:
    """Why a result is no longer open: suppressed, gone since the baseline, or a pass."""
    suppressions = result.get("suppressions")
    states = (
        [text(pick(each, "status")) for each in suppressions if isinstance(each, dict)]
        if isinstance(suppressions, list)
        else []
    )
    if any(state in ("", "accepted") for state in states):
        return "suppressed"
    if result.get("baselineState") == "absent":
        return "absent since the baseline"
    kind = text(pick(result, "kind"))
    return f"kind: {kind}" if kind in ("pass", "notApplicable") else ""


def locations_of(result: Record) -> list[Record]:
    listed = result.get("locations")
    return [each for each in listed[:100] if isinstance(each, dict)] if isinstance(listed, list) else []


def places_of(result: Record) -> tuple[Place, ...]:
    found = []
    for location in locations_of(result):
        uri = unquote(uri_of(location, result["artifacts"]))
        region = pick(location, "physicalLocation.region")
        lines = lines_between(pick(region, "startLine"), pick(region, "endLine"))
        logical = pick(location, "logicalLocations")
        named = (
            [text(pick(each, "fullyQualifiedName", "name")) for each in logical[:20]]
            if isinstance(logical, list)
            else []
        )
        if uri or lines or named:
            found.append(Place(SCHEME.sub("", uri, count=1), lines, symbols_in(named)))
    return tuple(merge(found))


def uri_of(location: Record, artifacts: list[Record]) -> str:
    index = pick(location, "physicalLocation.artifactLocation.index")
    stated = text(pick(location, "physicalLocation.artifactLocation.uri"))
    is_listed = not stated and isinstance(index, int) and 0 <= index < len(artifacts)
    return text(pick(artifacts[index], "location.uri")) if is_listed else stated


def snippets_of(result: Record) -> Iterator[CodeBlock | None]:
    for location in locations_of(result):
        yield code_block("evidence", pick(location, "physicalLocation.region.snippet.text"))


def fixes_of(result: Record) -> list[Record]:
    listed = result.get("fixes")
    return [each for each in listed[:20] if isinstance(each, dict)] if isinstance(listed, list) else []


def inserted_by(result: Record) -> Iterator[CodeBlock | None]:
    for fix in fixes_of(result):
        changes = pick(fix, "artifactChanges")
        for change in changes[:20] if isinstance(changes, list) else []:
            replacements = pick(change, "replacements")
            for replacement in replacements[:50] if isinstance(replacements, list) else []:
                yield code_block("fix", pick(replacement, "insertedContent.text"))
