"""Interfaces for the suite: client, backend, administration and faults (values and protocols only)."""
