"""The MQ Light face: topics, shared subscriptions, and a client that reconnects by itself."""
