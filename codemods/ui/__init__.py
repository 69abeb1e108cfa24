"""What people and programs see: the command line, the review, the reporters."""
