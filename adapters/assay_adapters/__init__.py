"""Ports to clients and brokers under test, the brokers and clients behind them, faults and containers."""
