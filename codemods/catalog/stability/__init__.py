"""What keeps compiled code reliable: counted calls, boundaries around outputs, compilation behind flags."""
