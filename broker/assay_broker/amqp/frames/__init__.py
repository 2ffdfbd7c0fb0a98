"""The frames of AMQP: functions that read, check, complete and write performatives.

The modules use neither the engine nor a socket.
"""
