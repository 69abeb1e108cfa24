"""What a ticket asks for beyond a codemod's defaults, read from its fix: from the code there, or in so many words."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fullgraph.codemods.model import Finding
from fullgraph.codemods.project import Project
from fullgraph.codemods.tickets.model import Ticket
from fullgraph.codemods.tickets.places.in_file import blocks_of
from fullgraph.codemods.tickets.places.quotes import find_quotes
from fullgraph.codemods.tickets.routes.proposals import proposed_in

Reader = Callable[[Ticket, Project, str, str], dict[str, str]]

KEYED = re.compile(r"(?:\w+\.)*(?:[Dd]ict|(?:Mutable)?Mapping|defaultdict|OrderedDict)\[(?!\s*(?:str|Any|object)\b)")
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]+")
PURE = re.compile(
    r"`?(?P<name>[A-Za-z_]\w*)(?:\(\))?`? (?:only reads|is pure|has no side[- ]effects?|"
    r"does not (?:change|modify|mutate) (?:anything|state|it))"
)
PARAMETER = re.compile(
    r"(?:an?|the|new|optional) `?(?P<before>[a-z_]\w*)`?(?:=\w+)? (?:constructor )?(?:parameter|argument|kwarg)|"
    r"(?:parameter|argument|kwarg) (?:called |named )?`(?P<after>[a-z_]\w*)`"
)
FORMS = (
    (
        "context",
        r"(?:create|make|build)\w* the (?:autocast )?context (?:manager )?once|reuse the context|re-?enter (?:it|the)",
    ),
    ("enabled", r"enabled ?= ?\w+"),
    ("decorator", r"decorat"),
)


def options_for(codemod: str, ticket: Ticket, project: Project, path: str, symbol: str) -> dict[str, str]:
    """The settings of a codemod that the ticket asks for at a place; none that are the default anyway."""
    reader = READERS.get(codemod)
    return reader(ticket, project, path, symbol) if reader else {}


def remedy_of(ticket: Ticket) -> str:
    """All that is said about the fix; where nothing is called so, the sentences that propose something."""
    called = " ".join([ticket.fix, *(block.label for block in ticket.code_of("fix"))])
    asked, offered = proposed_in(ticket)
    return called if called.strip() else " ".join([*asked, *offered])


def fix_nodes(ticket: Ticket, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    for block in ticket.code_of("fix"):
        if block.snippet:
            yield from (node for node in ast.walk(block.snippet.tree()) if isinstance(node, kinds))


def read_constant(ticket: Ticket, project: Project, path: str, symbol: str) -> dict[str, str]:
    """The constant that the fix loops over: imported there, or of the finding's own module."""
    homes = {
        alias.asname or alias.name: f"{node.module}:{alias.name}"
        for node in fix_nodes(ticket, ast.ImportFrom)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
    }
    for node in fix_nodes(ticket, ast.For, ast.comprehension):
        name = node.iter.id if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Name) else ""
        if CONSTANT.fullmatch(name) and (home := homes.get(name)) and project.path_of(home.partition(":")[0]):
            return {"constant": home}
    return {}


def is_annotated_otherwise(finding: Finding, project: Project) -> bool:
    """Whether the code says that the keys of a dict are no names, so that no constant of names can hold them."""
    module = project.module(finding.path)
    looped = re.match(r"\w+", module.text[finding.span.start : finding.span.end])
    if finding.codemod != "iterate_constant_keys" or not looped:
        return False
    stated = [
        each.annotation
        for each in module.nodes(ast.arg, ast.AnnAssign)
        if each.annotation and name_of(each) == looped.group() and module.symbol(each) == finding.symbol
    ]
    return any(KEYED.match(module.code(each)) for each in stated)


def name_of(node: ast.arg | ast.AnnAssign) -> str:
    return node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)


def read_flag(ticket: Ticket, project: Project, path: str, symbol: str) -> dict[str, str]:
    """The condition that the fix adds to the `if` around the wait."""
    for node in fix_nodes(ticket, ast.If):
        if isinstance(node, ast.If) and "wait_stream" in ast.unparse(node):
            tests = (
                node.test.values
                if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)
                else [node.test]
            )
            added = [test for test in tests if "stream" not in ast.unparse(test)]
            if len(added) == 1:
                return {"flag": ast.unparse(added[0])}
    return {}


@dataclass(frozen=True)
class NewFunction:
    """A function that the fix writes and keeps out of compiled code."""

    name: str
    parameters: tuple[str, ...]


def new_function(ticket: Ticket) -> NewFunction | None:
    """The one function of the fix that `torch.compiler.disable` decorates."""
    functions = {
        node.name: NewFunction(node.name, tuple(each.arg for each in node.args.args))
        for node in fix_nodes(ticket, ast.FunctionDef)
        if isinstance(node, ast.FunctionDef) and "compiler.disable" in " ".join(map(ast.unparse, node.decorator_list))
    }
    return next(iter(functions.values())) if len(functions) == 1 else None


