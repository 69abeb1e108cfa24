"""A small project whose nets are built from a config in every usual way, and nets with something wrong in them."""

from __future__ import annotations

from pathlib import Path

NETS = '''
import enum
from collections import deque
from dataclasses import dataclass, field
from typing import Optional

import torch
from torch import Tensor, nn


class Gate(enum.Enum):
    OPEN = "open"
    SHUT = "shut"


@dataclass
class Reach:
    heads: int = 2


@dataclass
class WeirConfig:
    width: int
    depth: int = 2
    reach: Reach = field(default_factory=Reach)


@dataclass
class Level:
    height: Tensor
    flow: Tensor


class Weir(nn.Module):
    """Takes a config object; layers in a loop; a dataclass comes out."""

    def __init__(self, config: WeirConfig, gate: Gate = Gate.OPEN):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(config.width, config.width) for _ in range(config.depth)])
        self.drop = nn.Dropout(0.2)
        self.gate = gate

    def forward(self, x: Tensor, mask: Optional[Tensor] = None) -> Level:
        for layer in self.layers:
            x = self.drop(torch.relu(layer(x)))
        return Level(height=x, flow=x.mean(-1))


class Canal(nn.Module):
    """Takes sizes by name."""

    def __init__(self, inlet: int, hidden: int, outlet: int, dropout: float = 0.1):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inlet, hidden), nn.Dropout(dropout), nn.ReLU(), nn.Linear(hidden, outlet))

    def forward(self, x):
        return {"outflow": self.net(x)}


class Basin(nn.Module):
    """Needs another net first."""

    def __init__(self, feeder: Canal, outlet: int):
        super().__init__()
        self.feeder = feeder
        self.head = nn.Linear(outlet, 2)

    def forward(self, x):
        return self.head(self.feeder(x)["outflow"])


class Ledger(nn.Module):
    """Reads attributes, nested ones too."""

    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.words = nn.Embedding(cfg.vocabulary, cfg.canal.hidden)
        self.head = nn.Linear(cfg.canal.hidden, cfg.vocabulary)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.words(ids))


class Pump(nn.Module):
    """Reads a mapping; takes a dict of tensors."""

    def __init__(self, config: dict):
        super().__init__()
        self.lift = nn.Linear(config["inlet"], config.get("steps", 12))

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        return self.lift(batch["upper"] + batch["lower"])


class Mixer(nn.Module):
    """Joins three tensors; one comes by keyword."""

    def __init__(self, plots: int, weather: int):
        super().__init__()
        self.body = nn.Linear(2 * plots + weather, 4)

    def forward(self, moisture: Tensor, weather: Tensor, *, granted: Tensor) -> Tensor:
        return self.body(torch.cat([moisture, weather, granted], dim=-1))


class Survey(nn.Module):
    """Reads depths, [stations, plots, days]."""

    def __init__(self, days: int):
        super().__init__()
        self.body = nn.Linear(days, 2)

    def forward(self, depths: Tensor) -> Tensor:
        return self.body(depths)


class Tide(nn.Module):
    """Remembers the last state in an attribute that is no buffer."""

    def __init__(self, days: int):
        super().__init__()
        self.body = nn.Linear(days, days)
        self.level = torch.zeros(days)

    def forward(self, x: Tensor) -> Tensor:
        self.level = torch.tanh(self.level + self.body(x).mean(0)).detach()
        return x + self.level


class Counter(nn.Module):
    """Has a name that the script has as well, and takes whatever comes."""

    def __init__(self, **kw):
        super().__init__()
        self.body = nn.Linear(kw["days"], 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)


@dataclass
class Drain:
    slope: float = 0.5
    fall: int = 3


class Outlet(nn.Module):
    """Has a section of its own that says less than another; does without a drain."""

    def __init__(self, days: int, plots: int = 2, drain: Optional[Drain] = None):
        super().__init__()
        self.body = nn.Linear(days, plots)
        self.drain = drain

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)


class Spillway(nn.Module):
    """Takes the first size by position only."""

    def __init__(self, fall: int, /, lanes: int = 2):
        super().__init__()
        self.body = nn.Linear(fall, lanes)

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)


@dataclass
class DamConfig:
    days: int
    slope: float = 0.5


class Dam(nn.Module):
    """Reads a config of which nothing is written in its signature."""

    def __init__(self, config):
        super().__init__()
        self.body = nn.Linear(config.days, 2)
        self.slope = config.slope
        if hasattr(config, "lining"):
            self.lining = nn.Dropout(config.lining)

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x) * self.slope


class Early(nn.Module):
    """Compiles its own forward."""

    def __init__(self, days: int):
        super().__init__()
        self.body = nn.Linear(days, 2)

    @torch.compile(mode="reduce-overhead")
    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)


class Stranger(nn.Module):
    def __init__(self, atlas, inlet: int):
        super().__init__()
        self.rows = atlas.rows
        self.body = nn.Linear(inlet, 2)

    def forward(self, x):
        return self.body(x)


def blend(x: Tensor, y: Tensor, share: float = 0.5) -> Tensor:
    return x * share + y * (1 - share)


def rank(x: Tensor) -> Tensor:
    return x.argsort(dim=-1)


def listen(x: Tensor) -> None:
    x.sum()


class Gauge:
    def __init__(self, days: int):
        self.mean = torch.zeros(days)

    def update(self, x: Tensor) -> None:
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
'''

