"""Values that the client and the broker share: destinations, messages, selectors, reason codes, capabilities."""
