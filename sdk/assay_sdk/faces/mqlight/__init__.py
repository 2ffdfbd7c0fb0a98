"""The MQ Light face: a client of topics and shares that reconnects by itself."""
