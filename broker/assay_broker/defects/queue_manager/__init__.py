"""Defects of IBM MQ's queue manager around delayed delivery: its processor, authority, names, platforms and groups."""
