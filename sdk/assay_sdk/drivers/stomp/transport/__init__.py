"""The connection to the broker: its socket, TLS on a thread of stomp.py, and heart-beats."""
