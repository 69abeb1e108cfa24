"""What `agent install` does: it says of every file what becomes of it, and writes those where nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.atomic import create_file, replace_file
from fullgraph.codemods.rewrite.inside import place_of, read_inside
from fullgraph.codemods.rewrite.walk import find_root
from fullgraph.codemods.ui.agent.hosts import HOSTS, Host, hosts_of, skill_text
from fullgraph.codemods.ui.agent.merge import LeftAloneError, entry_text, merged
from fullgraph.codemods.ui.history import open_journal

WRITTEN, ADDED, THERE, LEFT = "written", "added to", "there already", "left alone"


@dataclass(frozen=True)
class Step:
    """One file. `after` is None where the user has to decide: `reason` says why, and `wanted` is what to add."""

    path: str
    before: bytes | None
    after: str | None
    wanted: str
    reason: str = ""

    @property
    def outcome(self) -> str:
        if self.after is None:
            return LEFT
        if self.before is None:
            return WRITTEN
        return THERE if self.before == self.after.encode() else ADDED


def install(path: Path, names: Sequence[str], *, skill_only: bool, prints: bool) -> int:
    """The exit code: 1 if a file is left to the user."""
    open_journal(path)  # refuses what is not there, or leads out
    root = find_root(path)
    hosts = [HOSTS[name] for name in names] or hosts_of(root)
    steps = {step.path: step for host in hosts for step in steps_of(root, host, skill_only)}
    for step in steps.values():
        if prints:
            click.echo(f"# {step.path}\n{step.wanted}")
            continue
        write(root, step)
        tell(step)
    return 0 if prints else int(any(step.outcome == LEFT for step in steps.values()))


def steps_of(root: Path, host: Host, skill_only: bool) -> list[Step]:
    steps = [skill_step(root, host.skill)]
    if host.config and not skill_only:
        steps.append(config_step(root, host))
    return steps


def skill_step(root: Path, path: str) -> Step:
    before, text = read_inside(root, path), skill_text()
    if before is None or before == text.encode():
        return Step(path, before, text, text)
    return Step(path, before, None, text, "it has another text; remove it to get the one of this version")


def config_step(root: Path, host: Host) -> Step:
    before, wanted = read_inside(root, host.config), entry_text(host)
    try:
        text = None if before is None else before.decode()
        return Step(host.config, before, merged(host, text), wanted)
    except UnicodeDecodeError:
        return Step(host.config, before, None, wanted, "it is not UTF-8 text")
    except LeftAloneError as error:
        return Step(host.config, before, None, wanted, str(error))


def write(root: Path, step: Step) -> None:
    """Past no link, and never over a file that has changed since it was read."""
    if step.after is None or step.outcome == THERE:
        return
    with place_of(root, step.path, make=True) as (folder, name):
        if step.before is None:
            create_file(folder, name, step.after.encode())
        elif folder.read(name) == step.before:
            replace_file(folder, name, step.after.encode())
        else:
            raise FullgraphError(f"{step.path}: it has changed meanwhile; run the command again")


def tell(step: Step) -> None:
    click.echo(f"{step.outcome}: {step.path}" + (f" ({step.reason})" if step.reason else ""))
    if step.outcome == LEFT and not step.path.endswith(".md"):
        click.echo("  add to it:\n" + "".join(f"    {line}\n" for line in step.wanted.splitlines()), nl=False)
