"""Outputs of compiled calls that outlive their step, and the boundary that copies them."""
