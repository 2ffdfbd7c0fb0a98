"""The socket under proton's engine: TLS, SASL, and what the engine cannot say by itself."""
