"""The connection by stomp.py: its thread, the hand-over to the runner, and heart-beats."""
