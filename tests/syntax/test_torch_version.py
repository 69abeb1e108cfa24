"""Which torch a project's code has to run on, read as the tools that install it read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.codemods.catalog.breaks.check_without_branch import CheckWithoutBranch
from fullgraph.codemods.catalog.graphs.disable_compile import DisableCompile
from fullgraph.codemods.model import Finding, FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.syntax.torch_version import declared_torch, torch_of

TELEMETRY = b"""\
import torch


def log_grad_stats(model):
    return [p.grad.norm().item() for p in model.parameters()]
"""


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["torch>=2.4,<3"]', "2.4 pyproject.toml:2"),
        ("pyproject.toml", '[project]\ndependencies = [\n"numpy",\n"Torch[opt]>2.4"]', "2.4 pyproject.toml"),
        (
            "pyproject.toml",
            "[project]\ndependencies = [\"torch == 2.8.0 ; os_name == 'nt'\"]",
            "2.8.0 pyproject.toml:2",
        ),
        ("pyproject.toml", '[project]\ndependencies = ["torchvision>=0.9", "torch"]', None),
        ("pyproject.toml", '[project]\ndependencies = ["torchvision>=0.9", "torch-geometric>=2.0"]', None),
        ("pyproject.toml", '[project]\ndependencies = ["torch @ https://example.org/torch.whl"]', None),
        (
            "pyproject.toml",
            '[project.optional-dependencies]\ngpu = ["torch~=2.9"]\ncpu = ["torch>=2.7"]',
            "2.7 pyproject.toml:2",
        ),
        ("pyproject.toml", '[dependency-groups]\ndev = ["torch>=2.7", {include-group = "x"}]', "2.7 pyproject.toml:2"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorchaudio = "^0.1"\ntorch = "^2.6"', "2.6 pyproject.toml:3"),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\ntorch = {version = "2.6.1", source = "a"}',
            "2.6.1 pyproject.toml:2",
        ),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "*"', None),
        ("pyproject.toml", '[tool.poetry.group.gpu.dependencies]\ntorch = ">=2.5"', "2.5 pyproject.toml:2"),
        ("pyproject.toml", '[tool.pdm.dev-dependencies]\ntest = ["torch>=2.5"]', "2.5 pyproject.toml:2"),
        ("pyproject.toml", '[tool.hatch.envs.default]\ndependencies = ["torch>=2.5"]', "2.5 pyproject.toml:2"),
        ("pyproject.toml", '[tool.flit.metadata]\nrequires = ["torch>=2.5"]', "2.5 pyproject.toml:2"),
        ("pyproject.toml", '[tool.pixi.pypi-dependencies]\ntorch = ">=2.5"', "2.5 pyproject.toml:2"),
        ("pyproject.toml", "[project", None),
        ("pyproject.toml", "project = 3\ntool = []", None),
        (
            "requirements-dev.txt",
            "--index-url a\ntorch==2.8.0+cpu \\\n    --hash=sha256:1\n",
            "2.8.0 requirements-dev.txt:2",
        ),
        ("requirements/base.txt", "torch>=2.3  # the oldest\n", "2.3 requirements/base.txt:1"),
        ("requirements.txt", "# torch>=2.8\nnumpy\ntorchmetrics>=1\n", None),
        ("constraints.txt", "torchaudio==2.0\ntorch==2.8.1\n", "2.8.1 constraints.txt:2"),
        ("setup.cfg", "[options]\ninstall_requires =\n    torchvision>=0.1\n    torch>=2.1\n", "2.1 setup.cfg:4"),
        ("setup.cfg", "[options.extras_require]\ngpu = torch>=2.1\n", "2.1 setup.cfg:2"),
        ("setup.cfg", "[options", None),
        ("setup.py", "setup(install_requires=['numpy', 'torch>=2.2'])", "2.2 setup.py:1"),
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.11.0"\n', "2.11.0 uv.lock:2"),
        ("poetry.lock", '[[package]]\nname = "torchvision"\nversion = "0.1"\n', None),
        ("pylock.toml", '[[packages]]\nname = "torch"\nversion = "2.11.0"\n', "2.11.0 pylock.toml:2"),
        ("Pipfile.lock", '{"default": {"torch": {"version": "==2.10.0"}}}', "2.10.0 Pipfile.lock:1"),
        ("Pipfile.lock", '{"default": []} "torch"', None),
    ],
)
def test_torch_is_read_where_the_project_names_it(tmp_path: Path, file: str, text: str, told: str | None) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text)
    found = torch_of(tmp_path)
    assert (found and f"{found.version.base_version} {found.source}".startswith(told or "?")) is (told and True)


def test_what_is_installed_comes_before_locks_and_these_before_what_is_declared(tmp_path: Path) -> None:
    sources = []
    (tmp_path / "requirements.txt").write_text("torch>=2.0\n")
    sources.append(torch_of(tmp_path))
    (tmp_path / "uv.lock").write_text('[[package]]\nname = "torch"\nversion = "2.4.0"\n')
    sources.append(torch_of(tmp_path))
    (tmp_path / ".venv/lib/python3.12/site-packages/torch-2.9.1+cu128.dist-info").mkdir(parents=True)
    sources.append(torch_of(tmp_path))
    sources.append(torch_of(tmp_path, "2.6"))
    told = [f"{one.version} {one.source}" for one in sources if one]
    assert told == ["2.0 requirements.txt:1", "2.4.0 uv.lock:2", "2.9.1+cu128 .venv/", "2.6 --torch"]


def test_of_several_bounds_the_lowest_counts(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(
        "torch>=2.6; python_version>='3.12'\ntorch>=2.3; python_version<'3.12'\n"
    )
    found = declared_torch(tmp_path)
    assert str(found and found.version) == "2.3"


def found_with(root: Path, torch: str = "") -> Finding:
    (finding,) = find(
        Project(root, ["stats.py"], {"stats.py": TELEMETRY}), "stats.py", [DisableCompile({"torch": torch})]
    ).findings
    return finding


def test_a_torch_that_is_declared_is_a_caveat_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("numpy\ntorch>=2.0\n")
    finding = found_with(tmp_path)
    assert finding.edits
    assert "torch 2.0 (requirements.txt:2) has no torch.compiler.disable (new in 2.1)" in finding.caveat
    assert "torch" not in found_with(tmp_path, "2.9").caveat.replace("torch.", "")


def test_a_torch_that_the_user_names_decides(tmp_path: Path) -> None:
    finding = found_with(tmp_path, "2.0")
    assert (finding.edits, finding.left_alone) == ((), "torch 2.0 (--torch) has no torch.compiler.disable (new in 2.1)")
    assert "reason=" not in found_with(tmp_path, "2.7").edits[0].new_text
    assert "reason=" in found_with(tmp_path, "2.8").edits[0].new_text


def test_a_torch_that_is_no_version_is_refused() -> None:
    with pytest.raises(FullgraphError, match="is not a version"):
        DisableCompile({"torch": "newest"})


def test_every_codemod_has_the_setting() -> None:
    assert CheckWithoutBranch({"torch": "2.5"}).options.torch == "2.5"
