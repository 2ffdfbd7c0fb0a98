"""The text that a client gets if the broker has failed by a bug of its own; the details go to the broker's log."""

MISTAKE = "The broker has made a mistake; its log says which"
"""A sentence without its full stop."""
