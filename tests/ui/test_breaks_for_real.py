"""From a program that breaks in a package that is installed to one that does not, with nothing made up in between."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.ui.running import Result, run, write_project
from tests.ui.test_breaks import REPAIR, hashes

pytestmark = pytest.mark.everything

PACKAGE = {
    "lib/__init__.py": "from lib.model import Net\n",
    "lib/log.py": "import logging\n\n\ndef warn_noise():\n    logging.getLogger('lib').error('noise')\n",
    "lib/model.py": """\
import torch
from lib.log import warn_noise


def noise():
    print("noise")


class Net(torch.nn.Module):
    def forward(self, x):
        x = scale(x)
        x = x + 1
        noise()
        return scale(x)


def scale(x):
    x = x * 2
    warn_noise()
    return x * 3
""",
}

TRAIN = """\
import torch
from lib import Net

net = torch.compile(Net(), backend="eager")
print([net(torch.ones(size)).sum().item() for size in (2, 2)])
"""

SCENARIO = """\
import torch
from lib import Net


def build(device):
    return Net()


def cases(device, seed):
    return [(torch.ones(2),)]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FULLGRAPH_CACHE", str(tmp_path / "cache"))
    write_project(tmp_path / "site-packages", PACKAGE)
    return write_project(tmp_path / "project", {"pyproject.toml": "", "train.py": TRAIN, "scenario.py": SCENARIO})


def path_with(*folders: Path) -> str:
    return os.pathsep.join(filter(None, [*map(str, folders), os.environ.get("PYTHONPATH", "")]))


def observe(project: Path, out: str, *folders: Path) -> dict[str, Any]:
    run(project, "observe", "--out", out, "--", "train.py", PYTHONPATH=path_with(*folders))
    report: dict[str, Any] = json.loads((project / out).read_text())
    return report


def fix(project: Path, *options: str, **changes: str) -> Result:
    return run(project, "fix", "--codemod", REPAIR, *options, **changes)


def places(report: dict[str, Any]) -> list[tuple[str, int, list[list[int]]]]:
    return [
        (Path(one["file"]).name, one["line"], [[line["line"] for line in stack] for stack in one["stacks"]])
        for entry in report["entries"]
        for one in entry["breaks"]
    ]


def test_a_program_breaks_no_more_with_the_copy_on_its_path(project: Path) -> None:
    home, new = project.parent / "site-packages", project / "new"
    before = hashes(home)
    report = observe(project, "first.json", home)
    assert places(report) == [("log.py", 5, [[11, 19, 5], [14, 19, 5]]), ("model.py", 6, [[13, 6]])]
    assert report["others"][str(home / "lib/model.py")]["module"] == "lib.model"
    done = fix(project, "--observed", "first.json", "--into", "new", "--yes")
    assert "observed breaks: 2 repaired\n" in done.out, done.out + done.err
    assert observe(project, "second.json", new, home)["entries"][0]["breaks"] == []
    sources = {file: told for file, told in hashes(home).items() if "__pycache__" not in file}
    assert sources == before


def test_a_scenario_gives_sites_and_proves_what_is_written(project: Path) -> None:
    """The messages are part of what a scenario sees: a codemod that loses them is found out, in the package too."""
    path = path_with(project.parent / "site-packages")
    run(project, "observe", "--scenario", "scenario.py", "--out", "seen.json", PYTHONPATH=path)
    told = places(json.loads((project / "seen.json").read_text()))
    assert [one[:2] for one in told] == [("log.py", 5), ("model.py", 6)]
    options = ("--observed", "seen.json", "--into", "new", "--prove", "scenario.py", "--untimed", "--yes")
    done = fix(project, *options, PYTHONPATH=path)
    assert "declined: not written: different: before and after differ in case 1" in done.out, done.out + done.err
    assert (done.code, (project / "new").exists()) == (3, False)
