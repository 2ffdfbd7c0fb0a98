"""Messages in SEND and MESSAGE frames: headers, bodies and destinations, for the server and clients."""

from assay_sdk.stomp.messages.conversion import RESERVED, read_message, write_message
from assay_sdk.stomp.messages.destinations import OWN_PREFIXES, PREFIXES, written
from assay_sdk.stomp.messages.table import TABLE, Row

__all__ = ["OWN_PREFIXES", "PREFIXES", "RESERVED", "TABLE", "Row", "read_message", "write_message", "written"]
