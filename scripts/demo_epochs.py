"""One side of the demo's timing: for each line of input, one epoch; its CPU seconds and its losses are the answer.

Run in a copy of `fixtures/quick`, with `PYTHONPATH=src`. The arguments are those of `sprout.train`.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import astuple

import torch
from sprout.train import parse_args  # type: ignore[import-not-found]
from sprout.vectorized import VectorizedTrainer  # type: ignore[import-not-found]


def main() -> None:
    config = parse_args()
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)
    trainer = VectorizedTrainer(config)
    for _ in sys.stdin:
        started = time.process_time()
        stats = trainer.run_epoch()
        print(json.dumps([time.process_time() - started, astuple(stats)]), flush=True)


if __name__ == "__main__":
    main()
