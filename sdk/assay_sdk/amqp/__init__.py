"""What both ends of an AMQP 1.0 connection share: types, message sections, frames and names.

These modules only transform octets, and do not use proton.
"""
