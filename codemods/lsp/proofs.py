"""Proofs in the background: what a lens asks for, run in a process of its own, shown as a diagnostic."""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from lsprotocol.types import Diagnostic, DiagnosticSeverity, Location

from fullgraph.codemods.lsp.diagnostics import SOURCE
from fullgraph.codemods.lsp.fixing import Told, fix_files
from fullgraph.codemods.lsp.projects import LiveProject
from fullgraph.codemods.lsp.proof_process import ProofTask
from fullgraph.codemods.lsp.settings import ClientSettings
from fullgraph.codemods.model import Finding, FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.earlier import earlier
from fullgraph.codemods.ui.proof import declared_by, declared_since, sides_since
from fullgraph.validate.model import Settings, Sides

CODE = "proof"
PATIENCE = 10
"""Seconds in which a proof that was stopped must have ended its workers."""

LONGEST = 1 << 24
"""Bytes of a line that a proof may say."""

GOOD = ("proven", "neutral")
Stage = Callable[[str, str], None]


@dataclass(frozen=True)
class Judged:
    """A verdict that came out, with the bytes that it is about."""

    path: str
    symbol: str
    scenario: str
    what: str
    sides: Sides
    said: Mapping[str, Any]

    def holds(self, project: Project) -> bool:
        """Whether the files are still as one of the sides was; of anything else nothing was measured."""
        paths = self.sides.paths()
        now = {path: project.read(path) if project.has_file(path) else None for path in paths}
        return any(all(side.get(path) == now[path] for path in paths) for side in (self.sides.before, self.sides.after))

    def diagnostic(self, where: Location) -> Diagnostic:
        is_good = self.said["ruling"] in GOOD
        lines = [f"{self.said['ruling']}: {self.said['sentence']}", f"{self.what}; {self.scenario}"]
        if self.said.get("torch"):
            lines.append(f"torch {self.said['torch']}, {self.said['device']}")
        return Diagnostic(
            range=where.range,
            message="\n".join([*lines, *(f"note: {notice}" for notice in self.said["notices"])]),
            severity=DiagnosticSeverity.Information if is_good else DiagnosticSeverity.Warning,
            code=CODE,
            source=SOURCE,
        )


@dataclass(frozen=True)
class Chosen:
    """The reviewer that wants these findings."""

    keys: frozenset[str]

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]:
        return [finding for finding in findings if finding.key in self.keys]


def task_for(
    live: LiveProject, path: str, symbol: str, scenario: str, buffers: Mapping[str, bytes], told: Told
) -> tuple[ProofTask, str]:
    """What to prove, and in words: what the findings there would change; without any, what was changed last."""
    chosen = [finding for finding in live.look(path, buffers).findings if finding.is_fixable]
    own = [finding for finding in chosen if finding.symbol.split(".")[0] == symbol.split(".")[0]]
    settings = proof_settings(live.settings)
    if chosen:
        wanted = Chosen(frozenset(finding.key for finding in own or chosen))
        fixed = fix_files(live, {path}, buffers, wanted, told)
        sides = Sides(live.root, {**buffers, **fixed.before}, {**buffers, **fixed.after})
        names = ", ".join(dict.fromkeys(finding.codemod for finding in fixed.applied))
        return ProofTask(scenario, sides, settings, declared_by(live.codemods, fixed.applied)), f"with {names}"
    was = earlier(live.root, "", 0)
    sides, _ = sides_since(live.root, was)
    after = {**sides.after, **{p: raw for p, raw in buffers.items() if p in sides.after}}
    return ProofTask(
        scenario, Sides(live.root, sides.before, after), settings, declared_since(live.root, was)
    ), f"against the files {was.name}"


def proof_settings(client: ClientSettings) -> Settings:
    return Settings(device=client.device, python=client.python, backend=client.backend, mode=client.mode)


@dataclass(eq=False)
class RunningProof:
    """One process that proves something."""

    process: asyncio.subprocess.Process
    was_stopped: bool = field(default=False)

    @staticmethod
    async def start(task: ProofTask) -> RunningProof:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "fullgraph.codemods.lsp.proof_process"),
            cwd=task.sides.root,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST,
        )
        assert process.stdin is not None
        process.stdin.write(pickle.dumps(task))  # and left open: when it closes, this server is no more
        return RunningProof(process)

    async def verdict(self, stage: Stage) -> Mapping[str, Any] | None:
        """What came out; None if it was stopped."""
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            said = json.loads(line)
            if "verdict" in said:
                return dict(said["verdict"])
            stage(said["stage"], said["detail"])
        if self.was_stopped:
            return None
        code = await self.process.wait()
        raise FullgraphError(f"the proof ended with exit code {code} and no verdict; the log says why")

    async def stop(self) -> None:
        """End it with all its workers."""
        self.was_stopped = True
        with suppress(ProcessLookupError):
            self.process.terminate()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.process.wait(), PATIENCE)
                return
            self.process.kill()
