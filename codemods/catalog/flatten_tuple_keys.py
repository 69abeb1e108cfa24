"""Dicts keyed by pairs of ints: see the class."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from codemods.codemod import Codemod, Options, Unsure, option
from codemods.model import Finding, SourceError
from codemods.module import Module
from codemods.pairs.dicts import PairDict, pair_dicts
from codemods.pairs.documented import document
from codemods.pairs.flat import flatten, listed
from codemods.pairs.uses import Use
from codemods.project import Project

PAIR = rb"(?:\w+\.)?[tT]uple\s?\[\s*int\s*,\s*int\s*\]"
NAMED = rb"(?:\w+\.)?[A-Z]\w*\s*,\s*[^\]\n]*(?:Tensor|Parameter|nn\.)"
SAID = re.compile(rb"ict\[\s*(?:" + PAIR + rb"|" + NAMED + rb")")
MAPPED = re.compile(rb"apping\[\s*" + PAIR)
EMPTY = re.compile(rb"=\s*(?:\{\s*\}|dict\(\)|(?:collections\.)?(?:defaultdict|OrderedDict)\()")
PAIRED = re.compile(rb"\{\s*\(\s*[\w.]+\s*,\s*[\w.]+\s*\)\s*:")
BUILT = re.compile(rb"\{\s*(\w+)\s*:[^{}]{1,300}?\sfor\s+\1\s+in\s")
MAKES_PAIRS = (b"combinations(", b"permutations(", b"product(", b"uple[int, int]")
LISTED = re.compile(rb"\[\(\w+, \w+\)(?: for|,)")
NAME = re.compile(rb"(\w+)\s*$")
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
    """Key a dict of tensors by one int instead of a pair of ints."""

    options: FlattenOptions
    needles: ClassVar[tuple[bytes, ...]] = (b"import torch", b"from torch", b", torch")
    why: ClassVar[str] = (
        "Compiled code guards on every key of a dict it reads, and a pair costs more than an int: with 100 entries "
        "155 us against 89 us a call on torch 2.13. It does not break the graph."
    )

    def may_hold(self, raw: bytes) -> bool:
        """Torch is imported, and a dict is annotated or built with pairs, or filled with something like a pair."""
        if not any(needle in raw for needle in self.needles):
            return False
        if SAID.search(raw) or MAPPED.search(raw) or PAIRED.search(raw):
            return True
        has_pairs = any(maker in raw for maker in MAKES_PAIRS) or LISTED.search(raw) is not None
        return (has_pairs and BUILT.search(raw) is not None) or looks_filled(raw, has_pairs)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if not imports_torch(module):
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
        message = f"`{found.name}` is keyed by pairs of ints: one int, {form}, is cheaper to guard"
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
        message = f"`{found.name}` is keyed by pairs of ints, which are dearer to guard than one int"
        return found.module.finding(self.name, found.node, message, left_alone=reason)


def imports_torch(module: Module) -> bool:
    meanings = (meaning for found in module.imports.meanings.values() for meaning in found)
    return any(meaning.partition(".")[0] == "torch" for meaning in meanings)


def looks_filled(raw: bytes, has_pairs: bool) -> bool:
    """Whether a new, empty dict gets a key with a comma; any key counts where the file makes pairs."""
    for name in {name + b"[" for empty in EMPTY.finditer(raw) if (name := bound_name(raw, empty.start()))}:
        at = raw.find(name)
        while at >= 0:
            line = raw[at + len(name) : raw.find(b"\n", at)]
            key, _, behind = line.partition(b"]")
            stored = behind.lstrip().startswith((b"=", b"+=")) and not behind.lstrip().startswith(b"==")
            if stored and (b"," in key or (has_pairs and key.isalnum())) and not raw[at - 1 : at].isalnum():
                return True
            at = raw.find(name, at + 1)
    return False


def bound_name(raw: bytes, end: int) -> bytes:
    """The name before the sign of equality at `end`."""
    named = NAME.search(raw[raw.rfind(b"\n", 0, end) + 1 : end].partition(b":")[0].rstrip())
    return named.group(1) if named else b""


def written(uses: list[Use]) -> str:
    places = [use.place for use in uses if use.kind == "key" or use.keys]
    return f"Written at {listed(places)}" if places else "It is never written either"
