"""Taken before user code runs, which may replace it."""

from __future__ import annotations

open_file = open
