"""Faults of a broker's process and connections: the proxy, and injections."""
