"""Defects of storage: what a restart changes or loses, and what the store refuses."""