def read_new_function(ticket: Ticket, project: Project, path: str, symbol: str) -> dict[str, str]:
    """The lines to extract and the name of the function for them, if the fix writes that function."""
    wanted = new_function(ticket)
    if wanted is None or symbol.endswith(wanted.name):
        return {}
    lines = quoted_lines(ticket, project, path)
    return {"name": wanted.name, **({"lines": lines} if lines else {})}


def quoted_lines(ticket: Ticket, project: Project, path: str) -> str:
    """The lines on which a block with its own line numbers stands now, with the remarks that it begins with."""
    module = project.module(path)
    for block in blocks_of(ticket):
        quotes = find_quotes(module, block, block.lines)
        if len(quotes) == 1 and len(quotes[0].lines) == 1 and len(block.lines) == 1:
            found, written = quotes[0].lines[0], block.lines[0]
            first = written.first + found.last - written.last
            return f"{first if is_remark(module.text, first, found.first) else found.first}-{found.last}"
    return ""


def is_remark(text: str, first: int, last: int) -> bool:
    """Whether the lines before `last`, from `first` on, hold nothing but comments."""
    lines = text.splitlines()[max(first - 1, 0) : last - 1]
    return 0 < first <= last and all(line.strip().startswith("#") or not line.strip() for line in lines)


def read_pure(ticket: Ticket, project: Project, path: str, symbol: str) -> dict[str, str]:
    """The function of which the ticket says that it only reads."""
    names = {match["name"] for match in PURE.finditer(" ".join([ticket.problem, ticket.fix, ticket.summary]))}
    return {"pure": ",".join(sorted(names))} if names else {}


def read_parameter(ticket: Ticket, project: Project, path: str, symbol: str) -> dict[str, str]:
    """The parameter that the fix wants, if its name is not the default."""
    for match in PARAMETER.finditer(remedy_of(ticket)):
        name = match["before"] or match["after"]
        if "device" in name and name != "buffer_device":
            return {"parameter": name}
    return {}


def read_autocast_form(ticket: Ticket, project: Project, path: str, symbol: str) -> dict[str, str]:
    remedy = remedy_of(ticket).casefold()
    forms = [form for form, words in FORMS if re.search(words, remedy)]
    return {"form": forms[0]} if len(forms) == 1 else {}


def read_autocast_scope(ticket: Ticket, project: Project, path: str, symbol: str) -> dict[str, str]:
    remedy = remedy_of(ticket).casefold()
    is_backward = re.search(r"backward", remedy) and not re.search(r"decorat|\bforward\b", remedy)
    return {"form": "backward"} if is_backward else {}


def read_device_form(ticket: Ticket, project: Project, path: str, symbol: str) -> dict[str, str]:
    code = " ".join(block.text for block in ticket.code_of("fix"))
    return {"form": "strict"} if re.search(r"\bstrict(?:_device)?\b", f"{remedy_of(ticket)} {code}") else {}


def read_mode(ticket: Ticket, project: Project, path: str, symbol: str) -> dict[str, str]:
    """`document` where the fix says so and offers nothing else."""
    remedy = f"{remedy_of(ticket)} {' '.join(block.text for block in ticket.code_of('fix'))}".casefold()
    is_kept = re.search(r"document|compiler\.disable", remedy) and not re.search(r"\bflat|\* ?n\b|<<|-> int", remedy)
    return {"mode": "document"} if is_kept else {}


def read_level(ticket: Ticket, project: Project, path: str, symbol: str) -> dict[str, str]:
    """One read for several tensors, where the fix says so."""
    is_all = re.search(
        r"(?:single|one) (?:transfer|read|sync|copy|tolist\(\)) for all (?:the )?(?:heads|tensors)", remedy_of(ticket)
    )
    return {"level": "all"} if is_all else {}


READERS: dict[str, Reader] = {
    "allocate_on_device": read_parameter,
    "batch_host_reads": read_level,
    "cache_loop_queries": read_pure,
    "flatten_tuple_keys": read_mode,
    "hoist_autocast": read_autocast_form,
    "isolate_telemetry": read_new_function,
    "iterate_constant_keys": read_constant,
    "scope_autocast": read_autocast_scope,
    "skip_redundant_wait_stream": read_flag,
    "warn_on_device_migration": read_device_form,
}


def is_asked_to_disable(ticket: Ticket) -> bool:
    """Whether the fix puts `torch.compiler.disable` on a function."""
    texts = [ticket.fix, *(block.text for block in ticket.code_of("fix"))]
    return any("compiler.disable" in text for text in texts)
