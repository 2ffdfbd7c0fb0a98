"""Faults of clients and refusals of the queue manager, and the ERROR frames that report them.

An ERROR has the headers ``message`` (a short description), ``mqrc`` (IBM MQ's reason code), ``mqrc-objects`` (the names
of the objects at fault, if there are any) and ``receipt-id`` (if the frame at fault asks for a receipt).  An error
of JMS that has no reason code, such as a client id in use, has ``mqrc`` 2195 and its kind in ``error-kind``.  The body
is the description as one sentence.
"""

from __future__ import annotations

from assay_sdk.model.reasons import Mqrc, Refused
from assay_sdk.stomp import ContentError, Frame, RemoteError, Version
from assay_sdk.stomp.extensions import ERROR_KIND

_SHOWN = 400
_MOST_RECEIPT = 1_024


class FaultError(Exception):
    """The reason for an ERROR: a fault of the client, a refusal, an error of the server, or the server's stop.

    The server ends the connection after the ERROR, except where `SessionContext.open_error` reports the fault.

    Args:
        text: One sentence without its full stop, for the client.
        mqrc: The reason code.
        objects: The names of the objects at fault.
        headers: Further headers of the ERROR.
        receipt: The receipt that the frame at fault asks for; None if it asks for none, or if the code that handles the
            error knows the receipt.
    """

    def __init__(
        self,
        text: str,
        mqrc: int = Mqrc.OPTIONS_ERROR,
        objects: tuple[str, ...] = (),
        headers: dict[str, str] | None = None,
        receipt: str | None = None,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.mqrc = mqrc
        self.objects = objects
        self.headers = headers or {}
        self.receipt = receipt


def of_refusal(why: Refused, receipt: str | None = None) -> FaultError:
    """Return the fault for a refusal of the queue manager.

    Args:
        why: The refusal.
        receipt: The receipt that the refused frame asks for; None if it asks for none.
    """
    text = why.text.rstrip(".")
    if why.mqrc is None:
        headers = {ERROR_KIND: why.kind.value}
        return FaultError(text, Mqrc.UNEXPECTED_ERROR, why.objects, headers, receipt)
    label = Mqrc(why.mqrc).label
    return FaultError(text if label in text else f"{label}: {text}", why.mqrc, why.objects, receipt=receipt)


def of_content(error: ContentError, receipt: str | None = None) -> FaultError:
    """Return the fault for a SEND whose headers or body are not valid.

    Args:
        error: The error.
        receipt: The receipt that the frame asks for; None if it asks for none.
    """
    return FaultError(error.text, error.mqrc, receipt=receipt)


def of_protocol(error: RemoteError) -> FaultError:
    """Return the fault for a frame that breaks the protocol or a limit."""
    mqrc = Mqrc.RESOURCE_PROBLEM if error.is_limit else Mqrc.OPTIONS_ERROR
    return FaultError(error.text, mqrc, receipt=error.receipt)


def error_frame(fault: FaultError, version: Version | None) -> Frame:
    """Return the ERROR frame that reports a fault.

    Args:
        fault: The fault.
        version: The version of the connection; None before its negotiation.
    """
    text = _plain(fault.text)
    headers = {"message": text[:_SHOWN], "mqrc": str(int(fault.mqrc)), "content-type": "text/plain"}
    if fault.objects:
        headers["mqrc-objects"] = _plain(",".join(fault.objects))[:_SHOWN]
    receipt = fault.receipt
    if receipt is not None and len(receipt) <= _MOST_RECEIPT:
        headers["receipt-id"] = receipt if version is not None and version.escapes else _plain(receipt)
    return Frame("ERROR", {**fault.headers, **headers}, f"{text}.\n".encode())


def _plain(text: str) -> str:
    """Return a text that every version can write: without control characters and lone surrogates."""
    return "".join(letter if letter.isprintable() else "?" for letter in text.encode(errors="replace").decode())
