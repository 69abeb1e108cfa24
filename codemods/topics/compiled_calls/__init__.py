"""Counting the calls of compiled code: where a counter can stand, its name, the file that counts and its test."""
