"""Tickets in JSON: lists of findings, SARIF, and issues as GitHub exports them."""
