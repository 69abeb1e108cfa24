"""The user's config: what stands in it, and the lines that read it in the script."""

from __future__ import annotations

import ast
import json
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any

from fullgraph.validate.drafting.evaluate import Scope, Thing, evaluate, known
from fullgraph.validate.drafting.library import Definition, Functions, Library
from fullgraph.validate.drafting.makers import quoted
from fullgraph.validate.drafting.parameters import constructor_of
from fullgraph.validate.drafting.values import Guesser
from fullgraph.validate.model import ValidateError

PATIENCE = 60
LARGEST = 1 << 26
USUAL = ("CONFIG", "config", "cfg", "Config", "get_config")
READ_YAML = (
    "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1], encoding='utf-8')), default=str))"
)
FORMATS = {
    ".json": ("json", "json.loads({file}.read_text(encoding='utf-8'))"),
    ".toml": ("tomllib", "tomllib.loads({file}.read_text(encoding='utf-8'))"),
    ".yaml": ("yaml", "yaml.safe_load({file}.read_text(encoding='utf-8'))"),
    ".yml": ("yaml", "yaml.safe_load({file}.read_text(encoding='utf-8'))"),
}
Keys = tuple[str, ...]


@dataclass(frozen=True)
class Config:
    """`data` is what is known of it; `text` makes it, once `imports` (module and name, as in a draft) are there."""

    data: Any
    text: str
    imports: tuple[tuple[str, str], ...] = ()
    guesses: str = ""
    """What in it was not found anywhere."""

    def at(self, keys: Keys) -> Any:
        value = self.data
        for key in keys:
            value = parts_of(value)[key]
        return value

    def access(self, keys: Keys) -> str:
        """The expression for what stands under the keys."""
        text, value = "CONFIG", self.data
        for key in keys:
            text += f".{key}" if isinstance(value, Thing) else f"[{quoted(key)}]"
            value = parts_of(value)[key]
        return text

    def has(self, keys: Keys) -> bool:
        value = self.data
        for key in keys:
            if key not in parts_of(value):
                return False
            value = parts_of(value)[key]
        return True

    def sections(self) -> Iterator[tuple[Keys, dict[str, Any]]]:
        """Everything that has named parts, the outer ones first."""
        todo: list[tuple[Keys, Any]] = [((), self.data)]
        for keys, value in todo:
            parts = parts_of(value)
            if parts or not keys:
                yield keys, parts
            todo += [((*keys, key), part) for key, part in parts.items() if len(keys) < 6]


def parts_of(value: Any) -> dict[str, Any]:
    """What a mapping or an object holds by name."""
    if isinstance(value, Thing):
        return value.attributes
    return {key: part for key, part in value.items() if isinstance(key, str)} if isinstance(value, dict) else {}


def read_file(file: Path, path_text: str, python: str) -> Config:
    """A config of JSON, TOML or YAML; YAML is read by the user's python, which the script needs it in too."""
    name, text = FORMATS[file.suffix.lower()]
    try:
        if not S_ISREG((status := file.stat()).st_mode) or status.st_size > LARGEST:
            raise ValidateError(f"{file}: not a plain file of at most {LARGEST >> 20} MiB")
        raw = read_yaml(file, python) if name == "yaml" else file.read_text(encoding="utf-8")
        data = tomllib.loads(raw) if name == "tomllib" else json.loads(raw)
    except OSError as error:
        raise ValidateError(f"{file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ValidateError(f"{file} is no {file.suffix[1:].upper()}: {error}") from error
    if not isinstance(data, dict):
        raise ValidateError(f"{file}: a config is a mapping of names to values, this is a {type(data).__name__}")
    reader = toml_module(python) if name == "tomllib" else name
    text = text.format(file=f"({path_text})").replace("'", '"').replace("tomllib", reader)
    return Config(data, text, ((reader, ""),))


def toml_module(python: str) -> str:
    """Python 3.11 brings one along; older ones have it as a package of another name."""
    try:
        done = subprocess.run([python, "-c", "import tomllib"], capture_output=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.SubprocessError):
        return "tomllib"
    return "tomli" if done.returncode else "tomllib"


def read_yaml(file: Path, python: str) -> str:
    try:
        done = subprocess.run(
            [python, "-c", READ_YAML, str(file)], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ValidateError(f"{file} cannot be read by {python}: {error}") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        way_out = "; install pyyaml there, or write the config as JSON" if "No module named" in last else ""
        raise ValidateError(f"{file} cannot be read by {python}: {last}{way_out}")
    return done.stdout


def read_object(module: str, name: str, library: Library) -> Config:
    """A config that is a value, a class or a function of a Python module; without a name, the usual one of these."""
    home = library.module(module)
    if home is None:
        raise ValidateError(f"the module {module!r} of the config cannot be read")
    chosen = name or next((one for one in USUAL if one in home.names), "")
    found = library.find_in(home, [chosen]) if chosen else None
    if found is None and name:
        raise ValidateError(f"there is no {name!r} in module {module!r}")
    if found is None:
        return read_constants(module, library)
    if found.is_class:
        return make_config(found, module, chosen, Scope(library, home))
    data, call = value_of(found, Scope(library, home))
    return Config(data, f"{chosen}{call}", ((module, chosen),))


def make_config(found: Definition, module: str, name: str, scope: Scope) -> Config:
    """An object of a config class: required fields as the project itself fills them, or guessed."""
    guesser = Guesser(scope, True)
    guesser.has_device = False
    made = guesser.object_of(found, "")
    if made is None:
        needed = [one.name for one in constructor_of(found, scope) or [] if one.is_needed]
        raise ValidateError(
            f"{module}:{name} needs {', '.join(needed) or 'what cannot be read'}, and not all of it can be guessed; "
            f"name an object or a function without parameters that makes one: module:NAME"
        )
    text = made.text.replace(found.name, name, 1)
    return Config(
        made.worth, text, ((module, name), *(one for one in guesser.imports if one[1] != found.name)), made.guess
    )


def value_of(found: Definition, scope: Scope) -> tuple[Any, str]:
    """What the config is worth, and what has to stand behind its name to get it."""
    if isinstance(found.node, Functions):
        return evaluate(ast.Call(ast.Name(found.name), [], []), scope), "()"
    return evaluate(found.node, scope.inside(found.module, {})), ""


def read_constants(module: str, library: Library) -> Config:
    """A module whose own plain values are the config."""
    home = library.module(module)
    assert home is not None
    values = {name: evaluate(node, Scope(library, home)) for name, node in home.names.items() if name[:1] != "_"}
    data = {name: value for name, value in values.items() if known(value) and not isinstance(value, Definition)}
    if not data:
        raise ValidateError(f"the module {module!r} has no plain values and nothing called {' or '.join(USUAL)}")
    return Config(Thing(Definition(home, module, home.tree), data), module, ((module, ""),))
