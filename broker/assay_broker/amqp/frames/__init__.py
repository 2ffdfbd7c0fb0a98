"""The frames of AMQP: functions that read, check, complete and write performatives.

The modules contain only functions and values, and use neither the engine nor a socket.
"""
