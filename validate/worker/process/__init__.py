"""What holds for a whole process: the overlay, lines that ran, how it begins and ends."""
