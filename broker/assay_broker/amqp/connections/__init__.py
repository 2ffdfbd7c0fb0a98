"""The AMQP connections of clients: their sockets, logins, states and sessions."""
