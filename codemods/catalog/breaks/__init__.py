"""Graph breaks that real models have: messages, branches, checks and scalars."""
