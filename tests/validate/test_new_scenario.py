"""`fullgraph scenario new`: the file that it writes runs, and says what was guessed or is missing."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from fullgraph.validate.capture_session import read_index
from fullgraph.validate.model import ValidateError
from fullgraph.validate.new_scenario import file_name, new_scenario
from tests.validate.capturing import Recorder, fullgraph, load_module
from tests.validate.drafted_programs import MODELS, RUNNING
from tests.validate.focus_programs import make_focus_project

DEMO = Path(__file__).parents[2] / "fixtures" / "demo" / "src"
PACKAGES = Path(torch.__file__).parents[1]


def reader(*folders: Path) -> Any:
    def read(name: str) -> tuple[bytes, bool] | None:
        for folder in (*folders, PACKAGES):
            base = folder.joinpath(*name.split("."))
            for file, is_package in ((base / "__init__.py", True), (base.with_name(f"{base.name}.py"), False)):
                if file.is_file():
                    return file.read_bytes(), is_package
        return None

    return read


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return load_module(tmp_path_factory.mktemp("models"), MODELS, "drafted_models")


def folder_of(module: ModuleType) -> Path:
    return Path(str(module.__file__)).parent


def draft(target: str, *folders: Path, **more: Any) -> str:
    return new_scenario(target, reader(*folders), "scenarios/x.py", **more)


def run(text: str) -> list[Any]:
    """Build it, and call it with every case."""
    names: dict[str, Any] = {}
    exec(compile(text, "scenario", "exec"), names)
    torch.manual_seed(0)
    subject = names["build"](torch.device("cpu"))
    with contextlib.redirect_stdout(io.StringIO()):
        return [call(subject, case) for case in names["cases"](torch.device("cpu"), 0)]


def call(subject: Any, case: Any) -> Any:
    if isinstance(case, tuple):
        return subject(*case)
    if isinstance(case, dict):
        return subject(**case)
    return subject(*getattr(case, "args", ()), **getattr(case, "kwargs", {}))


# Files that run


@pytest.mark.parametrize("name", RUNNING)
def test_a_scenario_for_usual_code_runs(models: ModuleType, name: str) -> None:
    text = draft(f"drafted_models:{name}", folder_of(models))
    assert run(text)
    assert max(map(len, text.splitlines())) <= 120


LAYERS = [
    *("Linear", "Bilinear", "Conv1d", "Conv2d", "ConvTranspose2d", "LSTM", "GRUCell", "MultiheadAttention"),
    *("TransformerEncoderLayer", "BatchNorm2d", "LayerNorm", "GroupNorm", "Embedding", "EmbeddingBag"),
    *("CrossEntropyLoss", "MSELoss", "GELU", "MaxPool2d", "PixelShuffle", "Flatten"),
]
FUNCTIONS = ["softmax", "mse_loss", "cross_entropy", "normalize", "glu", "dropout", "gumbel_softmax"]


@pytest.mark.parametrize(
    "target", [f"torch.nn:{name}" for name in LAYERS] + [f"torch.nn.functional:{f}" for f in FUNCTIONS]
)
def test_a_scenario_for_torchs_own_code_runs(target: str) -> None:
    assert run(draft(target))


SEEDLING = [
    *("policy:SlotEncoder", "policy:SaturationGuard", "policy:log_probs", "policy:joint_entropy"),
    *("normalization:RunningMeanStd.update", "normalization:RunningMeanStd.normalize", "vectorized:stack_masks"),
    *("ppo:explained_variance", "envs:response", "envs:Graft", "envs:SlotHost", "envs:SlotHost.graft"),
    *("telemetry:layer_stats", "telemetry:value_range", "rollout_buffer:RolloutBuffer.finish"),
    *("rollout_buffer:RolloutBuffer.batch", "env_state:EnvState.observe"),
]


@pytest.fixture
def seedling(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(DEMO))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "seedling"]:
        del sys.modules[name]


@pytest.mark.parametrize("target", SEEDLING)
@pytest.mark.usefixtures("seedling")
def test_a_scenario_for_the_demo_runs(target: str) -> None:
    assert run(draft(f"seedling.{target}", DEMO))


# What stands in them


def test_the_file_reads_like_one_that_a_person_wrote(models: ModuleType) -> None:
    assert (
        draft("drafted_models:Block", folder_of(models))
        == '''\
"""drafted_models:Block, before and after a change:

    fullgraph prove scenarios/x.py
