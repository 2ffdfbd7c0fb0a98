"""The STOMP server: versions 1.0, 1.1 and 1.2 in front of the queue manager.

`assay_sdk.stomp` reads and writes frames.  Of this package, `sockets` does the I/O, `session` and the modules below it
turn frames into the queue manager's commands, and `conversion` says what becomes of each part of a message.
"""
