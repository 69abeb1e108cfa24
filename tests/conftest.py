"""What tests measure on the way is said at the end of the run, also when it was spread over processes."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")
"""What passes today passes tomorrow. `pytest --hypothesis-profile default` looks for what nobody has tried yet."""


@pytest.fixture(scope="session", autouse=True)
def apart(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The user's own cache is not filled with projects that are gone after the test."""
    os.environ.setdefault("FULLGRAPH_CACHE", str(tmp_path_factory.mktemp("cache")))


def pytest_configure() -> None:
    """A shell lets what it runs in the background ignore Ctrl-C, and commands that tests stop would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            terminalreporter.write_line(f"{name}: {value}")
