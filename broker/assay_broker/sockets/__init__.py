"""The base classes of the AMQP server's and the STOMP server's listeners and sockets."""
