"""How what a codemod writes compares with the fix that a ticket proposes, in one line."""

from __future__ import annotations

import ast
import re

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.rewrite.plan import splice_all
from fullgraph.codemods.source import decode
from fullgraph.codemods.tickets.model import CodeBlock, Ticket
from fullgraph.codemods.tickets.places.quotes import find_quotes
from fullgraph.codemods.tickets.routes.firing import Catalogue
from fullgraph.codemods.tickets.routes.model import Fired, Routed
from fullgraph.codemods.tickets.routes.options import fix_nodes

THE_SAME = 0.97

REASONS: dict[str, tuple[tuple[str, str], ...]] = {
    "warn_on_device_migration": (
        (
            r"warnings\.warn|\bwarn",
            "on purpose: `warnings.warn` in compiled code adds a graph break (GB0007); this warns at trace time, "
            "without one",
        ),
    ),
    "flatten_tuple_keys": (
        (
            r"\w+ ?\* ?\w+ ?\+ ?\w+",
            "on purpose: a stride from each loop's own length raises KeyError where lengths differ; this takes one key "
            "for the whole dict, and rewrites every use of it",
        ),
    ),
    "hoist_autocast": (
        (
            r"set_autocast",
            "on purpose: global state would reach code that was not meant; this hoists the decision only",
        ),
    ),
    "scope_autocast": (
        (r"backward", "the ticket's form, which PyTorch's documentation advises against: backward needs no autocast"),
    ),
    "skip_redundant_wait_stream": (
        (
            r"\b(?:remove|delete|drop)\b",
            "on purpose: without the wait data may be read before it is written; this makes it "
            "conditional, and is never safe",
        ),
    ),
    "disable_compile": (
        (r"compiler\.disable|decorat", "the decorator, innermost, and a WARNING in the docstring that says why"),
        (
            r"document|docstring",
            "on purpose: a docstring keeps nothing out of a graph; this adds the decorator as well",
        ),
    ),
    "isolate_telemetry": (
        (r"compiler\.disable|move|extract", "the same idea: parameters and results are taken from the data flow"),
    ),
    "sample_timer_sync": (
        (
            r"flag|sampl|nth|optional",
            "as proposed: `enabled` and `every` are parameters; by default nothing changes",
        ),
    ),
    "use_public_compiler_api": (
        (
            r"torch",
            "on purpose: what the old name implied (a device, a dtype) is written out, so that nothing changes",
        ),
    ),
    "clone_at_boundary": (
        (
            r"mark_step|\bclon",
            "on purpose: a mark keeps no output alive, and a clone at one call leaves the other calls; this sends them "
            "all through one function that marks and copies",
        ),
    ),
    "allocate_on_device": (
        (r"parameter|allocat", "as proposed: a parameter that says where to allocate; by default nothing changes"),
    ),
}
"""For each codemod: where a fix speaks of something, why what is written differs, or what it has in common."""


def compare(ticket: Ticket, routed: Routed, catalogue: Catalogue) -> str:
    """The line on the ticket's fix; nothing if it proposes none, or if nothing would be written."""
    fixable = [finding for finding in routed.findings if finding.is_fixable]
    if not fixable:
        return f"left alone: {routed.findings[0].left_alone}" if routed.findings else ""
    blocks = [block for block in ticket.code_of("fix") if block.snippet]
    if not blocks and not ticket.fix:
        return ""
    if any(likeness_after(block, routed, catalogue, 1.0) >= THE_SAME for block in blocks):
        return "writes what the ticket proposes"
    if any(likeness_after(block, routed, catalogue, 0.0) >= THE_SAME for block in blocks):
        return "writes what the ticket proposes, with the names of the file"
    reason = reason_for(routed, ticket)
    if reason:
        return (f"differs {reason}" if reason.startswith("on purpose") else reason) + not_taken(routed, ticket)
    return "differs from the code that the ticket proposes: see the diff" if blocks else ""


def likeness_after(block: CodeBlock, routed: Routed, catalogue: Catalogue, names: float) -> float:
    """How much of a fix is found in what would be written, if it was not there before."""
    path = routed.findings[0].path
    project = catalogue.project
    fixable = [finding for finding in routed.findings if finding.is_fixable]
    try:
        before = find_quotes(project.module(path), block, names=names)
        after = find_quotes(Module(decode(path, splice_all(fixable, project)[path])), block, names=names)
    except (SourceError, ValueError, KeyError):
        return 0.0
    best = max((quote.score for quote in after), default=0.0)
    return best if best > max((quote.score for quote in before), default=0.0) else 0.0


def writes_the_fix(ticket: Ticket, fired: Fired, catalogue: Catalogue) -> bool:
    """Whether a finding would write what the ticket proposes, whatever its words are."""
    routed = Routed(codemod=fired.finding.codemod, findings=(fired.finding,))
    blocks = [block for block in ticket.code_of("fix") if block.snippet]
    return any(likeness_after(block, routed, catalogue, 1.0) >= THE_SAME for block in blocks)


def names_another(remedy: str, fired: Fired) -> bool:
    """Whether a remedy names parts of torch of which a finding that renames such parts writes none."""
    named = set(re.findall(r"\btorch(?:\.\w+)+", remedy))
    written = " ".join(edit.new_text for edit in fired.finding.edits)
    renames = fired.finding.codemod == "use_public_compiler_api" and fired.finding.is_fixable
    return renames and bool(named) and not any(name in written or name in fired.finding.message for name in named)


def reason_for(routed: Routed, ticket: Ticket) -> str:
    """What the table says about such a fix."""
    texts = [ticket.fix, *(text for block in ticket.code_of("fix") for text in (block.label, block.text))]
    said = " ".join(texts) if any(texts) else ticket.problem
    function = routed.findings[0].symbol.rpartition(".")[2]
    if routed.codemod == "isolate_telemetry" and re.search(rf"def {re.escape(function)}\b", said):
        return f"on purpose: only the telemetry of {function} leaves the graph, not all that it computes"
    return next((why for words, why in REASONS.get(routed.codemod, ()) if re.search(words, said, re.IGNORECASE)), "")


def not_taken(routed: Routed, ticket: Ticket) -> str:
    """What the ticket's own warning says that the codemod's does not: its text, and whom it points at."""
    calls = [node for node in fix_nodes(ticket, ast.Call) if isinstance(node, ast.Call) and is_warning(node)]
    if routed.codemod != "warn_on_device_migration" or not calls:
        return ""
    levels = [f"`stacklevel={ast.unparse(word.value)}`" for word in calls[0].keywords if word.arg == "stacklevel"]
    has_message = calls[0].args or any(word.arg == "message" for word in calls[0].keywords)
    given = " and ".join([*(["message"] if has_message else []), *levels])
    told = "the text names the class and both devices, the level is that of the method's caller"
    return f"; not taken over: its {given} ({told})" if given else ""


def is_warning(node: ast.Call) -> bool:
    return ast.unparse(node.func).rpartition(".")[2] == "warn"
