"""The queue manager as a pure machine: commands and time in, effects out; no socket, thread or clock (I-5)."""
