"""What tests measure on the way is said at the end of the run, also when it was spread over processes."""

from __future__ import annotations

import signal

import pytest


def pytest_configure() -> None:
    """A shell lets what it runs in the background ignore Ctrl-C, and commands that tests stop would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            terminalreporter.write_line(f"{name}: {value}")
