"""Key dicts by one int instead of a pair."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from fullgraph.codemods.codemod import Codemod, Options, Unsure, option
from fullgraph.codemods.model import Finding, Purpose, SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.pairs.dicts import PairDict, pair_dicts
from fullgraph.codemods.topics.pairs.documented import document
from fullgraph.codemods.topics.pairs.flat import flatten, listed
from fullgraph.codemods.topics.pairs.uses import Use

PAIR = rb"(?:\w+\.)?[tT]uple\s?\[\s*int\s*,\s*int\s*\]"
NAMED = rb"(?:\w+\.)?(?:[A-Z]\w*|[tT]uple\s?\[\w+, \w+\])\s*,\s*[^\]\n]*(?:Tensor|Parameter|nn\.)"
SAID = re.compile(rb"ict\[\s*(?:" + PAIR + rb"|" + NAMED + rb")")
MAPPED = re.compile(rb"apping\[\s*" + PAIR)
EMPTY = re.compile(rb"=\s*(?:\{\s*\}|dict\(\)|(?:collections\.)?(?:defaultdict|OrderedDict)\()")
PAIRED = re.compile(rb"\{\s*\(\s*[\w.]+\s*,\s*[\w.]+\s*\)\s*:")
BUILT = re.compile(rb"\{\s*(\w+)\s*:[^{}]{1,300}?\sfor\s+\1\s+in\s")
MAKES_PAIRS = (b"combinations(", b"permutations(", b"product(", b"uple[int, int]")
LISTED = re.compile(rb"\[\(\w+, \w+\)(?: for|,)")
NAME = re.compile(rb"(\w+)\s*$")
STORED = re.compile(rb"((?:[^][:\"']|\[[^][:\"']*\])+)\]\s*\+?=(?!=)")
SPLITS = "a disabled function splits the graph of compiled code that calls it, and fails under fullgraph=True"


@dataclass(frozen=True)
class FlattenOptions(Options):
    mode: Literal["flatten", "document"] = option(
        "flatten",
        "`flatten` makes one int of each key; `document` keeps the keys, says so in a comment, and puts "
        "`@torch.compiler.disable` on the functions that use the dict.",
    )
    stride: str = option(
        "",
        "An expression that is above every second part of a key, in the module that defines the dict: the key is then "
        "`i * stride + j`. Without it a constant that is seen to bound every key is taken, else `(i << 32) | j`.",
    )


class FlattenTupleKeys(Codemod):
    """Key a dict of tensors by one int instead of a pair of ints.

    A dict is found by its annotation (`dict[tuple[int, int], torch.Tensor]`, also as `Dict`, in quotes, through an
    alias), or by how it is filled: with keys that are seen to be pairs of ints. It may be a local variable, a global,
    or an attribute such as a dataclass field. All of it is rewritten, in every file of the project: the annotation,
    each key (`d[i, j]`, `d[pair]`, `get`, `pop`, `setdefault`, `in`, `del`), pairs that are written out and compared
    with all keys (`sorted(d) == [(0, 1)]`), and loops and comprehensions that take the pair, which get it back by
    `divmod`. A small function makes the key; it is added once, and imported elsewhere.

    There is one stride for the whole dict, or none. A module's constant is taken as stride if every second part of a
    key, in every file, is seen to stay below it. Otherwise the key is `(i << 32) | j`, which needs no bound: filling
    with `range(len(slots))` and reading with `range(n_active)` gives two strides, and a KeyError. Each part must be
    below 2**32 and the second not negative: where that is not seen, or what has the attribute is not seen to be of the
    class, the finding is unsafe and names the lines. Then pickles of old objects are yours to convert.

    Measured on torch 2.13.0, CPU, with 100 entries, read by key, by `.items()` or by `.values()`: nothing breaks the
    graph, and the number of recompiles is the same. A call whose graph does nothing took 25 to 28 us with pairs, the
    same with the shift, and 1 to 2 us less with a stride (up to 5 us less where the dict is also written). Expect
    little: measure on your own code before you keep it. Summed under inductor, 100 entries took 69 to 79 us a call
    with either kind of key, and 17 us as one stacked tensor: where that fits, it is the better rewrite.

    `mode=document` keeps the pairs: a comment says so, and the functions that use the dict are kept out of compiled
    code. That splits the graph of whoever calls them, and fails under `fullgraph=True`.

    Left alone:
    - a dict that nobody reads: it is reported as dead, with the lines that write it
    - a dict that is returned, passed on whole, compared, unpacked with `**`, printed, or updated from another
    - keys that go their own way: `list(d)`, `sorted(d)` as a value, `max(d)`, `next(iter(d))`
    - an object that is written out or taken apart whole, by `torch.save`, `pickle`, `asdict`, `vars` or a pattern, also
      inside another one; a dataclass that is printed; `getattr` with a name that is worked out
    - a dict given to the constructor by its place, by keyword and not made there, or by `**words` that are not all
      seen; a class that is handed on
    - `| None`, a list of dicts, a type in a comment
    - a key that is not seen to be a pair, or that can be negative; a sorted loop where that is not known
    - a KeyError that is shown: it names the key
    - an attribute that another class has too, that is annotated otherwise elsewhere, or named in a string
    - a class with a base or decorator of which nothing is known
    - a key function that could only be imported in a circle, or from a module that has another name there
    - a global that comes in by a star import; a stride that means nothing where the dict is defined, or is not positive
    - a dict without tensors, with other keys, flat already, or in a file without torch: not even reported
    """

    options: FlattenOptions
    needles: ClassVar[tuple[bytes, ...]] = (b"import torch", b"from torch", b", torch")
    on_request: ClassVar[bool] = True
    claim: ClassVar[str] = "tuple keys break the graph, or make torch.compile guard and compile more than ints do."
    why: ClassVar[str] = (
        "Pairs as keys do not break the graph. With a stride a compiled call was 1 to 2 us of 25 faster for 100 keys "
        "on torch 2.13.0, with the shift no faster: measure before you keep it."
    )

    def hits(self, raw: bytes) -> Iterator[int]:
        """Where a dict is annotated or built with pairs, or is made and filled with something like a pair."""
        for pattern in (SAID, MAPPED, PAIRED):
            yield from starts(pattern, raw)
        has_pairs = any(maker in raw for maker in MAKES_PAIRS) or LISTED.search(raw) is not None
        if has_pairs:
            yield from starts(BUILT, raw)
        yield from filled_dicts(raw, has_pairs)

    def purposes(self, findings: Sequence[Finding]) -> tuple[Purpose, ...]:
        names = sorted({name for finding in findings for name in re.findall(r"^`(\w+)`", finding.message)})
        return tuple(Purpose("keys", rf"(?:.*\.)?{name}", f"`{name}` has one int for each pair") for name in names)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not module.imports.names_package("torch"):
            return
        for found in pair_dicts(module, project):
            try:
                yield from self.judge(found)
            except Unsure as reason:
                yield self.report(found, str(reason))
            except SourceError as error:
                yield self.report(found, f"{error}: what it does with the dict cannot be seen")

    def judge(self, found: PairDict) -> Iterator[Finding]:
        uses = found.uses()
        escapes = [use for use in uses if use.kind == "escape"]
        if not any(use.reads for use in uses):
            yield self.report(found, f"nobody reads it: it is dead, and can go. {written(uses)}")
        elif self.options.mode == "document":
            yield from self.documented(found, uses)
        elif escapes:
            yield self.report(found, listed([f"{use.place}: {use.reason}" for use in escapes]))
        else:
            yield self.flattened(found, uses)

    def flattened(self, found: PairDict, uses: list[Use]) -> Finding:
        flat = flatten(found, uses, self.options.stride)
        form = f"i * {flat.stride} + j" if flat.stride else "(i << 32) | j"
        message = f"`{found.name}` is keyed by pairs of ints: one int, {form}, can take their place"
        return found.module.finding(self.name, found.node, message, edits=flat.edits, caveat="; ".join(flat.doubts))

    def documented(self, found: PairDict, uses: list[Use]) -> Iterator[Finding]:
        edits, refused = document(found, uses)
        if edits:
            yield found.module.finding(
                self.name,
                found.node,
                f"`{found.name}` is keyed by pairs of ints: keep it out of compiled code",
                edits=tuple(edits),
                caveat=SPLITS,
                notes=tuple(f"not decorated: {reason}" for reason in refused),
            )

    def report(self, found: PairDict, reason: str) -> Finding:
        message = f"`{found.name}` is keyed by pairs of ints, where one int could stand"
        return found.module.finding(self.name, found.node, message, left_alone=reason)


def starts(pattern: re.Pattern[bytes], raw: bytes) -> Iterator[int]:
    return (match.start() for match in pattern.finditer(raw))


def filled_dicts(raw: bytes, has_pairs: bool) -> Iterator[int]:
    """Where a new, empty dict stands that gets a key with a comma; any key counts where the file makes pairs."""
    made: dict[bytes, list[int]] = {}
    for empty in EMPTY.finditer(raw):
        if name := bound_name(raw, empty.start()):
            made.setdefault(name, []).append(empty.start())
    for name, places in made.items():
        fills = [at for at in found_at(raw, name + b"[") if is_fill(raw, at + len(name) + 1, has_pairs)]
        yield from [*places, *fills] if fills else ()


def found_at(raw: bytes, word: bytes) -> Iterator[int]:
    at = raw.find(word)
    while at >= 0:
        if not raw[at - 1 : at].isalnum():
            yield at
        at = raw.find(word, at + 1)


def is_fill(raw: bytes, start: int, has_pairs: bool) -> bool:
    """Whether a subscript that begins here is assigned to, with something like a pair in it."""
    stored = STORED.match(raw, start, start + 200)
    key = stored.group(1) if stored else b""
    return b"," in key or (has_pairs and key.replace(b"_", b"").isalnum())


def bound_name(raw: bytes, end: int) -> bytes:
    """The name before the sign of equality at `end`; none if it is annotated: then its annotation counts."""
    line = raw[max(0, end - 200) : end].replace(b"\r", b"\n").rpartition(b"\n")[2]
    named = NAME.search(line)
    return named.group(1) if named and not line[: named.start()].rstrip().endswith(b":") else b""


def written(uses: list[Use]) -> str:
    places = [use.place for use in uses if use.kind == "key" or use.keys]
    return f"Written at {listed(places)}" if places else "It is never written either"
