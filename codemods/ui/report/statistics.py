"""How many findings there are, by codemod and badge."""

from __future__ import annotations

from collections import Counter

import click

from fullgraph.codemods.ui.report.model import Report
from fullgraph.codemods.ui.screen import screen
from fullgraph.codemods.ui.view import Badge, view_of


def render(report: Report, *, color: bool) -> None:
    """A table with a row for each codemod that found something, the most findings first."""
    from rich.table import Table

    counts = Counter((line.finding.codemod, view_of(line.finding).badge) for line in report.lines)
    badges = [badge for badge in Badge if any(seen is badge for _, seen in counts)]
    totals = Counter(line.finding.codemod for line in report.lines)
    table = Table("codemod", box=None, pad_edge=False, header_style="bold")
    for badge in badges:
        table.add_column(badge.value, justify="right")
    for name, _ in sorted(totals.items(), key=lambda one: (-one[1], one[0])):
        table.add_row(name, *(str(counts[name, badge]) for badge in badges))
    if totals:
        click.echo(screen(color).show(table), nl=False)
