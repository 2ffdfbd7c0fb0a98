"""Interfaces that the suite speaks to: client, backend, administration and faults (values and protocols only)."""
