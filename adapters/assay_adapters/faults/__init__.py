"""Faults on the connection: the proxy, and injections."""
