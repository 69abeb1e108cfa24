"""What is known about classes that keep time."""
