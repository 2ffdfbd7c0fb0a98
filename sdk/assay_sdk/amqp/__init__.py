"""AMQP 1.0's encodings, for clients and brokers: types, message sections, frames and names.

These modules only transform octets, and do not use Proton.
"""
