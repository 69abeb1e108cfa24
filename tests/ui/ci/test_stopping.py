"""Ctrl-C and SIGTERM: a report of what was found until then, in every form, and nothing half done."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.ui.ci.jobs import PATIENCE, Repository, start, wait_for
from tests.ui.ci.test_sarif import VALIDATOR

WAITS = '''
import ast
import time
from pathlib import Path

from fullgraph import Codemod


class WaitForIt(Codemod):
    """Find every call of `slow`; at `wait()`, say so and wait.

    Left alone: nothing.
    """

    needles = (b"(",)

    def find(self, module, project):
        for call in module.nodes(ast.Call):
            name = module.code(call.func)
            if name == "wait":
                Path("waiting").touch()
                time.sleep(60)
            if name == "slow":
                yield module.finding(self.name, call, "slow", edits=(module.replace(call.func, "fast"),))
'''


def stop(repository: Repository, tmp_path: Path, how: signal.Signals, *arguments: str) -> subprocess.Popen[bytes]:
    """A job that is stopped while it looks at its last file."""
    codemod = tmp_path / "waiting_codemod.py"
    codemod.write_text(WAITS)
    repository.write("pkg/z.py", "wait()\n")
    repository.commit()
    process = start(repository.root, "--codemod", str(codemod), *arguments)
    wait_for(repository.root / "waiting", process)
    process.send_signal(how)
    process.wait(PATIENCE)
    return process


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_what_was_found_is_reported_in_every_form(repository: Repository, tmp_path: Path, how: signal.Signals) -> None:
    out = tmp_path / "out"
    wanted = [f"--output={form}={out / form}" for form in ("json", "sarif", "junit", "gitlab")]
    process = stop(repository, tmp_path, how, *wanted)
    shown, said = process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert shown.count(b": wait_for_it: slow") == 6
    assert b"stopped: 1 of 4 files were not looked at" in said
    held = json.loads((out / "json").read_text())
    assert (held["complete"], held["exit_code"], len(held["findings"])) == (False, 130, 6)
    log = json.loads((out / "sarif").read_text())
    VALIDATOR.validate(log)
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is False
    assert len(json.loads((out / "gitlab").read_text())) == 6
    assert ElementTree.fromstring((out / "junit").read_bytes()).get("failures") == "6"


def test_nothing_is_fixed_committed_or_noted(repository: Repository, tmp_path: Path) -> None:
    process = stop(repository, tmp_path, signal.SIGINT, "--commit", "--branch", "tidy")
    assert process.returncode == 130
    assert repository.subjects() == ["work", "start"]
    assert b"slow()" in (repository.root / "pkg/b.py").read_bytes()
    (repository.root / "waiting").unlink()
    stop(repository, tmp_path, signal.SIGINT, "--baseline", "known.json", "--update-baseline")
    assert not (repository.root / "known.json").exists()
