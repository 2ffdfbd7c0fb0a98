"""The objects of a queue manager: their kinds, attributes and definitions."""
