"""Containers of brokers: their start and removal, files inside them, and faults done to them."""
