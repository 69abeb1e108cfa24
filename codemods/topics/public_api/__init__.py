"""Names of torch that were private or have been deprecated, and the public ones that took their place."""
