"""The scripts that measure."""
