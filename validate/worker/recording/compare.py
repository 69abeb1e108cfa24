"""Two records of a case, and what is not the same in them. No code of the user's is needed for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import torch

from .closeness import Gap, Rule
from .gradients import HIDDEN
from .leaf import Leaf
from .listening import TORCH_FOLDER
from .trees import Found, find_differences, relabel, shorten_pair

RESULTS = ("output", "args", "state", "grads", "modes")
TREES = (*RESULTS, "surroundings")
CHANNELS = {
    "eager": ("inputs", "exception", *TREES, "aliases", "backward", "warnings", "stdout", "logs", "rng"),
    "compiled": ("exception", *TREES, "backward", "warnings", "stdout"),
    "before": ("exception", *RESULTS, "backward"),
    "after": ("exception", *RESULTS, "backward"),
}
"""What counts between two records, what tells most first.

torch.compile draws random numbers of its own and warns while it traces: nobody is held to that. What the two compiled
sides print, they print on every call, as a print ends the graph. Surroundings are not built anew for compiled code, so
they are held against those of the other side only.
"""

NOTHING = "nothing"


def compare_files(first: str, second: str, **same: Any) -> dict[str, Any]:
    """Compare two files of records, case by case; takes what `compare` takes."""
    ours, theirs = load(first), load(second)
    pairs = [Comparison(one, other, **same) for one, other in zip(ours, theirs)]
    differences = [difference for pair in pairs for difference in pair.differences()]
    if len(ours) != len(theirs):
        told = Found("cases", "length", str(len(ours)), str(len(theirs)))
        differences.append({"between": same["between"], "case": "all", **told._asdict()})
    worst = max(pairs, key=lambda pair: pair.largest, default=None)
    seen = dict.fromkeys(text for pair in pairs for text in pair.seen)
    return {"differences": differences, "declared_seen": list(seen), "largest": worst.where if worst else ""}


def load(path: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = torch.load(path, weights_only=True, map_location="cpu", mmap=True)
    return records


def compare(first: dict[str, Any], second: dict[str, Any], **same: Any) -> dict[str, Any]:
    """The first difference in each channel, the declared changes that were seen, and the largest error of all.

    Takes what `Comparison` takes.
    """
    pair = Comparison(first, second, **same)
    return {"differences": pair.differences(), "declared_seen": pair.seen, "largest": pair.where}


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
        self.largest, self.where = -1.0, ""

    def differences(self) -> list[dict[str, str]]:
        """As the fields of `validate.model.Difference`."""
        if self.first["case"] != self.second["case"]:
            return [self.tell(Found("case", "name", self.first["case"], self.second["case"]))]
        found = [next(self.compare_channel(channel), None) for channel in self.channels if self.counts(channel)]
        return [self.tell(difference) for difference in found if difference]

    def counts(self, channel: str) -> bool:
        """Compiled code that raises leaves behind whatever its graphs had done by then."""
        if self.between == "eager" or channel not in (*TREES, "backward"):
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
        if channel == "stdout":
            return self.compare_stdout()
        if channel == "logs":
            return compare_lines(
                "logs", *([": ".join(line) for line in side["logs"]] for side in (self.first, self.second))
            )
        return self.compare_trees(channel)

    # Values

    def compare_trees(self, channel: str) -> Iterator[Found]:
        first, second = self.first[channel], self.second[channel]
        if channel in ("surroundings", "grads"):
            first, second = self.keep_common(first), self.keep_common(second)
        if channel == "grads" and self.between != "eager":
            first, second = settle_gradients(first, second)
        if any(kind == "keys" for kind, *_ in self.declared):
            first, second = (relabel(leaves, self.has_free_keys) for leaves in (first, second))
        added: set[str] | None = set() if channel in ("inputs", "args", "state", "surroundings") else None
        for found in find_differences(first, second, self.rule, self.note_gap, added):
            if not self.is_declared(channel, found.path):
                yield found
        self.seen += [f"new attribute: {path}" for path in sorted(added or ()) if channel != "inputs"]

    def keep_common(self, leaves: list[Leaf]) -> list[Leaf]:
        """Without the surroundings that only one side uses, and then without parameters that have no name."""
        ours, theirs = ({root_of(leaf[0]) for leaf in side["surroundings"]} for side in (self.first, self.second))
        strange = ours ^ theirs
        if not strange:
            return leaves
        return [leaf for leaf in leaves if root_of(leaf[0]) not in strange and not leaf[0].startswith(HIDDEN)]

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
        """Category and text. What torch's own files warn of while compiling is about compiling."""
        return [line[:2] for line in warned if self.between == "eager" or not line[2].startswith(TORCH_FOLDER)]

    def compare_stdout(self) -> Iterator[Found]:
        ours, theirs = self.first["stdout"], self.second["stdout"]
        return compare_lines("stdout", ours.splitlines(keepends=True), theirs.splitlines(keepends=True))

    def tell(self, found: Found) -> dict[str, str]:
        return {"between": self.between, "case": self.first["case"], **found._asdict()}


def settle_gradients(first: list[Leaf], second: list[Leaf]) -> tuple[list[Leaf], list[Leaf]]:
    """For compiled code: no gradient at all is the same as zero, and parameters are known by name only."""
    quiet = find_quiet(first) & find_quiet(second)
    first, second = ([leaf for leaf in leaves if not leaf[0].startswith(HIDDEN)] for leaves in (first, second))
    return [leaf for leaf in first if leaf[0] not in quiet], [leaf for leaf in second if leaf[0] not in quiet]


def root_of(path: str) -> str:
    """`surroundings['model']` of anything below it."""
    return path.partition("]")[0] if path.startswith("surroundings") else ""


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
