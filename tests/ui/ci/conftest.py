"""Fixtures of all tests of `ci`."""

from tests.ui.ci.jobs import alone, repository

__all__ = ["alone", "repository"]
