"""Journals, claims and verdicts: what was seen, what was claimed of it, and what follows."""
