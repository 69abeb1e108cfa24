"""What code may change when it runs, followed through the project."""
