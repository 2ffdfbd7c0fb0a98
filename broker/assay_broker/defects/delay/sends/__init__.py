"""Defects in the checks of a delayed send."""
