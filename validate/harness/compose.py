"""The texts of the script and of its tests, from what was found out."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from string import Template

from fullgraph.validate.drafting.layout import lay_out
from fullgraph.validate.harness.config import Config
from fullgraph.validate.harness.draft import HarnessDraft
from fullgraph.validate.harness.imports import ALWAYS, import_lines, import_text, is_foreign, template

NAMESPACE = '''def namespace(value: Any) -> Any:
    """A mapping, and the mappings in it, with attributes for keys."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: namespace(part) for key, part in value.items()})
    return value'''


@dataclass(frozen=True)
class Request:
    """How the project compiles it: the arguments of torch.compile as text, what they need, and what to say of it."""

    options: dict[str, str] = field(default_factory=dict)
    imports: tuple[tuple[str, str], ...] = ()
    comment: str = ""


@dataclass(frozen=True)
class Place:
    """Where the two files go, as paths from the project's root, and the folders that its modules are imported from."""

    script: str
    test: str
    folders: tuple[str, ...]
    root: str = ""
    """The absolute root, for files that stand outside of it."""


def compose(draft: HarnessDraft, request: Request, place: Place, device: str) -> str:
    """The script."""
    build, inputs = draft.build(), draft.inputs()
    batches = draft.batches(inputs)
    kind = "torch.nn.Module" if draft.subject.owner and not draft.subject.method else "Callable[..., Any]"
    helper = f"\n\n\n{NAMESPACE}" if draft.wiring and draft.wiring.needs_namespace else ""
    signature = "def inputs(batch: int, device: torch.device, seed: int) -> tuple[tuple[Any, ...], dict[str, Any]]:"
    is_read = draft.config and "CONFIG" in "".join([*build.lines, *request.options.values()])
    imports = {*draft.imports, *request.imports, *(draft.config.imports if draft.config and is_read else ())}
    return Template(template("script.py.txt")).substitute(
        title=f"Whether {draft.subject.target} works when it is compiled.",
        script=place.script,
        test=place.test,
        imports=import_text({one for one in imports if is_foreign(one[0])} | ALWAYS),
        setup=setup_text(
            draft.config if is_read else None,
            request,
            place,
            {one for one in imports if not is_foreign(one[0])},
            batches,
        ),
        build=build.text(f"def build(device: torch.device) -> {kind}:") + helper,
        inputs=inputs.text(signature),
        device=device,
    )


def setup_text(
    config: Config | None, request: Request, place: Place, own: set[tuple[str, str]], batches: list[int]
) -> str:
    """Where the project is, what is taken from it, and the numbers that one may want to change."""
    lines = [f"# Guessed: {config.guesses}."] if config and config.guesses else []
    lines += lay_out("CONFIG = ", config.text, 0) if config and config.text != "CONFIG" else []
    shown = ", ".join(f'"{name}": {text}' for name, text in request.options.items())
    lines += textwrap.wrap(request.comment, 110, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
    lines.append(f"COMPILE: dict[str, Any] = {{{shown}}}")
    comma = "," if len(batches) == 1 else ""
    lines.append(f"BATCHES = ({', '.join(map(str, batches))}{comma})")
    lines += recompile_lines(request, batches)
    if any("ROOT" in line for line in lines):
        lines.insert(0, f"ROOT = {root_text(place)}")
    return "\n\n".join([*import_own(place, own), "\n".join(lines)])


def import_own(place: Place, own: set[tuple[str, str]]) -> list[str]:
    """The folders go on the path before the first import from them."""
    if not own:
        return []
    root = root_text(place)
    folders = [f'str({root} / "{folder}")' if folder else f"str({root})" for folder in place.folders]
    paths = "\n".join(f"sys.path.insert(0, {folder})" for folder in folders)
    return [*([paths] if paths else []), "\n".join(import_lines(own))]


def root_text(place: Place) -> str:
    depth = len(PurePosixPath(place.script).parts) - 1
    return f'Path("{place.root}")' if place.root else f"Path(__file__).resolve().parents[{depth}]"


def recompile_lines(request: Request, batches: list[int]) -> list[str]:
    """Training and evaluation are compiled apart; each again for a second size, or for every one if sizes are fixed."""
    if request.options.get("dynamic") == "False":
        return [f"MOST_RECOMPILES = {2 * len(batches) - 1}  # dynamic=False: each size, in training and in evaluation"]
    sizes = "two sizes, in training" if len(batches) > 1 else "in training"
    return [f"MOST_RECOMPILES = {2 * min(len(batches), 2) - 1}  # {sizes} and in evaluation"]


def compose_test(draft: HarnessDraft, place: Place) -> str:
    """The test file."""
    script, test = PurePosixPath(place.script), PurePosixPath(place.test)
    up = f"Path(__file__).resolve().parents[{len(test.parts) - 1}]"
    near = script.parent == test.parent
    folder = "Path(__file__).resolve().parent" if near else f'{up} / "{script.parent}"'
    return Template(template("test.py.txt")).substitute(
        subject=draft.subject.target, script=place.script, module=script.stem, folder=folder
    )
