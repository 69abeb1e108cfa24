"""What the catalogue finds at a ticket's place, around it, and in the ticket's own code block."""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Finding, FullgraphError, SourceError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.find import FileResult, find
from fullgraph.codemods.tickets.model import Snippet, Ticket
from fullgraph.codemods.tickets.places.in_file import blocks_of
from fullgraph.codemods.tickets.places.model import Located, Spot
from fullgraph.codemods.tickets.routes.model import Confidence, Fired

FILES = 5
"""Files of one ticket that the catalogue is run on."""

QUOTED = "quoted_in_a_ticket.py"


@dataclass
class Catalogue:
    """Codemods asked about one project; what was answered is kept. `settings` are the project's own, by codemod."""

    project: Project
    kinds: Mapping[str, type[Codemod]]
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    _answers: dict[str, FileResult] = field(default_factory=dict)

    def codemod(
        self, name: str, options: Mapping[str, str] | None = None, symbols: tuple[str, ...] = (), tests: str = ""
    ) -> Codemod:
        """One codemod as the project sets it, unless `options` say otherwise."""
        return self.kinds[name]({**self.settings.get(name, {}), **(options or {})}, symbols, tests)

    def findings(self, path: str) -> tuple[Finding, ...]:
        """What all codemods find in a file, as the project sets them."""
        if path not in self._answers:
            self._answers[path] = find(self.project, path, [self.codemod(name) for name in self.kinds])
        return self._answers[path].findings

    def findings_of(
        self, path: str, name: str, options: Mapping[str, str], symbols: tuple[str, ...] = ()
    ) -> tuple[Finding, ...]:
        """What one codemod finds in a file with these settings; nothing if they do not fit."""
        try:
            return find(self.project, path, [self.codemod(name, options, symbols)]).findings
        except FullgraphError:
            return ()

    def lines_of(self, finding: Finding) -> str:
        """The text of the lines that a finding is on."""
        lines = self.project.module(finding.path).text.splitlines()
        return "\n".join(lines[finding.line - 1 : finding.last_line])


def fired_at(catalogue: Catalogue, located: Located) -> list[Fired]:
    """Every finding that has to do with a ticket's place, the nearest first."""
    found: list[Fired] = []
    for path in list(dict.fromkeys(spot.path for spot in located.spots))[:FILES]:
        spots = [spot for spot in located.spots if spot.path == path]
        found += near(catalogue, catalogue.findings(path), spots)
    return sorted(found, key=lambda fired: fired.rank)


def near(catalogue: Catalogue, findings: Sequence[Finding], spots: Sequence[Spot]) -> Iterator[Fired]:
    """These findings with how near each is to the nearest of the spots; those that are not near are left out."""
    for finding in findings:
        rated = [Fired(finding, level, spot) for spot in spots if (level := nearness(catalogue.project, finding, spot))]
        if rated:
            yield min(rated, key=lambda fired: fired.rank)


def nearness(project: Project, finding: Finding, spot: Spot) -> Confidence | None:
    if spot.holds(finding.line, finding.last_line):
        return "fires at the place"
    if spot.surrounds(finding.line, finding.last_line) and is_in(finding.symbol, spot.symbol):
        return "fires in the function"
    if spot.extent and any(spot.surrounds(*lines) for lines in edited_lines(project, finding)):
        return "fires in the function"
    return "fires in the file" if spot.extent is None and not spot.lines else None


def is_in(symbol: str, around: str) -> bool:
    return f"{symbol}.".startswith(f"{around}.") or f"{around}.".startswith(f"{symbol}.")


def edited_lines(project: Project, finding: Finding) -> Iterator[tuple[int, int]]:
    """The lines of its own file that a finding would change; what it adds between lines is not among them."""
    module = project.module(finding.path)
    for edit in finding.edits:
        start, end = edit.span.start, edit.span.end
        if edit.path == finding.path and (start < end or module.line_start(start) < start):
            yield module.line(start), module.line(max(start, end - 1))


def fired_on_snippet(catalogue: Catalogue, ticket: Ticket, located: Located) -> list[str]:
    """The codemods that find something in the ticket's code blocks, put into a module of their own."""
    path = located.spots[0].path if located.spots else ""
    names: dict[str, None] = {}
    for block in blocks_of(ticket):
        if block.snippet is not None:
            text = as_module(block.snippet, imports_of(catalogue.project, path))
            for finding in findings_in(catalogue, path, text):
                names[finding.codemod] = None
    return list(names)


def findings_in(catalogue: Catalogue, path: str, text: str) -> tuple[Finding, ...]:
    beside = "/".join([*path.split("/")[:-1], QUOTED])
    project = catalogue.project.laid_over({beside: text.encode(errors="replace")})
    return find(project, beside, [catalogue.codemod(name) for name in catalogue.kinds]).findings


def imports_of(project: Project, path: str) -> str:
    """The imports at the top of a file, or those that a block about torch may count on."""
    try:
        module = project.module(path) if path else None
    except SourceError:
        module = None
    found = (
        [module.code(node) for node in module.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        if module
        else []
    )
    return "\n".join(found or ["import torch", "from torch import nn"]) + "\n"


def as_module(snippet: Snippet, imports: str) -> str:
    """A block as a file: statements stand in a function that takes whatever they read."""
    tree = snippet.tree()
    if all(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in tree.body):
        is_method = any(isinstance(node, ast.FunctionDef) and has_self(node) for node in tree.body)
        body = "class Quoted:\n" + textwrap.indent(snippet.text, "    ") if is_method else snippet.text
        return f"{imports}\n\n{body}\n"
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    free = sorted(
        name for name in names if not hasattr(builtins, name) and name not in imports.split() and name != "self"
    )
    head = f"def quoted({', '.join(free)}):\n"
    inner = head + textwrap.indent(snippet.text, "    ") + "\n"
    if "self" in names:
        inner = "class Quoted:\n" + textwrap.indent(inner.replace("quoted(", "quoted(self, ", 1), "    ")
    return f"{imports}\n\n{inner}"


def has_self(node: ast.FunctionDef) -> bool:
    return bool(node.args.args) and node.args.args[0].arg == "self"
