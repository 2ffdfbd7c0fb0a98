"""The socket of an AMQP connection: TLS, SASL, tracing, and fields of frames that Proton cannot set."""
