"""Administrators' commands: object definitions, displays, authority, and the queue manager's own puts and gets."""
