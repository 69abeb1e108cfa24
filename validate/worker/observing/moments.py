"""When something happened that happens too often to keep every moment."""

from __future__ import annotations

from typing import Any

BINS = 256


class Moments:
    """Counts in equal bins from the first moment on. When the run outgrows them, two become one."""

    def __init__(self) -> None:
        self.start = 0.0
        self.width = 0.001
        self.counts = [0] * BINS

    def add(self, at: float) -> None:
        self.start = self.start or at
        while at - self.start >= self.width * BINS:
            self.counts = [sum(self.counts[one : one + 2]) for one in range(0, BINS, 2)] + [0] * (BINS // 2)
            self.width *= 2
        self.counts[int((at - self.start) / self.width)] += 1

    def tell(self) -> dict[str, Any]:
        return {"start": self.start, "width": self.width, "counts": self.counts}
