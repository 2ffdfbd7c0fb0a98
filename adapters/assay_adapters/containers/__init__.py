"""Brokers in containers: their start and removal, search in their files, and their faults."""
