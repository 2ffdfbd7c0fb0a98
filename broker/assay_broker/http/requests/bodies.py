"""The bodies of messages: read from requests within limits, and written to answers."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Generator
from contextlib import contextmanager

from starlette.requests import Request
from starlette.responses import Response

from assay_broker.core.messages.descriptor import Described
from assay_broker.http.limits import HttpLimits
from assay_broker.http.requests.descriptor import Version, answer_headers, shown_id
from assay_broker.http.requests.problems import Faults, HttpProblem
from assay_sdk.amqp.codec import decode
from assay_sdk.amqp.types import DecodeError
from assay_sdk.model.message import Message

_TEXTS = frozenset({"application/json", "application/xml"})
_OCTETS = "application/octet-stream"


class Bodies:
    """The limit on the bodies of all requests under way together.

    Args:
        limits: The limits of the listener.
    """

    def __init__(self, limits: HttpLimits) -> None:
        self._limits = limits
        self._held = 0

    @contextmanager
    def reading(self) -> Generator[BodyReader, None, None]:
        """Yield a reader for one request's body, and release the reader's octets at the end of the ``with`` block."""
        reader = BodyReader(self, self._limits)
        try:
            yield reader
        finally:
            self._held -= reader.held

    def take(self, octets: int) -> None:
        """Reserve octets for a part of a body.

        Raises:
            HttpProblem: The bodies of all requests under way would exceed the limit.
        """
        if self._held + octets > self._limits.bodies:
            text = f"The bodies of all requests under way have more than {self._limits.bodies} octets."
            raise HttpProblem(Faults.BUSY, text, headers={"Retry-After": "1"})
        self._held += octets


class BodyReader:
    """The reader of one request's body.

    Args:
        bodies: The limit on the bodies of all requests.
        limits: The limits of the listener, with the limit on one body.
    """

    def __init__(self, bodies: Bodies, limits: HttpLimits) -> None:
        self._bodies = bodies
        self._limits = limits
        self.held = 0
        """The octets that the reader has reserved."""

    async def read(self, request: Request) -> bytes:
        """Read the whole body of a request.

        Raises:
            HttpProblem: The body is too long or late, or the bodies of all requests exceed their limit.
            ClientDisconnect: The client has disconnected.
        """
        announced = request.headers.get("content-length", "")
        if announced.isdecimal() and (
            len(announced) > len(str(self._limits.body)) or int(announced) > self._limits.body
        ):
            raise self._too_long()
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(self._limits.exchange_ms / 2_000):
                async for part in request.stream():
                    self._bodies.take(len(part))
                    self.held += len(part)
                    if self.held > self._limits.body:
                        raise self._too_long()
                    parts.append(part)
        except TimeoutError:
            text = f"The body did not arrive within {self._limits.exchange_ms // 2} ms."
            raise HttpProblem(Faults.SLOW, text, headers={"Connection": "close"}) from None
        return b"".join(parts)

    def _too_long(self) -> HttpProblem:
        return HttpProblem(
            Faults.TOO_LONG, f"The body has more than {self._limits.body} octets.", headers={"Connection": "close"}
        )


def message_body(request: Request, octets: bytes) -> str | bytes:
    """Return a request's body as a message's body: octets for ``application/octet-stream``, else text.

    Raises:
        HttpProblem: The content type is neither text, JSON, XML nor octets, or the text is not UTF-8.
    """
    media_type, _, rest = request.headers.get("content-type", "text/plain").partition(";")
    media_type = media_type.strip().lower()
    if media_type == _OCTETS:
        return octets
    if not media_type.startswith("text/") and media_type not in _TEXTS:
        raise HttpProblem(
            Faults.MEDIA_TYPE, f"A message is text or octets; the content type {media_type[:60]!a} is neither."
        )
    for parameter in rest.split(";"):
        name, _, value = parameter.strip().lower().partition("=")
        if name == "charset" and value.strip('"') not in {"utf-8", "utf8", "us-ascii"}:
            raise HttpProblem(Faults.CHARACTERS, f"The text must be in UTF-8, not {value[:40]!a}.")
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        raise HttpProblem(Faults.CHARACTERS, f"The body is not UTF-8 at octet {error.start}.") from error


def content(message: Message) -> str | bytes:
    """Return a message's body as text or octets.

    If the body is of another kind, return the message's encoded AMQP sections.
    """
    if message.body is not None:
        return message.body
    if message.encoded is None:
        return ""
    try:
        body = decode(message.encoded).message.body
    except DecodeError:
        body = None
    return message.encoded if body is None else body


def message_answer(version: Version, described: Described, limits: HttpLimits) -> Response:
    """Create the response with a message's body, and with its descriptor in headers."""
    body = content(described.message)
    headers = answer_headers(version, described, limits.head // 2)
    if isinstance(body, bytes):
        return Response(body, media_type=_OCTETS, headers=headers)
    return Response(body.encode(errors="replace"), headers=headers | {"Content-Type": "text/plain; charset=utf-8"})


def summary(version: Version, described: Described) -> dict[str, object]:
    """Return a message's entry in a list of messages (IBM MQ, ``/messagelist``)."""
    fields = described.descriptor
    return {
        "messageId": shown_id(version, fields["MsgId"]),
        "correlationId": shown_id(version, fields["CorrelId"]),
        "format": str(fields["Format"]),
    }


def whole(version: Version, described: Described) -> dict[str, object]:
    """Return a whole message for an answer in JSON.  This answer is an extension of the kit, for administrators."""
    body = content(described.message)
    return summary(version, described) | {
        "descriptor": described.descriptor,
        "headers": list(described.headers),
        "properties": {
            name: b64encode(value).decode() if isinstance(value, bytes) else value
            for name, value in described.message.properties.items()
        },
        "body": b64encode(body).decode() if isinstance(body, bytes) else body,
        "bodyEncoding": "base64" if isinstance(body, bytes) else "text",
    }
