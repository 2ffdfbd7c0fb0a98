"""The handlers of requests: MQSC commands, messages, metrics, the status page."""
