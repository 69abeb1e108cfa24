"""Being told when a module has been imported, without importing it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


class Arrivals:
    """As a finder on sys.meta_path: finds what the others find, and has an action run after the module's own code.

    The loader has its method back before that code runs, so that nobody meets it changed.
    """

    def __init__(self, actions: dict[str, Callable[[], Any]], run: Callable[[Callable[[], Any]], Any]) -> None:
        self.actions = actions
        self.run = run

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        action = self.actions.get(name)
        if action is None:
            return None
        spec = self.ask_others(name, path, target)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            self.follow(spec.loader, name, action)
        return spec

    def ask_others(self, name: str, path: Any, target: Any) -> Any:
        others = (finder for finder in list(sys.meta_path) if finder is not self and hasattr(finder, "find_spec"))
        found = (finder.find_spec(name, path, target) for finder in others)
        return next((spec for spec in found if spec is not None), None)

    def follow(self, loader: Any, name: str, action: Callable[[], Any]) -> None:
        original = loader.exec_module

        def execute(module: Any) -> None:
            del loader.exec_module
            original(module)
            if self.actions.pop(name, None) is not None:
                self.run(action)

        try:
            loader.exec_module = execute
        except AttributeError:  # a loader without attributes of its own cannot be followed
            return
