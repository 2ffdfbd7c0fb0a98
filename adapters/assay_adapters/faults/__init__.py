"""Faults on the wire: the proxy, taps on the SDK's driver, and the two halves of an injection."""
