"""How much memory the process takes on the host."""

from __future__ import annotations

import contextlib
import os
import sys

from ..process.own import open_file

STATUS = "/proc/self/status"
FORGET = "/proc/self/clear_refs"
FORGET_PEAK = "5"


class Resident:
    """The growth of the process's peak since it was last reset."""

    def __init__(self) -> None:
        self._resets = False
        self._before: int | None = None

    def reset(self) -> None:
        """On Linux the kernel forgets the old peak; elsewhere only what goes beyond it is seen."""
        self._resets = False
        with contextlib.suppress(OSError), open_file(FORGET, "w", encoding="ascii") as file:
            file.write(FORGET_PEAK)
            self._resets = True
        self._before = read_status("VmRSS") if self._resets else highest()

    def peak(self) -> int | None:
        now = read_status("VmHWM") if self._resets else highest()
        return None if now is None or self._before is None else max(0, now - self._before)


def read_status(field: str) -> int | None:
    """Bytes, as the kernel tells them."""
    with contextlib.suppress(OSError, ValueError), open_file(STATUS, encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return None


def highest() -> int | None:
    """The peak since the process began; macOS tells bytes, others kilobytes; Windows nothing."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def total() -> int | None:
    """Memory of the machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
