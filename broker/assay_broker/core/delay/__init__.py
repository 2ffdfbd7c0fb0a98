"""Delivery delay: staged messages, the delay processor, and the release of messages."""
