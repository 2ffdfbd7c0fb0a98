"""Administration by IBM MQ's REST interface; serves the reference broker and the real product."""
