"""The queue manager as a pure machine (I-5): commands in, effects out, time given in; no socket, thread or clock."""
