"""How a config reaches a constructor: what each parameter is given, found by annotations, names and the project's own
calls."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fullgraph.validate.drafting.asked import choices_in
from fullgraph.validate.drafting.callers import passed_values
from fullgraph.validate.drafting.construct import construct, fields_of, is_dataclass
from fullgraph.validate.drafting.evaluate import UNKNOWN, Scope, Thing
from fullgraph.validate.drafting.library import Definition
from fullgraph.validate.drafting.makers import Value
from fullgraph.validate.drafting.parameters import Parameter, constructor_of, unquoted
from fullgraph.validate.drafting.values import Guesser
from fullgraph.validate.harness.callers import classes_given, paths_given
from fullgraph.validate.harness.config import Config, Keys, parts_of
from fullgraph.validate.harness.kinds import as_thing, is_named_so, is_whole
from fullgraph.validate.harness.reads import reads_of
from fullgraph.validate.harness.sections import best_section, doubts, find_keys

FIELDED = {"BaseModel", "NamedTuple", "BaseSettings", "Struct"}


@dataclass
class Wired:
    """The arguments of a constructor as text, what they are worth, and what is to be said about them."""

    arguments: str = ""
    worth: dict[str, Any] = field(default_factory=dict)
    guesses: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


class Wiring:
    """Finds the parts of one config that classes are made from.

    `imports` collects what the texts need; `spell` says how they name something of a module.
    """

    def __init__(
        self, config: Config, scope: Scope, imports: set[tuple[str, str]], spell: Callable[[str, str], str]
    ) -> None:
        self.config = config
        self.scope = scope
        self.imports = imports
        self.spell = spell
        self.needs_namespace = False

    def wire(self, owner: Definition) -> Wired:
        """What to put between the parentheses of the class."""
        every = constructor_of(owner, self.scope) or []
        wanted = [one for one in every if one.kind not in ("star", "stars")]
        rest = next((one for one in every if one.kind == "stars"), None)
        if rest and not wanted and (value := self.whole(rest, owner, None)):
            return Wired(f"**{value.text}", dict(parts_of(value.worth)))
        section = best_section(self.config, [one.name for one in wanted], owner.name)
        shown = paths_given(owner, wanted, self.config, self.scope)
        kinds = classes_given(owner, wanted, self.scope)
        made, found = Wired(), dict[str, Keys]()
        texts = {}
        guesser = self.guesser_for(owner, wanted)
        for one in wanted:
            kind = self.class_of(one) or kinds.get(one.name)
            value = self.value(one, kind, owner, section, shown.get(one.name), found)
            if value is None and one.is_needed and self.config.data is UNKNOWN and is_named_so(one):
                value = Value("CONFIG")
                made.guesses.append(f"CONFIG for `{one.name}`")
            if value is None and (one.is_needed or one.name == "device"):
                value = guesser.value(one)
                self.note(one, value, made)
            if value is not None or one.is_needed:
                texts[one.name] = value.text if value else "..."
                made.worth[one.name] = value.worth if value else UNKNOWN
        unshown = {name: keys for name, keys in found.items() if name not in shown}
        made.guesses += doubts(self.config, unshown, owner.name)
        made.arguments = self.spread(section, found, texts, [one.name for one in wanted if one.kind == "positional"])
        return made

    def guesser_for(self, owner: Definition, wanted: list[Parameter]) -> Guesser:
        guesser = Guesser(self.scope, True)
        guesser.imports = self.imports
        init = self.scope.library.member(owner, "__init__")
        guesser.choices = choices_in(init.node) if init else {}
        guesser.passed = passed_values(owner, wanted, self.scope)
        return guesser

    def note(self, one: Parameter, value: Value | None, made: Wired) -> None:
        if value is None:
            made.missing.append(f"`{one.name}`" + (f": {one.written}" if one.written else ""))
        elif one.name != "device":
            made.guesses.append(f"`{one.name}`, which the config does not have")

    def spread(self, section: Keys, found: dict[str, Keys], texts: dict[str, str], unnamed: list[str]) -> str:
        """`**CONFIG["net"]` for the parameters that are together all of a section; the others by name, if they may."""
        keys = parts_of(self.config.at(section))
        is_whole = bool(keys) and all(found.get(key) == (*section, key) for key in keys)
        is_spread = is_whole and isinstance(self.config.at(section), dict) and not set(unnamed) & set(keys)
        first = list(itertools.takewhile(lambda name: name in texts, unnamed))
        named = {name: text for name, text in texts.items() if name not in unnamed and not (is_spread and name in keys)}
        return ", ".join(
            [
                *(texts[name] for name in first),
                *([f"**{self.config.access(section)}"] if is_spread else []),
                *(f"{name}={text}" for name, text in named.items()),
            ]
        )

    # One parameter

    def value(
        self,
        one: Parameter,
        kind: Definition | None,
        owner: Definition,
        section: Keys,
        shown: Keys | None,
        found: dict[str, Keys],
    ) -> Value | None:
        if kind is not None and self.scope.library.is_torch_module(kind):
            return self.module(kind) if one.is_needed else None
        made = (self.member_of(kind, one, section) or self.object(kind, shown)) if kind else None
        if made or self.class_of(one):
            return made
        if is_whole(one):
            return self.whole(one, owner, shown)
        keys = shown or find_keys(self.config, one.name, section, one.is_needed)
        if keys is None or one.name == "device":
            return None
        if parts_of(self.config.at(keys)) and one.written in ("int", "float", "str", "bool"):
            return None
        found[one.name] = keys
        return self.plain(one, keys)

    def plain(self, one: Parameter, keys: Keys) -> Value:
        text, worth = self.config.access(keys), self.config.at(keys)
        if "dtype" in one.written and isinstance(worth, str):
            return Value(f'getattr(torch, {text}.removeprefix("torch."))')
        return Value(text, worth)

    def class_of(self, one: Parameter) -> Definition | None:
        """The project's class in the annotation, `X | None` and `Optional[X]` included."""
        for node in ast.walk(one.annotation) if one.annotation else ():
            inner = unquoted(node) if isinstance(node, ast.Constant) else node
            dotted = one.module.dotted(inner) if isinstance(inner, (ast.Name, ast.Attribute)) else ""
            found = self.scope.library.find(dotted) if dotted else None
            if found and found.is_class and not found.module.name.startswith(("torch.", "typing", "collections")):
                return found
        return None

    def member_of(self, kind: Definition, one: Parameter, section: Keys) -> Value | None:
        """An Enum is made from the value in the config."""
        bases = {base.rpartition(".")[2] for base in self.scope.library.base_names(kind)}
        keys = find_keys(self.config, one.name, section, one.is_needed)
        if not bases & {"Enum", "StrEnum", "IntEnum"} or keys is None:
            return None
        return Value(f"{self.name_of(kind)}({self.config.access(keys)})", self.config.at(keys))

    def module(self, kind: Definition) -> Value | None:
        """A part of the model that has to be made first, from the same config."""
        made = self.wire(kind)
        if made.missing:
            return None
        worth = construct(kind, [], made.worth, self.scope)
        return Value(f"{self.name_of(kind)}({made.arguments})", worth, is_module=True)

    def name_of(self, kind: Definition) -> str:
        first, dot, rest = kind.name.partition(".")
        return self.spell(first, kind.module.name) + dot + rest

    # Parameters that take a config, or a section of it

    def object(self, kind: Definition, shown: Keys | None) -> Value | None:
        """An object of a config class: one that the config holds, or one made from the section that fits."""
        for keys, _ in self.config.sections():
            held = self.config.at(keys)
            if isinstance(held, Thing) and held.definition.node is kind.node:
                return Value(self.config.access(keys), held)
            for one in self.fields_of(held.definition) if isinstance(held, Thing) else []:
                if (found := self.class_of(one)) and found.node is kind.node:
                    return Value(f"{self.config.access(keys)}.{one.name}", parts_of(held).get(one.name, UNKNOWN))
        fields = self.fields_of(kind)
        names = [one.name for one in fields]
        is_shown = shown is not None and any(name in parts_of(self.config.at(shown)) for name in names)
        section = (
            shown
            if is_shown and shown is not None
            else best_section(self.config, names, kind.name.removesuffix("Config"))
        )
        parts = parts_of(self.config.at(section))
        if not any(name in parts for name in names) or any(one.is_needed and one.name not in parts for one in fields):
            return None
        text, worth = self.fill(fields, section, parts)
        return Value(f"{self.name_of(kind)}({text})", self.made(kind, worth))

    def fill(self, fields: list[Parameter], section: Keys, parts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """By name where a field is an object of its own or the section has more than fields; else the whole section."""
        inner = {one.name: self.inner(one, (*section, one.name)) for one in fields if one.name in parts}
        worth = {name: value.worth for name, value in inner.items()}
        is_plain = all(value.text == self.config.access((*section, name)) for name, value in inner.items())
        if is_plain and len(inner) == len(parts) and isinstance(self.config.at(section), dict):
            return f"**{self.config.access(section)}", worth
        return ", ".join(f"{name}={value.text}" for name, value in inner.items()), worth

    def inner(self, one: Parameter, keys: Keys) -> Value:
        kind = self.class_of(one) if parts_of(self.config.at(keys)) else None
        made = self.object(kind, keys) if kind else None
        return made or Value(self.config.access(keys), self.config.at(keys))

    def made(self, kind: Definition, worth: dict[str, Any]) -> Any:
        thing = construct(kind, [], worth, self.scope)
        if isinstance(thing, Thing) and not is_dataclass(kind):
            thing.attributes = {**thing.attributes, **worth}
        return thing

    def fields_of(self, kind: Definition) -> list[Parameter]:
        bases = {base.rpartition(".")[2] for base in self.scope.library.base_names(kind)}
        decorators = {
            re.sub(r"\(.*", "", ast.unparse(one), flags=re.S) for one in getattr(kind.node, "decorator_list", [])
        }
        if bases & FIELDED or decorators & {"define", "attrs.define", "attr.s", "frozen", "attrs.frozen"}:
            fields = fields_of(kind, self.scope)
            return [Parameter(name, unquoted(hint), default, "plain", kind.module) for name, hint, default in fields]
        return [one for one in constructor_of(kind, self.scope) or [] if one.kind not in ("star", "stars")]

    def whole(self, one: Parameter, owner: Definition, shown: Keys | None) -> Value | None:
        """A section as the constructor reads it: as it is, or with its names as attributes; not if it does both."""
        reads = reads_of(owner, one.name, self.scope)
        names = [*reads.needed, *reads.optional]
        is_shown = shown is not None and reads.needed <= set(parts_of(self.config.at(shown)))
        section = shown if is_shown and shown is not None else best_section(self.config, names, owner.name)
        held = self.config.at(section)
        if not names or not reads.needed <= set(parts_of(held)):
            return None
        text = self.config.access(section)
        if not reads.as_object or isinstance(held, Thing):
            return Value(text, held)
        if "DictConfig" in one.written:
            self.imports.add(("omegaconf", "OmegaConf"))
            return Value(f"OmegaConf.create({text})", as_thing(held, owner))
        if reads.as_mapping:
            return None
        self.needs_namespace |= reads.deep
        self.imports.add(("types", "SimpleNamespace"))
        return Value(f"namespace({text})" if reads.deep else f"SimpleNamespace(**{text})", as_thing(held, owner))
