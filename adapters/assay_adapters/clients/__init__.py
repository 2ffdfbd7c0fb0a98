"""Implementations of the `Client` port: our SDK in each of its faces."""
