"""Defects of storage: changes and losses by a restart, and refusals of the store."""
