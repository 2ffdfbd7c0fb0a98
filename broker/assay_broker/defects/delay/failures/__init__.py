"""Defects in what the broker does when a delayed delivery fails, and in its reports."""
