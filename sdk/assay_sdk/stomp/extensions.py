"""The headers that the reference broker and the SDK add to STOMP; a client that does not know them may ignore them.

STOMP 1.2 lets both ends add headers. A server names its extensions in the header `EXTENSIONS` of CONNECTED, and the
client uses no other extensions.
"""

EXTENSIONS = "extensions"
"""CONNECTED: the names of the server's extensions (`OURS`), separated by commas.  CONNECT: the extensions that the
client asks for (`OPEN_ERRORS`)."""

CREDIT = "credit"
"""SUBSCRIBE: how many messages the server may send.  A subscription with this header has credit instead of a window:
each message uses up one unit of credit, and a further SUBSCRIBE with the same id adds units."""

DRAIN = "drain"
"""SUBSCRIBE for a subscription with credit: with ``true`` the server sends the waiting messages that the credit allows,
sets the credit to 0, and then sends the receipt."""

DELIVERY_FAILED = "delivery-failed"
"""NACK: with ``false`` the server takes the message back and does not count this delivery."""

ERROR_KIND = "error-kind"
"""ERROR: the kind of a JMS error that has no reason code (`assay_sdk.model.reasons.JmsErrorKind`)."""

OPEN_ERRORS = "open-errors"
"""An extension that a client asks for in the header `EXTENSIONS` of CONNECT.  With it, the server may send an ERROR
that has `CONNECTION_OPEN`: this ERROR answers one frame, or ends the subscription that its header subscription names,
and the connection stays open.  Without it, the server closes the connection after each ERROR (STOMP 1.2, ERROR), so one
refused message ends all work on the connection."""

CONNECTION, CONNECTION_OPEN = "connection", "open"
"""ERROR: the header, and its value if the connection stays open."""

AS_DEFINED = "as-defined"
"""SEND: the value of the header priority for a message with the default priority of its queue or topic (DEFPRTY)."""

OURS = f"{CREDIT},{DELIVERY_FAILED},{OPEN_ERRORS}"
"""The extensions of the reference broker."""
