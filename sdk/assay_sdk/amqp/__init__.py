"""Parts of AMQP 1.0 for both ends of a connection: types, message sections, frames and names.

These modules only transform octets, and do not use proton.
"""
