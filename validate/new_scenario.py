"""A first scenario file for a function, a module or a method: it runs where the source says enough, else says where."""

from __future__ import annotations

from typing import Any

from fullgraph.validate.drafting.compose import Draft, compose
from fullgraph.validate.drafting.library import Library, Mention, Read
from fullgraph.validate.drafting.parameters import snake
from fullgraph.validate.drafting.seen import Seen
from fullgraph.validate.drafting.subject import find_subject


def new_scenario(
    target: str,
    read: Read,
    file: str,
    *,
    mention: Mention = lambda word: [],
    captured: dict[str, Any] | None = None,
) -> str:
    """The text of the file. `read` gives the bytes of a module by its dotted name, and whether it is a package.

    `mention` gives the modules of the project in which a word occurs: values that are passed there are good guesses.
    `captured` is the index of a capture of the same target, if there is one: then its shapes are taken. Raises
    ValidateError for a target that is not there or cannot be called alone.
    """
    library = Library(read, mention)
    subject = find_subject(target, library)
    return compose(Draft(subject, library, Seen(captured)), file)


def file_name(target: str) -> str:
    """`slot_encoder.py` for `seedling.policy:SlotEncoder`."""
    return "_".join(snake(part) for part in target.partition(":")[2].split(".")) + ".py"
