"""The objects of a queue manager: kinds, attributes, definitions."""
