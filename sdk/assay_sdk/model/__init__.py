"""Values that client and broker share: destinations, messages, selectors, reasons, capabilities."""
