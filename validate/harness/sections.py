"""Where in a config the values for a class stand."""

from __future__ import annotations

from fullgraph.validate.drafting.parameters import snake
from fullgraph.validate.harness.config import Config, Keys

MODELS = {"model", "net", "network", "arch", "architecture", "module", "model_config", "model_args"}


def best_section(config: Config, names: list[str], class_name: str) -> Keys:
    """The section that is named like the class, if it has any of the names; else the one with most of them.

    Of several with as many, one that is named like a model, then the outer one.
    """
    words = words_of(class_name)
    best: tuple[tuple[bool, int, bool, int], Keys] = ((False, 0, False, 0), ())
    for keys, parts in config.sections():
        last = keys[-1].lower() if keys else ""
        hits = sum(name in parts for name in names)
        if hits:
            score = (last in words, hits, last in MODELS, -len(keys))
            best = max(best, (score, keys), key=lambda one: one[0])
    return best[1]


def find_keys(config: Config, name: str, section: Keys, is_needed: bool) -> Keys | None:
    """In the section, or further out; for what is needed also anywhere, if there is no doubt."""
    for length in range(len(section), -1, -1):
        if config.has((*section[:length], name)):
            return (*section[:length], name)
    places = [(*keys, name) for keys, parts in config.sections() if name in parts] if is_needed else []
    return places[0] if len({repr(config.at(keys)) for keys in places}) == 1 else None


def doubts(config: Config, found: dict[str, Keys], class_name: str) -> list[str]:
    """What has another value elsewhere in the config, unless its section is named like the class."""
    words = words_of(class_name)
    return [
        f"{config.access(keys)} for `{name}`"
        for name, keys in found.items()
        if not {key.lower() for key in keys[:-1]} & words
        and any(name in parts and parts[name] != config.at(keys) for _, parts in config.sections())
    ]


def words_of(class_name: str) -> set[str]:
    """What a section for a class may be called: `demand` and `demand_net` for DemandNet."""
    return {snake(class_name), *snake(class_name).split("_")} - MODELS - {"layer", "block", "head"}
