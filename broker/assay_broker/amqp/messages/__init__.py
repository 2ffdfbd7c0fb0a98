"""The encoding of messages, addresses and outcomes on the wire."""
