"""Mixed precision: where autocast begins and ends."""
