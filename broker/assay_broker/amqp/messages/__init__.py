"""The encoding of messages, addresses and outcomes in AMQP."""
