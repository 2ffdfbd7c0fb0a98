"""The engine of the MQ Light face: a client that reconnects by itself and attaches its subscriptions again."""
