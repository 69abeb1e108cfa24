"""Devices, real and made up, and what the host reads of them."""
