"""Settings of torch that repair breaks: what needs one, which request compiles it, and how the setting is written."""
