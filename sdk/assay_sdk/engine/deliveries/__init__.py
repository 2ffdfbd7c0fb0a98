"""Deliveries of messages: feeds that pass them to listeners, acknowledgement modes, and limits for poison messages."""
