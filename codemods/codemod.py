"""What every codemod is: it looks at a module, reports findings, and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from fullgraph.codemods.model import Finding, FullgraphError, Purpose, Site
from fullgraph.codemods.model import Unsure as Unsure
from fullgraph.codemods.module import Module, Scope
from fullgraph.codemods.project import Project


@dataclass(frozen=True)
class Options:
    """The settings of one codemod, one field each: `str`, `bool`, `int` or a `Literal` of strings."""

    torch: str = field(default="", kw_only=True)
    """The torch that code is written for; empty: as the project's environment, lock files and requirements say."""


def option(default: Any, doc: str) -> Any:
    """A setting with its default and the sentence that `explain` shows for it."""
    return field(default=default, metadata={"doc": doc})


class Codemod:
    """Base of all codemods. The docstring is its documentation and ends with "Left alone:".

    `needles`: bytes of which at least one occurs in every file that could hold a finding. `pattern`: a bytes regular
    expression that must match too. Both only save time: they are asked before anything is parsed.
    `why`: what the rewrite is for, in one or two sentences, as measured. `claim`: what reviewers say of the finding.
    `on_request`: whether it runs only where it is selected by name or a ticket asks for it: alone it gains nothing.
    `is_addition`: whether it adds something that nobody misses, so that a ticket must ask for just that.
    `writes_tests`: whether its findings bring a regression test along where `fix --write-tests` asks for one.
    `repairs_breaks`: whether it is for lines on which graphs break; where a run was observed, it gets them as `sites`.
    `isolates`: whether it takes code out of the graph: a break itself, while repairing the same lines is none.
    """

    name: ClassVar[str] = ""
    needles: ClassVar[tuple[bytes, ...]] = ()
    pattern: ClassVar[re.Pattern[bytes] | None] = None
    why: ClassVar[str] = ""
    claim: ClassVar[str] = ""
    on_request: ClassVar[bool] = False
    is_addition: ClassVar[bool] = False
    writes_tests: ClassVar[bool] = False
    repairs_breaks: ClassVar[bool] = False
    isolates: ClassVar[bool] = False

    options: Options
    """A codemod with settings declares this again, with its own subclass of Options."""

    symbols: tuple[str, ...]
    """What the user named with --symbol while selecting this codemod by name."""

    tests: str
    """The folder of the project's tests, where a test is to be written with each finding; else nothing."""

    is_asked: bool = True
    """Whether the user or a ticket named it. One that runs unasked passes over what is rarely worth a look."""

    sites: tuple[Site, ...] | None = None
    """Where graphs were seen to break: findings stand there and nowhere else. None: nothing was observed."""

    def __init__(
        self, options: Mapping[str, str] | None = None, symbols: tuple[str, ...] = (), tests: str = ""
    ) -> None:
        self.options = parse_options(self.name, self.options_type(), options or {})
        self.symbols = symbols
        self.tests = tests

    def __init_subclass__(cls) -> None:
        cls.name = cls.__dict__.get("name") or re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def options_type(cls) -> type[Options]:
        kind: type[Options] = get_type_hints(cls)["options"]
        return kind

    def is_named(self, module: Module, scope: Scope) -> bool:
        """Whether the user named this function or class, as `Class.method` or with the module before it."""
        dotted = f".{module.name}.{module.symbol(scope)}"
        return any(dotted.endswith(f".{symbol}") for symbol in self.symbols)

    def has_torch(self, project: Project, version: str, *, unless_known: bool) -> bool:
        """Whether the project's torch is at least this one; `unless_known` where nothing says which it is."""
        known = project.torch(self.options.torch)
        return unless_known if known is None else known.is_at_least(version)

    def may_hold(self, raw: bytes) -> bool:
        """Whether a file with these bytes could hold a finding."""
        if self.needles and not any(needle in raw for needle in self.needles):
            return False
        if self.pattern is not None and not self.pattern.search(raw):
            return False
        hits = self.hits(raw)
        return hits is None or any(True for _ in hits)

    def hits(self, raw: bytes) -> Iterable[int] | None:
        """Where in the bytes findings could begin; None means anywhere.

        A codemod that can tell saves most of the parsing of big files: see `rewrite/glance.py`. A top-level statement
        without a hit must never hold the beginning of a finding.
        """
        return None

    def purposes(self, findings: Sequence[Finding]) -> tuple[Purpose, ...]:
        """What these findings change on purpose, so that a proof can tell it from what they must not change."""
        return ()

    def unfollowed(self, module: Module, project: Project) -> Iterable[str]:
        """What this module compiles that it looked for and could not follow, each as `place: what`."""
        return ()

    def find(self, module: Module, project: Project) -> Iterable[Finding]:
        """Every finding in this module. Only what begins here: a use in another module belongs to its definition."""
        raise NotImplementedError


def parse_options(codemod: str, kind: type[Options], given: Mapping[str, str]) -> Options:
    """Settings from their text, as the command line and pyproject.toml hold them."""
    hints = get_type_hints(kind)
    known = {item.name for item in fields(kind)}
    values: dict[str, Any] = {}
    for key, text in given.items():
        if key not in known:
            raise FullgraphError(f"{codemod} has no option {key!r}{suggest(key, known)}")
        values[key] = read_value(f"{codemod}.{key}", hints[key], text)
    check_torch(f"option {codemod}.torch", values.get("torch", ""))
    return kind(**values)


def check_torch(name: str, given: object) -> str:
    """A version of torch as the user gave it, or nothing."""
    if given:
        from fullgraph.codemods.syntax.torch_version import is_version

        if not is_version(given):
            raise FullgraphError(f"{name}: {given!r} is not a version; write 2.9")
    return str(given)


def read_value(name: str, hint: Any, text: str) -> Any:
    """One setting's value; what does not fit is an error that names what would."""
    if get_origin(hint) is Literal:
        choices: tuple[str, ...] = get_args(hint)
        if text not in choices:
            raise FullgraphError(f"option {name}: {text!r} is not one of {', '.join(choices)}")
        return text
    readers: dict[Any, Callable[[str], Any]] = {bool: read_bool, int: int, str: str}
    try:
        return readers[hint](text)
    except ValueError:
        raise FullgraphError(
            f"option {name}: {text!r} is not {'true or false' if hint is bool else 'a number'}"
        ) from None


def read_bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def suggest(name: str, known: Iterable[str]) -> str:
    """`; did you mean X?` for the nearest known name, or nothing."""
    near = get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
