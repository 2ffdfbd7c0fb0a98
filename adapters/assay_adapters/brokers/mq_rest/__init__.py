"""Administration by IBM MQ's REST interface, for the reference broker and the real product."""
