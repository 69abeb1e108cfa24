"""Files that are written, below the folder where the program works or elsewhere."""

from tests.attack.bank import Rewrite, calls

WRITING = """\
import json
import os
import pathlib

import torch


def save(x):
    pathlib.Path("metrics.json").write_text(json.dumps({"loss": x.sum().item()}))
    return x + 1


def append(x):
    with open("log.csv", "a") as file:
        file.write(f"{len(x)},{x.sum().item()}\\n")
    return x + 1


def checkpoint(x):
    os.makedirs("out", exist_ok=True)
    torch.save({"x": x}, "out/state.pt")
    return x + 1


def clean(x):
    pathlib.Path("scratch.txt").write_text("here")
    pathlib.Path("scratch.txt").unlink()
    return x + 1
"""


def row(name: str, old: str, new: str, subject: str) -> Rewrite:
    return Rewrite(name, WRITING, {old: new}, calls(f"module.{subject}", "(torch.ones(3),)"))


ROWS = (
    row(
        "a file is not written",
        '    pathlib.Path("metrics.json").write_text(json.dumps({"loss": x.sum().item()}))\n',
        "",
        "save",
    ),
    row("a file says something else", '{"loss": x.sum().item()}', '{"loss": x.mean().item()}', "save"),
    row("a file has another name", '"metrics.json"', '"metric.json"', "save"),
    row("a file is replaced and not appended to", '"a"', '"w"', "append"),
    row("a checkpoint holds other values", '{"x": x}', '{"x": x * 2}', "checkpoint"),
    row("a file is left behind", '    pathlib.Path("scratch.txt").unlink()\n', "", "clean"),
)
ROWS = (
    *ROWS[:3],
    Rewrite(ROWS[3].name, WRITING, ROWS[3].changes, calls("module.append", "(torch.ones(3),)", "(torch.ones(2),)")),
    *ROWS[4:],
)
