"""Errors of STOMP connections.

::

    StompError
    ├── RemoteError   the peer broke the protocol or a limit; the connection must end
    ├── ContentError  a header or the body of a message is not valid
    └── LocalError    this program asked for a frame that the protocol does not allow; nothing was written
"""

from __future__ import annotations

from assay_sdk.model.reasons import Mqrc


class StompError(Exception):
    """A frame is not valid, or the state of the connection does not allow it.

    Args:
        text: One sentence without its full stop, which names the fault and its place.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class RemoteError(StompError):
    """The peer broke the protocol or a limit.  The input cannot be read any further.

    Args:
        text: One sentence without its full stop, for the peer.
        receipt: The receipt that the faulty frame asks for; None if it asks for none, or if its headers are not known.
        is_limit: Whether the frame is valid, but exceeds a limit.
    """

    def __init__(self, text: str, receipt: str | None = None, *, is_limit: bool = False) -> None:
        super().__init__(text)
        self.receipt = receipt
        self.is_limit = is_limit


class ContentError(StompError):
    """A header or the body of a SEND or MESSAGE is not valid.

    Args:
        text: One sentence without its full stop, which names the header or the body.
        mqrc: The reason code.
    """

    def __init__(self, text: str, mqrc: Mqrc = Mqrc.OPTIONS_ERROR) -> None:
        super().__init__(text)
        self.mqrc = mqrc


class LocalError(StompError):
    """This program asked for a frame that the protocol does not allow, and nothing was written."""
