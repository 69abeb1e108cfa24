"""Two records of a case, and what is not the same in them. No code of the user's is needed for it."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, zip_longest
from typing import Any

import torch

from ..errors import UserError
from ..process.seal import digest_file
from .closeness import Gap, Rule
from .effects import KINDS as EFFECTS
from .gradients import HIDDEN
from .leaf import Leaf
from .listening import TORCH_FOLDER, is_compilers, mask_progress
from .objects import digest_text
from .trees import CODE, EAGER_ONLY, Found, Growth, find_differences, is_below, promote, relabel, shorten_pair

RESULTS = ("output", "args", "state", "grads", "modes")
TREES = (*RESULTS, "surroundings")
SAID = ("warnings", "stdout", "stderr", "stderr_masked", "logs")
DONE = ("files", "processes", "connections", "environment", "settings")
HUSHED = ("warnings", "stdout", "logs", "files", "processes")
CHANNELS = {
    "eager": (
        *("inputs", "exception", *TREES, "aliases", "written", "backward", "slopes"),
        *(*SAID, "muted", "rng", *DONE, "threads"),
    ),
    "compiled": ("exception", *TREES, "aliases", "backward", *SAID, *DONE, "touched"),
    "before": ("exception", *RESULTS, "backward"),
    "after": ("exception", *RESULTS, "backward"),
    "hushed": (),
}
"""What counts between two records, what tells most first.

torch.compile draws random numbers, starts threads and warns while it traces: nobody is held to that. What the two
compiled sides say and do, they do on every call, as it ends the graph; what either torch does once, while it traces, it
does on both sides. Surroundings are not built anew for compiled code, so they are held against those of the other side
only, and only where both began the stage with the same ones: how often the stages before have run the code depends on
its graphs. `hushed` is asked where the version before does not compile: what the version after says or does plainly,
and in no case compiled. `contents` of files are asked for by themselves, of runs in which no other process wrote them.

