"""Which code has run at all: since Python 3.12 every code object can tell once that it starts, for next to nothing."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

monitoring: Any = getattr(sys, "monitoring", None)

TOOLS = (4, 3)
"""Of the numbers that Python hands out to tools, those that belong to no kind of tool."""

LIBRARY = os.path.dirname(os.__file__)


class Starts:
    """File and first line of the functions that have started, but for Python's own.

    `is_listening`: whether they are all. Before Python 3.12, and where others have taken the numbers, none is heard of.
    """

    def __init__(self) -> None:
        self.seen: set[tuple[str, int]] = set()
        self.is_listening = False

    def listen(self) -> None:
        tool = next((one for one in TOOLS if monitoring.get_tool(one) is None), None) if monitoring else None
        if tool is not None:
            monitoring.use_tool_id(tool, "fullgraph")
            monitoring.register_callback(tool, monitoring.events.PY_START, self.see)
            monitoring.set_events(tool, monitoring.events.PY_START)
            self.is_listening = True

    def see(self, code: CodeType, offset: int) -> Any:
        """Calls no Python: it may happen in the middle of compiled code."""
        if "<" not in code.co_name and not code.co_filename.startswith(LIBRARY):
            self.seen.add((code.co_filename, code.co_firstlineno))
        return monitoring.DISABLE
