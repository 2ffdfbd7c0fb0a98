"""What the server does for a request: MQSC commands, messages, metrics, the status page."""
