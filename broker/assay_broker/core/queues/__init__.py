"""Queues: names resolved, messages checked, placed, handed out and taken."""
