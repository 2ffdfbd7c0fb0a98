"""Queues: resolution of names, checks, placement, delivery and settlement of messages."""