"""

import torch

from drafted_models import Block


def build(device):
    # Guessed: `dim`, `heads`.
    return Block(dim=16, heads=4).to(device)


def cases(device, seed):
    generator = torch.Generator().manual_seed(seed)
    for batch in (4, 7):
        yield (torch.randn(batch, 16, 16, generator=generator).to(device),)
'''
    )


def test_the_cases_differ_in_batch_size_and_are_the_same_for_the_same_seed(models: ModuleType) -> None:
    text = draft("drafted_models:build", folder_of(models))
    first, second = run(text), run(text)
    assert [len(one) for one in first] == [4, 7]
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


def test_an_image_is_as_big_as_the_network_needs_it(models: ModuleType) -> None:
    assert "batch, 1, 28, 28" in draft("drafted_models:DigitNet", folder_of(models))
    assert "batch, 4, 84, 84" in draft("drafted_models:QNetwork", folder_of(models))


def test_sizes_come_from_layers_docstrings_and_annotations(models: ModuleType) -> None:
    folder = folder_of(models)
    assert "randint(0, 50, (batch, 8)" in draft("drafted_models:Writer", folder)
    documented = draft("drafted_models:contract", folder)
    assert '"x": torch.randn(batch, 16, 8' in documented
    assert '"w": torch.randn(8, 8' in documented
    assert "Guessed" not in documented
    assert '"mode": Mode.MEAN' in draft("drafted_models:pool", folder)
    assert '"mode": "l2"' in draft("drafted_models:normalize", folder)
    assert 'for key in ("left", "right", "middle")' in draft("drafted_models:pick", folder)


def test_a_shape_in_the_annotation_counts(tmp_path: Path) -> None:
    text = (
        "from jaxtyping import Float, Int\nfrom torch import Tensor\n\n\n"
        'def f(x: Float[Tensor, "batch 5"], i: Int[Tensor, "n"]): ...\n'
    )
    (tmp_path / "typed.py").write_text(text)
    drafted = draft("typed:f", tmp_path)
    assert '"x": torch.randn(batch, 5' in drafted
    assert '"i": torch.randint(0, 8, (batch,)' in drafted


def test_the_batch_has_one_name_in_a_docstring(tmp_path: Path) -> None:
    drafted = draft("lens.nets:FocusNet", make_focus_project(tmp_path) / "src")
    assert '"blocks": torch.randn(batch, 8, 8,' in drafted


def test_a_tensor_with_a_default_is_given_if_its_shape_is_known(tmp_path: Path) -> None:
    drafted = draft("lens.nets:FocusNet", make_focus_project(tmp_path) / "src")
    assert '"pad_mask": (torch.rand(batch, 8, generator=generator) > 0.9)' in drafted


def test_the_docstring_of_what_is_called_counts_and_a_reshape_keeps_the_width(tmp_path: Path) -> None:
    drafted = draft("lens.nets:GistNet", make_focus_project(tmp_path) / "src")
    assert '"emb": torch.randn(batch, 8, 3, 16,' in drafted
    assert '"mask": (torch.rand(batch, 8,' in drafted


def test_gradients_are_there_where_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_focus_project(tmp_path) / "src"
    monkeypatch.syspath_prepend(folder)
    assert len(run(draft("lens.telemetry:norms", folder))[0]) == 2
    assert run(draft("lens.telemetry:norm", folder))[0] > 0


def test_what_is_disabled_is_run_by_a_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_focus_project(tmp_path) / "src"
    monkeypatch.syspath_prepend(folder)
    drafted = draft("lens.telemetry:report", folder)
    assert "    return caller" in drafted
    assert [type(result) for result in run(drafted)] == [float, float]


def test_what_a_function_moves_is_left_on_the_host(tmp_path: Path) -> None:
    drafted = draft("lens.telemetry:place", make_focus_project(tmp_path) / "src")
    assert '"batch": torch.randn(batch, 8, generator=generator), "device": device' in drafted
    assert "fullgraph prove scenarios/x.py --device second" in drafted


def test_values_that_the_project_passes_are_good_guesses(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self, dim, mode):\n        super().__init__()\n"
        "        self.fc = nn.Linear(dim, 2)\n\n    def forward(self, x):\n        return self.fc(x)\n"
    )
    (tmp_path / "use.py").write_text("from net import Net\n\nWIDTH = 4 * 3\nmade = Net(WIDTH, mode='fast')\n")
    drafted = draft("net:Net", tmp_path, mention=lambda word: ["net", "use"])
    assert 'Net(dim=12, mode="fast")' in drafted
    assert "torch.randn(batch, 12" in drafted
    assert "Guessed" not in drafted


def test_an_optimizer_gets_the_parameters_of_the_model_beside_it(models: ModuleType) -> None:
    drafted = draft("drafted_models:train_step", folder_of(models))
    assert "        model = torch.nn.Linear(8, 8).to(device)\n" in drafted
    assert '"optimizer": torch.optim.SGD(model.parameters(), lr=0.01)' in drafted


def test_a_function_with_a_name_of_the_files_own_is_called_through_its_module(models: ModuleType) -> None:
    drafted = draft("drafted_models:build", folder_of(models))
    assert "import drafted_models\n" in drafted
    assert "return drafted_models.build" in drafted


def test_what_cannot_be_guessed_is_said_where_it_is_raised(models: ModuleType) -> None:
    drafted = draft("drafted_models:mystery", folder_of(models))
    assert '"thing": ...' in drafted
    with pytest.raises(NotImplementedError, match="fill in below, then delete this line: `thing`"):
        run(drafted)


# After a capture


def test_shapes_and_classes_of_a_capture_are_taken(tmp_path: Path, models: ModuleType) -> None:
    module: Any = models

    def program() -> None:
        for size in (5, 6):
            batch = module.Batch(torch.randn(size, 1, 28, 28), torch.zeros(size, dtype=torch.int64))
            module.batch_loss(module.DigitNet(), batch)

    index = read_index(Path(Recorder(tmp_path).store("drafted_models:batch_loss", program)))
    drafted = draft("drafted_models:batch_loss", folder_of(models), captured=index)
    assert "for batch in (5, 6):" in drafted
    assert "images=torch.randn(batch, 1, 28, 28" in drafted
    assert run(drafted)


def test_plain_values_and_dtypes_of_a_capture_are_taken(tmp_path: Path, models: ModuleType) -> None:
    module: Any = models
    given = {"x": torch.ones(3, 2, dtype=torch.float64), "scale": 0.25, "by": torch.ones(2)}
    index = read_index(Path(Recorder(tmp_path).store("drafted_models:shift", lambda: module.shift(**given))))
    drafted = draft("drafted_models:shift", folder_of(models), captured=index)
    assert '"x": torch.randn(batch, 2, generator=generator).to(device).to(torch.float64)' in drafted
    assert '"scale": 0.25' in drafted
    assert '"by": torch.randn(2, ' in drafted
    assert [len(one) for one in run(drafted)] == [3, 6]


# What is refused


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Blok", "there is no 'Blok' in module 'drafted_models'; did you mean Block"),
        ("train_batch", "did you mean Trainer.train_batch"),
        ("counting", "is a generator function"),
        ("waiting", "is a coroutine function"),
        ("Plain", "cannot be called; name one of its methods, like drafted_models:Plain.method"),
        ("Plain.size", "is a property"),
        ("CONSTANT", "is a value, not a function"),
    ],
)
def test_what_cannot_be_called_alone_is_refused(models: ModuleType, name: str, says: str) -> None:
    with pytest.raises(ValidateError) as error:
        draft(f"drafted_models:{name}", folder_of(models))
    assert says in str(error.value)


def test_a_module_that_is_not_there_or_is_no_python_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n")
    with pytest.raises(ValidateError, match="'nowhere' is neither in the project nor installed"):
        draft("nowhere:f", tmp_path)
    with pytest.raises(ValidateError, match="'broken' cannot be read as Python"):
        draft("broken:f", tmp_path)


# The command


def test_the_command_writes_under_scenarios_and_never_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "src" / "pkg").mkdir(parents=True)
    (tmp_path / "src" / "pkg" / "__init__.py").touch()
    (tmp_path / "src" / "pkg" / "nets.py").write_text(MODELS)
    done = fullgraph(tmp_path, "scenario", "new", "pkg.nets:LowRank")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Wrote scenarios/low_rank.py.\nRun it:  fullgraph prove scenarios/low_rank.py\n"
    file = tmp_path / "scenarios" / "low_rank.py"
    written = file.read_text()
    assert "from pkg.nets import LowRank\n" in written
    again = fullgraph(tmp_path, "scenario", "new", "src/pkg/nets.py:LowRank")
    assert again.returncode == 2
    assert "scenarios/low_rank.py is there already" in again.stderr
    assert file.read_text() == written
    elsewhere = fullgraph(tmp_path, "scenario", "new", "pkg.nets:mystery", "--out", "deep/er/x.py")
    assert elsewhere.returncode == 0
    assert "Some values could not be guessed" in elsewhere.stdout
    ast.parse((tmp_path / "deep/er/x.py").read_text())


def test_the_command_refuses_with_exit_code_4(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "nets.py").write_text(MODELS)
    for target in ("nets:LowRnk", "netz:LowRank", "nets"):
        done = fullgraph(tmp_path, "scenario", "new", target)
        assert (done.returncode, len(done.stderr.splitlines())) == (4, 1)
    assert not (tmp_path / "scenarios").exists()


def test_files_are_named_after_what_they_run() -> None:
    assert file_name("pkg.policy:SlotEncoder") == "slot_encoder.py"
    assert file_name("pkg:VAE.encode") == "vae_encode.py"
