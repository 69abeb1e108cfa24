"""From a place in the project to the codemod that fires there, its settings, and how the ticket's own fix compares."""
