"""Listeners and sockets of clients: what the AMQP server and the STOMP server have in common."""
