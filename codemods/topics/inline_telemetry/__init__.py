"""Telemetry that stands inside compute."""
