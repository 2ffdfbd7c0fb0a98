"""Conversion of ERROR frames to refusals.

The reference broker sends the headers ``mqrc``, ``mqrc-objects`` and, for an error of JMS without a reason code,
``error-kind``.  Other brokers send only a text, so `WORDS` finds the kind of the most important errors in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused
from assay_sdk.stomp import Frame
from assay_sdk.stomp.extensions import ERROR_KIND

WORDS: Mapping[str, JmsErrorKind] = {
    r"already connected|client id .* in use": JmsErrorKind.INVALID_CLIENT_ID,
    r"password|credentials|not authorized|access refused|bad connect|security": JmsErrorKind.SECURITY,
    r"selector": JmsErrorKind.INVALID_SELECTOR,
    r"not found|does not exist|unknown destination|invalid destination": JmsErrorKind.INVALID_DESTINATION,
}
"""The kind of an error by a pattern in its text, for brokers that send no reason code; the first match counts."""

_SHOWN = 500
_KINDS = {kind.value: kind for kind in JmsErrorKind}


def refusal(frame: Frame, did: str = "answered with an ERROR and closed the connection") -> Refused:
    """Return the refusal that an ERROR means.

    Args:
        frame: The ERROR.
        did: What the broker did, in words that follow "the broker".
    """
    headers = frame.headers
    body = frame.body[:_SHOWN].decode(errors="replace").strip()
    lines = dict.fromkeys(filter(None, (headers.get("message"), body.partition("\n")[0])))
    said = ": ".join(lines) or "no reason given"
    text = f"the broker {did}: {said[:_SHOWN]}"
    objects = tuple(filter(None, headers.get("mqrc-objects", "").split(",")))
    kind = _KINDS.get(headers.get(ERROR_KIND, ""))
    if kind is not None:
        return Refused(kind, text, objects=objects)
    number = headers.get("mqrc", "")
    if number.isascii() and number.isdigit():
        try:
            return refused(Mqrc(int(number)), text, *objects)
        except ValueError:  # `Mqrc` lacks the reason code; the refusal still has the number
            return Refused(JmsErrorKind.MESSAGING, text, mqrc=int(number), objects=objects)
    everything = f"{said} {body}"
    found = (kind for words, kind in WORDS.items() if re.search(words, everything, re.IGNORECASE))
    return Refused(next(found, JmsErrorKind.MESSAGING), text, objects=objects)
