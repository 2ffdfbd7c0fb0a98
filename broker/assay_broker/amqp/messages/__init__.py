"""Messages and their outcomes on the wire."""
