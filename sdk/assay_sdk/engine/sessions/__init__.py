"""Sessions with their producers, consumers and units of work."""
