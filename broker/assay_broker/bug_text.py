"""The text for a client whose command failed because of a bug in the broker; the broker's log has the stack trace."""

BUG = "The broker has a bug: find the stack trace in the broker's log, and report it to the broker's authors"
"""A sentence without its full stop; callers add the full stop where they need one."""
