"""The small languages in tickets, whatever file they stand in: severities, statuses, references, snippets, verdicts."""
