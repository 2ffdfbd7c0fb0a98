"""Defects of delayed messages where there are several queue managers."""
