"""When the scenario is a test of the user's: pytest runs it, and each test is a case."""
