"""Faults on the connection: the proxy, taps on the SDK's driver, and injections."""
