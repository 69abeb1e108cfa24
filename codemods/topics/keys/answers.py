"""What is known of a dict's keys, and how several answers become one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fullgraph.codemods.syntax.places import Definition
from fullgraph.codemods.topics.keys.constants import Constant


@dataclass(frozen=True)
class Keys:
    """The keys that a dict was built with, at `built`, from a constant if one was used.

    `doubt` says what could have changed them since. `caveat` says what had to be taken on trust.
    """

    names: tuple[str, ...]
    built: str
    constant: Constant | None = None
    doubt: str = ""
    caveat: str = ""

    def doubted(self, doubt: str) -> Keys:
        return replace(self, doubt=self.doubt or doubt)


def agreed(parts: Iterable[tuple[Definition, Keys | None]]) -> Keys | None:
    """The keys on which several builders agree; where one does not, what the first gives, in doubt."""
    answers = list(parts)
    known = [keys for _, keys in answers if keys]
    if not known:
        return None
    first = known[0]
    if any(keys.constant != first.constant for keys in known):
        first = replace(first, constant=None)
    for place, keys in answers:
        if keys is None or keys.names != first.names:
            return first.doubted(f"the dict at {place} may hold other keys")
    doubt = next((keys.doubt for keys in known if keys.doubt), "")
    caveat = next((keys.caveat for keys in known if keys.caveat), "")
    return replace(first, doubt=doubt, caveat=caveat)
