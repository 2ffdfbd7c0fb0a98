"""Implementations of the `Client` port: our SDK in each face, later vendors' clients."""
