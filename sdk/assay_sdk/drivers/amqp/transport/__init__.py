"""The socket below proton's engine: TLS, SASL, and fields of frames that the engine cannot set."""
