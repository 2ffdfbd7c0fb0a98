"""The parts of a request: its login, body, headers and errors, and its connection to the queue manager."""
