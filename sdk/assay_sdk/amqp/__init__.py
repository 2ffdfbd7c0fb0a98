"""What both ends of an AMQP 1.0 connection have in common: types, message sections, frames, and names.

Pure: octets in, octets out.  It needs no proton.
"""
