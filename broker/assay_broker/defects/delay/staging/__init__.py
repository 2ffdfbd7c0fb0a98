"""Defects of messages on the staging queue, and of their release to their targets."""
