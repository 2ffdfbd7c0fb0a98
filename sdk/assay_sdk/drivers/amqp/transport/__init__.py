"""The socket of an AMQP connection: SASL, tracing, and fields of frames that Proton cannot set."""
