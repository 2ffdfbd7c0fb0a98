"""Defects of messages that wait on the staging queue, and of their way from there."""
