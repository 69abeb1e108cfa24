"""Prove rewrites that change nothing, again and again: each must come out neutral. And one that is 1.3 times as fast.

    python scripts/noop.py --times 20 --backend inductor

Takes minutes to hours; what else runs on the machine is part of the test.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import textwrap
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fullgraph.validate.model import Ruling, Settings, Sides, Verdict
from fullgraph.validate.prove import prove
from fullgraph.validate.scenario import read_scenario


@dataclass(frozen=True)
class Subject:
    """A module, what is replaced in it, a scenario, and the ruling that it must get."""

    module: str
    changes: dict[str, str]
    scenario: str
    wanted: Ruling = Ruling.NEUTRAL

    @property
    def after(self) -> str:
        text = self.module
        for old, new in self.changes.items():
            assert old in text
            text = text.replace(old, new)
        return text


SMALL = Subject(
    """
    def f(x):
        y = x + 1
        return y * 2
    """,
    {"y = x": "z = x", "return y": "return z"},
    """
    import torch
    from module import f

    def build(device):
        return f

    def cases(device, seed):
        return [(torch.arange(6.0, device=device),)]
    """,
)
TRAINED = Subject(
    """
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(64, 128)
            self.second = torch.nn.Linear(128, 8)

        def forward(self, x):
            y = torch.relu(self.first(x))
            return self.second(y).square().mean()
    """,
    {"y = torch.relu(self.first(x))": "hidden = self.first(x).relu()", "self.second(y)": "self.second(hidden)"},
    """
    import torch
    from module import Net

    def build(device):
        return Net().to(device)

    def cases(device, seed):
        return [(torch.randn(32, 64, device=device),), (torch.randn(16, 64, device=device),)]
    """,
)
RANDOM = Subject(
    """
    import torch

    class Noisy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.zeros(32))

        def forward(self, x):
            y = x + torch.randn_like(x) * 0.1
            self.mean.mul_(0.9).add_(0.1 * y.detach().mean(0))
            x.add_(1.0)
            return torch.nn.functional.dropout(y, 0.5) - self.mean
    """,
    {"y = x +": "noisy = x +", "y.detach": "noisy.detach", "dropout(y": "dropout(noisy"},
    """
    import torch
    from module import Noisy

    def build(device):
        return Noisy().to(device)

    def cases(device, seed):
        return [(torch.randn(64, 32, device=device),)]
    """,
)
FASTER = Subject(
    """
    def f(x):
        for _ in range(26):
            x = x.roll(1)
        return x
    """,
    {"range(26)": "range(20)", "x = x.roll(1)\n        return x": "x = x.roll(1)\n        return x.roll(6)"},
    """
    import torch
    from module import f

    def build(device):
        return f

    def cases(device, seed):
        return [(torch.randn(4096, device=device),)]
    """,
    Ruling.PROVEN,
)
SUBJECTS = {"small": SMALL, "trained": TRAINED, "random": RANDOM, "faster": FASTER}


def prove_subject(subject: Subject, backend: str, cache: Path) -> Verdict:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before, after, scenario = (textwrap.dedent(text) for text in (subject.module, subject.after, subject.scenario))
        (folder / "module.py").write_text(before)
        (folder / "scenario.py").write_text(scenario)
        sides = Sides(folder, {"module.py": before.encode()}, {"module.py": after.encode()})
        settings = Settings(device="cpu", python=sys.executable, backend=backend)
        return prove(read_scenario(str(folder / "scenario.py"), folder), sides, settings, cache=cache)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--subject", choices=SUBJECTS, action="append")
    given = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as cache:
        for name in given.subject or SUBJECTS:
            subject, rulings = SUBJECTS[name], Counter[str]()
            for number in range(given.times):
                started = time.monotonic()
                verdict = prove_subject(subject, given.backend, Path(cache))
                rulings[verdict.ruling.value] += 1
                wrong += verdict.ruling is not subject.wanted
                took, load = time.monotonic() - started, os.getloadavg()[0]
                print(f"{name} {number + 1}: {took:.0f} s, load {load:.1f}: {verdict.ruling.value}: {verdict.sentence}")
                sys.stdout.flush()
            print(f"{name}: {dict(rulings)}, wanted {subject.wanted.value}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
