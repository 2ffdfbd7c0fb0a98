"""The MQ Light client: it reconnects by itself, and attaches its subscriptions again."""
