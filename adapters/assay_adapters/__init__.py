"""Interfaces to clients and brokers under test, their implementations, faults and containers."""
