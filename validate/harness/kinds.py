"""Parameters that take a config, or a section of it, as it is."""

from __future__ import annotations

import ast
import re
from typing import Any

from fullgraph.validate.drafting.evaluate import Thing
from fullgraph.validate.drafting.library import Definition
from fullgraph.validate.drafting.parameters import Parameter

WHOLE = {
    "config",
    "cfg",
    "conf",
    "args",
    "hparams",
    "hps",
    "opts",
    "opt",
    "options",
    "settings",
    "params",
    "configuration",
}
MAPPINGS = {"dict", "Dict", "Mapping", "MutableMapping", "DictConfig", "Namespace", "SimpleNamespace", "Any", "object"}


def is_whole(one: Parameter) -> bool:
    """By its name and nothing that speaks against it, or by its annotation."""
    kinds = set(re.findall(r"\w+", one.written))
    fits = not kinds or bool(kinds & MAPPINGS)
    return (is_named_so(one) and fits) or bool(kinds & (MAPPINGS - {"Any", "object"}))


def is_named_so(one: Parameter) -> bool:
    return one.name in WHOLE or one.name.endswith(("_config", "_cfg", "_args"))


def as_thing(value: Any, owner: Definition) -> Any:
    """A mapping, and the mappings in it, as objects with attributes."""
    if not isinstance(value, dict):
        return value
    empty = Definition(owner.module, "namespace", ast.Pass())
    return Thing(empty, {key: as_thing(part, owner) for key, part in value.items() if isinstance(key, str)})
