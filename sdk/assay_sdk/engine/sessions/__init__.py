"""Sessions, and their producers, consumers and units of work."""
