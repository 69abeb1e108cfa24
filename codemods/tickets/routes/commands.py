"""What a ticket asks for that no rewrite is but a command does: the command, as the user should type it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from fullgraph.codemods.model import FullgraphError, SourceError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.folder import Folder
from fullgraph.codemods.tickets.limits import TEXT
from fullgraph.codemods.tickets.model import Ticket
from fullgraph.codemods.tickets.places.model import Located
from fullgraph.codemods.tickets.places.prose import is_test
from fullgraph.codemods.tickets.routes.model import Routed

PROGRAM = re.compile(
    r"\bpython3?[ \t]+(?P<what>-m[ \t]+[\w.]+|[\w./-]+\.py)(?P<rest>(?:[ \t]+--?[a-zA-Z][\w-]*(?:[= \t][\w./:]+)?)*)"
)
COMPILES = re.compile(r"^(?![\s\S]*monkeypatch)[\s\S]*(?:\btorch\.compile\(|\bcompile\w* ?= ?True)")
IS_MAIN = b'__name__ == "__main__"'
TARGETS, TESTS = 2, 2


class Known:
    """What of a project the commands for a ticket can be put together from."""

    def __init__(self, ticket: Ticket, located: Located, routed: Routed, project: Project) -> None:
        self.ticket = ticket
        self.routed = routed
        self.project = project
        self.classes = [spot for spot in located.spots if spot.is_mentioned]

    @property
    def nets(self) -> list[str]:
        """`MODULE:CLASS` of the named classes that can be called as a net."""
        found = [
            f"{module.name}:{module.symbol(node)}"
            for spot in self.classes
            for module in [self.project.module(spot.path)]
            for node in module.nodes(ast.ClassDef)
            if module.symbol(node) == spot.symbol and has_forward(node)
        ]
        return list(dict.fromkeys(found))[:TARGETS]

    @property
    def keepers(self) -> list[str]:
        """`MODULE:FUNCTION` of what was found to keep the outputs of a net."""
        kept = [finding for finding in self.routed.findings if finding.codemod == "clone_at_boundary"]
        return [f"{self.project.module(finding.path).name}:{finding.symbol}" for finding in kept]

    @property
    def tests(self) -> list[tuple[str, str]]:
        """`FILE::TEST` and text of the tests that use the named classes or attributes."""
        names = [spot.symbol.partition(".")[0] for spot in self.classes]
        names += [mention.rpartition(".")[2] for mention in self.ticket.mentions if "." in mention]
        paths = {path: None for name in names for path in self.project.mentions(name) if is_test(path)}
        found = [pair for path in paths for pair in tests_in(self.project, path)]
        return [pair for pair in found if any(name in pair[1] for name in names)]

    @property
    def program(self) -> str:
        """How the project is started: as the ticket or README.md says, else by a script. What compiles comes first."""
        said = [self.ticket.fix, self.ticket.problem, self.ticket.context, readme_of(self.project)]
        found = [line for text in said for line in programs_in(text, self.project)]
        scripts = [f"python {path}" for path in self.project.files if IS_MAIN in self.project.read(path)]
        ranked = sorted(found or [each for each in scripts if not is_test(each)], key=preference)
        return ranked[0] if ranked else "python YOUR_PROGRAM.py"


def has_forward(node: ast.ClassDef) -> bool:
    return any(isinstance(each, ast.FunctionDef) and each.name in ("forward", "__call__") for each in node.body)


def tests_in(project: Project, path: str) -> Iterator[tuple[str, str]]:
    """Each test of a file with its text."""
    with suppress(SourceError):
        module = project.module(path)
        for node in module.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                yield f"{path}::{node.name}", module.code(node)


def readme_of(project: Project) -> str:
    with suppress(FullgraphError, OSError), Folder.at(project.root) as folder:
        return folder.read("README.md", TEXT).decode(errors="replace")
    return ""


def programs_in(text: str, project: Project) -> Iterator[str]:
    """The commands of a text that run a file of the project. Anything but plain arguments ends one."""
    for match in PROGRAM.finditer(text):
        what = match["what"].split()[-1]
        if what in project.files or project.path_of(what) or project.path_of(f"{what}.__main__"):
            yield " ".join(f"python {match['what']}{match['rest']}".split())


def preference(line: str) -> tuple[bool, bool, bool]:
    """What compiles, then what trains; the run of a harness says little about a program."""
    return "harness" in line, "--compile" not in line, "train" not in line


def observe(known: Known) -> Iterator[str]:
    yield f"fullgraph observe -- {known.program}"


def audit(known: Known) -> Iterator[str]:
    """Of a test that compiles, else of a scenario for what keeps outputs, or for the net: that is compiled there."""
    tests = [test for test, text in known.tests if COMPILES.search(text)]
    if tests:
        yield f"fullgraph audit {' '.join(tests[:TESTS])}"
        return
    for target in [*known.keepers, *known.nets][:1]:
        scenario = f"scenarios/{target.rpartition(':')[2].rpartition('.')[2].lower()}.py"
        yield f"fullgraph scenario new {target} --out {scenario}"
        yield f"fullgraph audit {scenario}"


def harness(known: Known) -> Iterator[str]:
    yield from (f"fullgraph harness {net}" for net in known.nets)


def capture(known: Known) -> Iterator[str]:
    yield from (f"fullgraph capture {net}.forward -- {known.program}" for net in known.nets[:1])


def prove(known: Known) -> Iterator[str]:
    tests = [test for test, _ in known.tests]
    if tests:
        yield f"fullgraph prove {' '.join(tests[:TESTS])}"


def write_tests(known: Known) -> Iterator[str]:
    names = [name for words, name in TESTED if re.search(words, known.ticket.fix, re.IGNORECASE)]
    yield from (f"fullgraph fix . --select {name} --write-tests" for name in names[:1])


TESTED = (
    (r"mark_step|\bclon", "clone_at_boundary"),
    (r"\bcount", "count_compiled_calls"),
    (r"\bflags?\b", "gate_compile"),
)
"""What tests are about, and the codemod that brings such tests along."""

WANTED: tuple[tuple[str, Callable[[Known], Iterator[str]]], ...] = (
    (r"\bharness\b(?! passes)|standalone (?:script|test)", harness),
    (r"lifetimes?\b|outliv|stored beyond|\boverwritten\b|cudagraph errors?\b", audit),
    (
        r"\binstrument|\bcounters?\b|how (?:many times|often)|invocation counts?|TORCH_LOGS|graph[_ -]breaks? log",
        observe,
    ),
    (r"\b(?:record|capture|store)\w* (?:real |actual )?(?:inputs|arguments|calls)\b", capture),
    (r"\bsame (?:results|outputs|numbers)\b|\bequivalen|no (?:functional |numerical )?regressions?\b", prove),
    (r"\b(?:unit|regression) tests? (?:that|for|of)\b", write_tests),
)
"""What is asked for, and the command that does it."""


def commands_for(ticket: Ticket, located: Located, routed: Routed, project: Project) -> tuple[str, ...]:
    """The commands that a step of a plan asks for, or the headline of an open ticket that no codemod answers."""
    if not ticket.context and (routed.codemod or ticket.is_resolved or ticket.is_rejected):
        return ()
    text = f"{ticket.title}\n{ticket.fix}" if ticket.context else ticket.title
    known = Known(ticket, located, routed, project)
    wanted = [make for words, make in WANTED if re.search(words, text, re.IGNORECASE | re.DOTALL)]
    return tuple(dict.fromkeys(line for make in titled(ticket, wanted) for line in make(known)))


def titled(
    ticket: Ticket, wanted: Sequence[Callable[[Known], Iterator[str]]]
) -> Sequence[Callable[[Known], Iterator[str]]]:
    """What the title asks for, if it says so: the rest of a step is about how."""
    named = [make for words, make in WANTED if make in wanted and re.search(words, ticket.title, re.IGNORECASE)]
    return named or wanted
