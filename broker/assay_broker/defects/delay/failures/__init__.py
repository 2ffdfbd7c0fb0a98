"""Defects in the broker's reaction when a delayed delivery fails, and in its reports."""
