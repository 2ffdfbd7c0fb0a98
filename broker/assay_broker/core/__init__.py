"""The logic of a queue manager, which turns commands and the time into effects; no socket, thread or clock (I-5)."""
