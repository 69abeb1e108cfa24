"""The VS Code extension: built and packed by npm, its bundle run with a real language client and the real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from fullgraph.codemods.lsp.settings import KEYS
from tests.ui.running import COMMAND, environment

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "editors" / "vscode"
PACKAGE: dict[str, Any] = json.loads((SOURCE / "package.json").read_text())
MADE = ("node_modules", "dist", "LICENSE", "*.vsix")
PATIENCE = 300

pytestmark = pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")


def npm(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    told = {**environment(), "FULLGRAPH": str(COMMAND), "npm_config_update_notifier": "false"}
    return subprocess.run(
        ["npm", *words],
        cwd=folder,
        env=told,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension built and packed in a copy, with the packages that are installed already, or with new ones."""
    top = tmp_path_factory.mktemp("extension")
    folder = top / "editors" / "vscode"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns(*MADE))
    shutil.copy(ROOT / "LICENSE", top)
    if (SOURCE / "node_modules" / ".package-lock.json").exists():
        os.symlink(SOURCE / "node_modules", folder / "node_modules")
    else:
        try:
            done = npm(folder, "ci")
        except subprocess.TimeoutExpired:
            pytest.skip("npm ci: the registry does not answer")
        if done.returncode:
            pytest.skip(f"npm ci: {done.stderr.strip()[-200:]}")
    for step in ("build", "package"):
        done = npm(folder, "run", step)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.everything
def test_the_package_holds_what_is_needed_and_nothing_else(extension: Path) -> None:
    with zipfile.ZipFile(extension / "fullgraph.vsix") as packed:
        names = {name.lower() for name in packed.namelist() if name.startswith("extension/")}
        held = json.loads(packed.read("extension/package.json"))
        code = packed.read("extension/dist/extension.js").decode()
    wanted = {"package.json", "readme.md", "license.txt", "dist/extension.js"}
    assert names == {f"extension/{name}" for name in wanted}
    assert held["main"] == "./dist/extension.js"
    assert 'require("vscode")' in code
    assert str(ROOT) not in code


@pytest.mark.everything
def test_the_extension_works_with_the_real_server(extension: Path) -> None:
    done = npm(extension, "test")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^# fail 0$", done.stdout, re.MULTILINE)
    assert not re.search(r"^# (?:pass|tests) 0$", done.stdout, re.MULTILINE)


def test_every_setting_of_the_server_can_be_set() -> None:
    declared = {name.removeprefix("fullgraph.") for name in PACKAGE["contributes"]["configuration"]["properties"]}
    assert declared - {"path", "trace.server"} == KEYS
    listed = re.search(r"FOR_SERVER = (\[.*?\])", (SOURCE / "src" / "settings.ts").read_text(), re.DOTALL)
    assert listed
    assert set(json.loads(listed[1])) == KEYS


def test_the_lock_names_no_host() -> None:
    packages = json.loads((SOURCE / "package-lock.json").read_text())["packages"]
    assert len(packages) > 10
    assert not [name for name, held in packages.items() if "resolved" in held]
    assert all(held.get("integrity", "").startswith("sha512-") for name, held in packages.items() if name)


def test_the_extension_has_the_version_of_the_distribution() -> None:
    assert f'version = "{PACKAGE["version"]}"' in (ROOT / "pyproject.toml").read_text()
