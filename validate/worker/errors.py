"""What the user can act on, as it crosses the border of the process."""

from __future__ import annotations


class UserError(Exception):
    """The scenario, the device or the python cannot be used; the text says the way out.

    `kind`: scenario, device, torch, error.
    """

    def __init__(self, text: str, kind: str = "scenario") -> None:
        super().__init__(text)
        self.kind = kind
