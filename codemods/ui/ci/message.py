"""The message of a commit: which codemod, what it found where, and what was proven of it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Change, Finding
from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.report.as_text import count
from fullgraph.codemods.ui.verdict.as_text import short_sentence, where
from fullgraph.validate.model import Ruling, Verdict

MOST = 50
"""Findings that a message lists."""


def message_for(codemod: Codemod, changes: Sequence[Change], verdicts: Sequence[Verdict]) -> str:
    findings = [finding for change in changes for finding in change.applied]
    files = {path for change in changes for path in change.after}
    parts = [
        f"fullgraph: {codemod.name} in {count(len(files), 'file')}",
        (inspect.getdoc(codemod) or "").partition("\n")[0],
        "\n".join(listed(findings)),
        "\n".join(proof(verdicts)),
    ]
    return plain("\n\n".join(part for part in parts if part), keep="\n") + "\n"


def listed(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings[:MOST]:
        yield f"- {finding.path}:{finding.line} ({finding.symbol}): {' '.join(finding.message.split())}"
    if len(findings) > MOST:
        yield f"- and {len(findings) - MOST} more"


def proof(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """The verdicts that let it be written."""
    telling = [verdict for verdict in verdicts if verdict.ruling in (Ruling.PROVEN, Ruling.NEUTRAL)]
    if not telling:
        yield "Not proven: no scenario was run."
    for verdict in telling:
        yield f"Verdict: {verdict.ruling.value}: {short_sentence(verdict)}"
        yield f"Scenario: {verdict.scenario.name}. {where(verdict)}"
