"""Defects of delayed messages in networks of several queue managers."""