Between compiled runs, an output is in the memory of an argument or of the state on both sides or on neither: torch
keeps to that. Which outputs share memory with each other, their strides and whether a version counter was raised is
left to the compiler, and compared between plain runs only.
"""

PLAIN = ("None", "bool", "int", "float", "str")
GROWING = ("inputs", "args", "state", "surroundings")
"""Where objects of the second may have attributes more."""

NOTHING = "nothing"
TORCHS_OWN = ("TORCH", "TRITON", "KINETO", "sys.getrecursionlimit()", "torch.")


def compare_files(first: str, second: str, digests: Any = ("", ""), **same: Any) -> dict[str, Any]:
    """Compare two files of records, case by case; takes what `compare` takes."""
    ours, theirs = (load(path, digest) for path, digest in zip((first, second), digests))
    pairs = [Comparison(one, other, **same) for one, other in zip(ours, theirs)]
    differences = [difference for pair in pairs for difference in pair.differences()]
    if len(ours) != len(theirs):
        number = Found("cases", "length", str(len(ours)), str(len(theirs)))
        differences.append({"between": same["between"], "case": "all", **number._asdict()})
    if same["between"] == "hushed":
        differences += find_hushed(pairs)
    worst = max(pairs, key=lambda pair: pair.largest, default=None)
    seen = dict.fromkeys(text for pair in pairs for text in pair.seen)
    uncompared = [place for pair in pairs for place in pair.uncompared]
    told = {"differences": differences, "declared_seen": list(seen), "uncompared": uncompared}
    return {**told, "largest": worst.where if worst else ""}


def load(path: str, digest: str = "") -> list[dict[str, Any]]:
    """The records, if they are those that the worker has told of."""
    if digest and digest_file(path) != digest:
        raise UserError(f"{os.path.basename(path)} is not what the worker has stored: something has written over it")
    records: list[dict[str, Any]] = torch.load(path, weights_only=True, map_location="cpu", mmap=True)
    return records


def compare(first: dict[str, Any], second: dict[str, Any], **same: Any) -> dict[str, Any]:
    """The first difference in each channel, the declared changes that were seen, and the largest error of all.

    Takes what `Comparison` takes.
    """
    pair = Comparison(first, second, **same)
    told = {"differences": pair.differences(), "declared_seen": pair.seen, "uncompared": pair.uncompared}
    return {**told, "largest": pair.where}


class Comparison:
    """Two records of one case.

    `declared`: kind, pattern and reason of changes on purpose. Of kind `warning`, the pattern is one of texts that only
    the second may give; of kind `lost warning`, of those that only the first may; of kind `keys`, of paths of dicts
    whose keys may be others while their values stay the same in order; of kind `exception`, of two exceptions of
    compiled code in one line, `ValueError: text > RuntimeError: text`; of a kind named as a channel (`state`), of
    paths that may differ in any way.
    """

    def __init__(
        self,
        first: dict[str, Any],
        second: dict[str, Any],
        *,
        between: str,
        exact: bool,
        rtol: float | None = None,
        atol: float | None = None,
        signed_zero: bool = False,
        declared: Sequence[Sequence[str]] = (),
        channels: Sequence[str] = (),
    ) -> None:
        self.first, self.second = first, second
        self.between = between
        self.rule = Rule(exact, rtol, atol, signed_zero)
        self.declared = declared
        self.channels = channels or CHANNELS[between]
        self.seen: list[str] = []
        self.one_sided: set[str] = set()
        self.uncompared: list[list[str]] = []
        """Case, path and kind of what cannot be compared, as its code is another one."""

        self.largest, self.where = -1.0, ""

    def differences(self) -> list[dict[str, str]]:
        """As the fields of `fullgraph.validate.model.Difference`."""
        if self.first["case"] != self.second["case"]:
            return [self.tell(Found("case", "name", self.first["case"], self.second["case"]))]
        found = [one for channel in self.channels if self.counts(channel) for one in self.first_of(channel)]
        return [self.tell(difference) for difference in found]

    def first_of(self, channel: str) -> list[Found]:
        """What comes first in a channel tells enough. Surroundings have nothing to do with each other: each counts."""
        found = self.compare_channel(channel)
        return list(islice(found, None if channel == "surroundings" else 1))

    def counts(self, channel: str) -> bool:
        """Compiled code that raises leaves behind whatever its graphs had done by then."""
        if channel == "slopes":
            return self.first.get(channel) is not None and self.second.get(channel) is not None
        if self.between == "eager" or channel not in (*TREES, "aliases", "backward"):
            return True
        raised = self.first["exception"] or self.second["exception"]
        return not raised and not (channel in ("grads", "backward") and self.is_spent())

    def is_spent(self) -> bool:
        """Whether either side left no gradients to ask for: its own code ran backward, say."""
        return any(kind == "backward" for side in (self.first, self.second) for _, kind, _ in side["grads"])

    def compare_channel(self, channel: str) -> Iterator[Found]:
        if channel in ("exception", "backward"):
            return self.compare_errors(channel)
        if channel == "warnings":
            return self.compare_warnings()
        if channel in ("stdout", "stderr", "stderr_masked"):
            return self.compare_text(channel)
        if channel == "logs":
            return compare_lines("logs", *(self.pick_logs(side["logs"]) for side in (self.first, self.second)))
        if channel == "touched":
            return self.compare_touched()
        if channel in (*EFFECTS, "muted"):
            return self.compare_effects(channel)
        return self.compare_trees(channel)

    # Values

    def compare_trees(self, channel: str) -> Iterator[Found]:
        first, second = (self.pick(channel, side) for side in (self.first, self.second))
        if channel == "grads":
            first, second = self.keep_common(first), self.keep_common(second)
        if channel == "grads" and self.between != "eager":
            first, second = settle_gradients(first, second)
        if any(kind == "keys" for kind, *_ in self.declared):
            first, second = (relabel(leaves, self.has_free_keys) for leaves in (first, second))
        pairs = self.pair_surroundings(first, second) if channel == "surroundings" else iter([(first, second)])
        grown = Growth(set(), set())
        for ours, theirs in pairs:
            found = self.find(channel, ours, theirs, grown if channel in GROWING else None)
            yield from islice(found, None if channel != "surroundings" else 1)
        self.one_sided |= grown.added | grown.lost
        self.seen += [f"new attribute: {path}" for path in sorted(grown.added) if channel != "inputs"]

    def find(self, channel: str, first: list[Leaf], second: list[Leaf], grown: Growth | None) -> Iterator[Found]:
        for found in find_differences(first, second, self.rule, self.note_gap, grown):
            if found.what in CODE:
                self.uncompared.append([self.first["case"], found.path, "function whose code was changed"])
            elif not self.is_declared(channel, found.path):
                yield found

    def pick(self, channel: str, side: dict[str, Any]) -> list[Leaf]:
        """What counts of a channel. The code of functions that are held is what the cases run; of those that are
        returned, it is what they are. Tests have no arguments and no aliases."""
        leaves: list[Leaf] = side.get(channel, [])
        if channel in ("aliases", "written"):
            return self.pick_sharing(leaves)
        left_out = EAGER_ONLY if self.between != "eager" else ()
        if channel != "output":
            left_out = (*left_out, "code")
        return [leaf for leaf in leaves if leaf[1] not in left_out]

    def pick_sharing(self, leaves: list[Leaf]) -> list[Leaf]:
        """Without what only one side has; who shares memory with it shares it with the next one."""
        strange = self.one_sided | self.find_strange()
        homes: dict[str, str] = {}
        kept: list[Leaf] = []
        for path, kind, home in leaves:
            if kind == "memory" and self.between != "eager" and (home.startswith("output") or path[:6] != "output"):
                continue
            if is_in(path, strange):
                continue
            if kind == "memory" and path[:6] != "output" and is_in(home, strange):
                home = homes.setdefault(home, path)
            if home != path:
                kept.append((path, kind, home))
        return kept

    def find_strange(self) -> set[str]:
        """Surroundings that only one side has."""
        ours, theirs = ({root_of(leaf[0]) for leaf in side["surroundings"]} for side in (self.first, self.second))
        return ours ^ theirs

    def keep_common(self, leaves: list[Leaf]) -> list[Leaf]:
        """Without what only one side has, and then without parameters that have no name."""
        strange = self.one_sided | self.find_strange()
        if not strange:
            return leaves
        return [leaf for leaf in leaves if not is_in(leaf[0], strange) and not leaf[0].startswith(HIDDEN)]

    def pair_surroundings(self, first: list[Leaf], second: list[Leaf]) -> Iterator[tuple[list[Leaf], list[Leaf]]]:
        """Name by name. Those that only the second has are its own, unless a call makes them; the first may do without
        what it has imported and without constants."""
        strange = self.find_strange()
        ours, theirs = (
            split(promote(leaves, lambda path: root_of(path) in strange) if strange else leaves)
            for leaves in (first, second)
        )
        whole = split(first)
        for root in whole:
            if self.begins_alike(root) and root in ours:
                yield without_home(ours[root]), without_home(theirs[root])
            elif root in strange and not is_imported(root, whole) and not self.is_constant(root, whole[root]):
                yield whole[root], []
        if self.between == "eager":
            added = {root: leaves for root, leaves in split(second).items() if root in strange and root not in whole}
            yield from (([], leaves) for root, leaves in added.items() if self.is_left_behind(root))

    def is_left_behind(self, root: str) -> bool:
        """Whether a call has made a name that the module did not have, and not as its own private one."""
        return root not in self.second.get("start", {root}) and not root.rpartition(".")[2].startswith("_")

    def is_constant(self, root: str, leaves: list[Leaf]) -> bool:
        """Whether a name holds a plain value that no case has changed, so that nothing is lost with it."""
        start = self.first.get("start", {}).get(root)
        return len(leaves) == 1 and leaves[0][1] in PLAIN and start == digest_text(leaves)

    def begins_alike(self, root: str) -> bool:
        start, other = (side.get("start", {}).get(root) for side in (self.first, self.second))
        return self.between != "compiled" or start == other

    def has_free_keys(self, path: str) -> bool:
        return self.is_declared("keys", path)

    def note_gap(self, path: str, gap: Gap) -> None:
        if gap.absolute > self.largest:
            self.largest, self.where = gap.absolute, f"{self.first['case']}: {path}: {gap.tell()}"

    def is_declared(self, kind: str, text: str) -> bool:
        for declared, pattern, why in self.declared:
            if declared == kind and re.fullmatch(pattern, text, re.DOTALL):
                told = f"{kind}: {text}" + (f" ({why})" if why else "")
                self.seen += [told] if told not in self.seen else []
                return True
        return False

    # What is said

    def compare_errors(self, channel: str) -> Iterator[Found]:
        """Eager: type and text. Compiled: the type, but for declared ones. Compiled against eager: whether one is."""
        ours, theirs = self.first[channel], self.second[channel]
        known = {"eager": 2, "compiled": 1}.get(self.between, 0)
        if bool(ours) != bool(theirs) or (ours and theirs and ours[:known] != theirs[:known]):
            pair = f"{tell_error(ours)} > {tell_error(theirs)}"
            if self.between == "compiled" and ours and theirs and self.is_declared("exception", pair):
                return
            yield Found(channel, "exception", *shorten_pair(tell_error(ours), tell_error(theirs)))
        elif ours and theirs and self.between == "eager" and channel == "exception" and ours[3:] != theirs[3:]:
            yield Found(
                channel, "exception", *shorten_pair(*("; ".join((tell_error(one), *one[3:])) for one in (ours, theirs)))
            )

    def compare_warnings(self) -> Iterator[Found]:
        """In order. The second may give declared ones that the first does not, and leave out those declared as lost."""
        ours, theirs = (self.pick_warnings(side["warnings"]) for side in (self.first, self.second))
        there = 0
        for place, line in enumerate(ours):
            while there < len(theirs) and theirs[there] != line and self.is_declared("warning", theirs[there][1]):
                there += 1
            if there == len(theirs) or theirs[there] != line:
                if self.is_declared("lost warning", line[1]):
                    continue
                other = ": ".join(theirs[there]) if there < len(theirs) else NOTHING
                yield Found(f"warnings[{place}]", "warning", *shorten_pair(": ".join(line), other))
                return
            there += 1
        for line in theirs[there:]:
            if not self.is_declared("warning", line[1]):
                yield Found(f"warnings[{len(ours)}]", "warning", NOTHING, ": ".join(line))

    def pick_warnings(self, warned: list[list[str]]) -> list[list[str]]:
        """Category, text and, of plain runs, the file. What torch's own files warn of while compiling is about that."""
        if self.between == "eager":
            return warned
        return [line[:2] for line in warned if not line[2].startswith(TORCH_FOLDER)]

    def lines_of(self, channel: str, side: dict[str, Any]) -> list[str]:
        """What a side says or does in a channel, line by line."""
        if channel == "warnings":
            return [": ".join(line) for line in self.pick_warnings(side["warnings"])]
        if channel == "logs":
            return self.pick_logs(side["logs"])
        return list(side[channel].splitlines() if channel == "stdout" else side[channel])

    def pick_logs(self, logged: list[list[str]]) -> list[str]:
        """What the compiler logs when it runs is not the user's."""
        return [": ".join(line) for line in logged if self.between == "eager" or not is_compilers(line[0])]

    def compare_text(self, channel: str) -> Iterator[Found]:
        """`stderr_masked`: without times and rates, so that a stream that is never twice the same still counts."""
        name = channel.partition("_")[0]
        texts = self.first[name], self.second[name]
        ours, theirs = texts if name == channel else map(mask_progress, texts)
        return compare_lines(channel, ours.splitlines(keepends=True), theirs.splitlines(keepends=True))

    def compare_touched(self) -> Iterator[Found]:
        """Variables of modules that compiled code of the first changes, and that of the second never does."""
        ours, theirs = ({*side.get("touched", ())} for side in (self.first, self.second))
        for path in sorted(ours - theirs - self.find_strange()):
            yield Found(path, "effect", "changed by compiled code", NOTHING)

    def compare_effects(self, kind: str) -> Iterator[Found]:
        """What only one side did, whatever the order."""
        ours, theirs = (self.pick_effects(kind, side.get(kind, [])) for side in (self.first, self.second))
        lost, new = sorted((ours - theirs).elements()), sorted((theirs - ours).elements())
        for line, other in zip_longest(lost, new, fillvalue=NOTHING):
            yield Found(kind, "effect", *shorten_pair(line, other))

    def pick_effects(self, kind: str, lines: list[str]) -> Counter[str]:
        """torch sets variables and limits of its own when it compiles, and not if it has the code already."""
        is_free = self.between != "eager" and kind in ("environment", "settings")
        return Counter(line for line in lines if not (is_free and line.startswith(TORCHS_OWN)))

    def tell(self, found: Found) -> dict[str, str]:
        return {"between": self.between, "case": self.first["case"], **found._asdict()}


