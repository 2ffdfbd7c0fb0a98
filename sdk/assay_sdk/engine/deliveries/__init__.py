"""Deliveries: passing them to listeners, acknowledgement modes, and the limit for poison messages."""
