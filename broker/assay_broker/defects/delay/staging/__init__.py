"""Defects of messages on the staging queue, and of the processor that moves them to their targets."""
