"""What each codemod knows about its subject, apart from the codemod that uses it."""