def find_hushed(pairs: Sequence[Comparison]) -> Iterator[dict[str, str]]:
    """What torch does once, while it traces, is there in one case at least."""
    for channel in HUSHED:
        plain = [(pair, line) for pair in pairs for line in pair.lines_of(channel, pair.first)]
        if plain and not any(pair.lines_of(channel, pair.second) for pair in pairs):
            pair, line = plain[0]
            if not pair.is_declared(channel, line):
                yield {**pair.tell(Found(channel, "effect", line, NOTHING)), "between": "after"}


def settle_gradients(first: list[Leaf], second: list[Leaf]) -> tuple[list[Leaf], list[Leaf]]:
    """For compiled code: no gradient at all is the same as zero, and parameters are known by name only."""
    quiet = find_quiet(first) & find_quiet(second)
    first, second = ([leaf for leaf in leaves if not leaf[0].startswith(HIDDEN)] for leaves in (first, second))
    return [leaf for leaf in first if leaf[0] not in quiet], [leaf for leaf in second if leaf[0] not in quiet]


def root_of(path: str) -> str:
    """`surroundings['model']` of anything below it."""
    return path.partition("]")[0] + "]" if path.startswith("surroundings") else ""


def split(leaves: Sequence[Leaf]) -> dict[str, list[Leaf]]:
    """The leaves of each name."""
    return {root: list(inside) for root, inside in groupby(leaves, key=lambda leaf: root_of(leaf[0]))}