FAULTY = '''
import torch
from torch import Tensor, nn

NOISE = torch.Generator()


class Net(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.body = nn.Linear(width, width)


class Sound(Net):
    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.body(x))


class Talking(Net):
    """Breaks the graph."""

    def forward(self, x: Tensor) -> Tensor:
        y = self.body(x)
        torch._dynamo.graph_break()
        return torch.relu(y)


class GivenUp(Net):
    """Breaks in a loop: torch gives the frame up, and its counters may say nothing."""

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(2):
            x = self.body(x)
            torch._dynamo.graph_break()
        return x


class EvalOnly(Net):
    """Breaks in evaluation only."""

    def forward(self, x: Tensor) -> Tensor:
        y = self.body(x)
        if not self.training:
            torch._dynamo.graph_break()
        return torch.relu(y)


class Stormy(Net):
    """A Python number for every batch size."""

    def forward(self, x: Tensor) -> Tensor:
        scale = float(int(x.shape[0]) ** 0.5) if int(x.shape[0]) % 1 == 0 else 1.0
        return self.body(x) * torch.tensor([1.0] * x.shape[0]).unsqueeze(-1) * scale


class Hoarding(Net):
    """Keeps every output."""

    def __init__(self, width: int):
        super().__init__(width)
        self.history = []

    @torch.compiler.disable
    def remember(self, y: Tensor) -> None:
        self.history.append(y)

    def forward(self, x: Tensor) -> Tensor:
        y = self.body(x)
        self.remember(y)
        return y


class Copying(Hoarding):
    """Keeps a copy, and in training only."""

    @torch.compiler.disable
    def remember(self, y: Tensor) -> None:
        if self.training:
            self.history.append({"y": y.detach().clone()})


class Latest(Hoarding):
    """Keeps the last output only: not a leak."""

    @torch.compiler.disable
    def remember(self, y: Tensor) -> None:
        self.history[:] = [y.detach()]


class Broken(Net):
    def forward(self, x: Tensor) -> Tensor:
        raise ValueError("the sluice is shut")


class Restless(Net):
    """Never the same twice, whatever the seed."""

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x) + torch.rand((), generator=NOISE)


class Folding(Net):
    """Takes batches of four only, at a time."""

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x.view(-1, 4, x.shape[-1]))


class Recurrent(Net):
    """Torch leaves the whole frame alone."""

    def __init__(self, width: int):
        super().__init__(width)
        self.cell = nn.LSTM(width, width, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.cell(self.body(x))[0]


class Chance(Net):
    """Gives a distribution, and another one when it is compiled, in evaluation only."""

    def forward(self, x: Tensor):
        y = self.body(x)
        is_off = torch.compiler.is_compiling() and not self.training
        return torch.distributions.Categorical(logits=y * 2 if is_off else y, validate_args=False)


class Moody(Net):
    """Another result when it is compiled, in evaluation only."""

    def forward(self, x: Tensor) -> Tensor:
        y = self.body(x)
        return y + 1 if torch.compiler.is_compiling() and not self.training else y
'''

CONFIG = """
{
  "weir": {"width": 10, "depth": 3, "reach": {"heads": 4}},
  "gate": "shut",
  "canal": {"inlet": 5, "hidden": 9, "outlet": 3},
  "pump": {"inlet": 6, "steps": 4, "notes": "spare"},
  "mixer": {"plots": 6, "weather": 3},
  "survey": {"days": 11},
  "spillway": {"fall": 7, "lanes": 3},
  "season": {"plots": 6},
  "vocabulary": 40,
  "batch_size": 16,
  "compile": {"mode": "default"}
}
"""

TRAIN = """
import torch

from works.nets import Canal, Pump, Weir, WeirConfig, blend

MODE = "max-autotune-no-cudagraphs"


def start(cfg, flag):
    weir = Weir(WeirConfig(**cfg["weir"]))
    weir = torch.compile(weir, mode=cfg["compile"]["mode"], dynamic=True)
    canal = Canal(**cfg["canal"])
    canal.compile(mode=MODE, fullgraph=True)
    pump = torch.compile(Pump(cfg["pump"]), mode=choose(flag), dynamic=False)
    return weir, canal, pump


@torch.compile(backend="eager")
def smooth(x: torch.Tensor) -> torch.Tensor:
    return blend(x, x.roll(1, 0))
"""


def make_project(folder: Path, *, scripts: bool = False) -> Path:
    """The project below a folder, with its code in src/."""
    package = folder / "src" / "works"
    package.mkdir(parents=True)
    (folder / ".git").mkdir()
    (package / "__init__.py").touch()
    for name, text in (("nets", NETS), ("faulty", FAULTY), ("train", TRAIN)):
        (package / f"{name}.py").write_text(text)
    (folder / "works.json").write_text(CONFIG)
    if scripts:
        (folder / "scripts").mkdir()
        (folder / "tests").mkdir()
    return folder
