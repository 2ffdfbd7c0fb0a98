"""The text for a client whose command failed because of a bug in the broker; the broker's log has the details."""

MISTAKE = "The broker has made a mistake; its log says which"
"""A sentence without its full stop; callers add the full stop where they need one."""
