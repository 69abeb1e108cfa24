"""The program that `fullgraph observe` watches: one model, compiled without a backend, called as in the bench."""

from __future__ import annotations

import sys

import torch

from zoo.entries import ENTRIES


def main(name: str) -> None:
    subject = ENTRIES[name].make()
    compiled = torch.compile(subject.model, backend="eager")
    with torch.no_grad():
        for call in subject.calls:
            compiled(**call)


if __name__ == "__main__":
    main(sys.argv[1])