def without_home(leaves: list[Leaf]) -> list[Leaf]:
    """A function is the same wherever it is defined; what it does is compared when it runs."""
    return [(path, kind, fact.rpartition(".")[2] if kind == "function" else fact) for path, kind, fact in leaves]


def is_imported(root: str, leaves: dict[str, list[Leaf]]) -> bool:
    """Whether a name of a module is that of something defined elsewhere, so that nothing goes with it."""
    name = root[len("surroundings['") : -len("']")]
    _, kind, fact = leaves[root][0]
    if kind in ("function", "class", "same as"):
        return bool(fact != name)
    if kind == "type" and str(fact).startswith("typing."):
        return True
    own = [(path[len(root) :], kind, repr(fact)) for path, kind, fact in leaves[root]]
    twins = (one for one in leaves if one != root and one.rpartition(".")[2] == root.rpartition(".")[2])
    return any(own == [(path[len(one) :], kind, repr(fact)) for path, kind, fact in leaves[one]] for one in twins)


def is_in(path: str, places: set[str]) -> bool:
    return any(is_below(path, place) for place in places if place)


def find_quiet(leaves: list[Leaf]) -> set[str]:
    """Where no gradient arrived, or only zeros."""
    return {path for path, kind, fact in leaves if kind == "None" or (kind == "value" and not fact.any())}


def tell_error(error: list[str] | None) -> str:
    return f"{error[0]}: {error[1]}" if error else "none"


def compare_lines(path: str, ours: Sequence[Any], theirs: Sequence[Any]) -> Iterator[Found]:
    for place, (line, other) in enumerate(zip_longest(ours, theirs)):
        if line != other:
            told = [NOTHING if one is None else repr(one) for one in (line, other)]
            yield Found(f"{path}[{place}]", "text", *shorten_pair(*told))
