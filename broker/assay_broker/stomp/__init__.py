"""The STOMP server: versions 1.0, 1.1 and 1.2 in front of the queue manager.

`assay_sdk.stomp` reads and writes frames.  In this package, `sockets` does the I/O, `session` and the modules that it
uses turn frames into the queue manager's commands, and `conversion` translates messages.
"""
