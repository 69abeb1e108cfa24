"""Programs that break graphs: rewritten, run before and after, plain and compiled, and compared in everything."""
