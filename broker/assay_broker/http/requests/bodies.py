"""Message bodies: read from requests with limits, and written to answers."""

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
    """Reads the bodies of requests; all requests under way share one allowance of octets.

    Args:
        limits: How much there may be.
    """

    def __init__(self, limits: HttpLimits) -> None:
        self._limits = limits
        self._held = 0

    @contextmanager
    def reading(self) -> Generator[BodyReader, None, None]:
        """Return a reader for one request, and give its octets back afterwards."""
        reader = BodyReader(self, self._limits)
        try:
            yield reader
        finally:
            self._held -= reader.held

    def take(self, octets: int) -> None:
        """Reserve octets.

        Raises:
            HttpProblem: There is no room for them.
        """
        if self._held + octets > self._limits.bodies:
            text = f"The bodies of all requests under way have more than {self._limits.bodies} octets."
            raise HttpProblem(Faults.BUSY, text, headers={"Retry-After": "1"})
        self._held += octets


class BodyReader:
    """Reads one request's body.

    Args:
        bodies: The allowance of all.
        limits: That of one.
    """

    def __init__(self, bodies: Bodies, limits: HttpLimits) -> None:
        self._bodies = bodies
        self._limits = limits
        self.held = 0
        """Octets that it has reserved."""

    async def read(self, request: Request) -> bytes:
        """Read the whole body.

        Raises:
            HttpProblem: It is too long, or comes too slowly.
            ClientDisconnect: The caller has gone.
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
            text = f"The body did not come within {self._limits.exchange_ms // 2} ms."
            raise HttpProblem(Faults.SLOW, text, headers={"Connection": "close"}) from None
        return b"".join(parts)

    def _too_long(self) -> HttpProblem:
        return HttpProblem(
            Faults.TOO_LONG, f"A body has at most {self._limits.body} octets.", headers={"Connection": "close"}
        )


def message_body(request: Request, octets: bytes) -> str | bytes:
    """Return a request's body as a message's body: text, or octets for a binary content type.

    Raises:
        HttpProblem: It is of another type, or no UTF-8.
    """
    media_type, _, rest = request.headers.get("content-type", "text/plain").partition(";")
    media_type = media_type.strip().lower()
    if media_type == _OCTETS:
        return octets
    if not media_type.startswith("text/") and media_type not in _TEXTS:
        raise HttpProblem(Faults.MEDIA_TYPE, f"A message is text or octets, and {media_type[:60]!a} is neither.")
    for parameter in rest.split(";"):
        name, _, value = parameter.strip().lower().partition("=")
        if name == "charset" and value.strip('"') not in {"utf-8", "utf8", "us-ascii"}:
            raise HttpProblem(Faults.CHARACTERS, f"Text comes in UTF-8, not {value[:40]!a}.")
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        raise HttpProblem(Faults.CHARACTERS, f"The body is no UTF-8 at octet {error.start}.") from error


def content(message: Message) -> str | bytes:
    """Return a message's body: text, octets, or its AMQP sections for any other."""
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
    """Create an answer with a message's body, and its descriptor in headers."""
    body = content(described.message)
    headers = answer_headers(version, described, limits.head // 2)
    if isinstance(body, bytes):
        return Response(body, media_type=_OCTETS, headers=headers)
    return Response(body.encode(errors="replace"), headers=headers | {"Content-Type": "text/plain; charset=utf-8"})


def summary(version: Version, described: Described) -> dict[str, object]:
    """Return a message for a list (IBM MQ, ``/messagelist``)."""
    fields = described.descriptor
    return {
        "messageId": shown_id(version, fields["MsgId"]),
        "correlationId": shown_id(version, fields["CorrelId"]),
        "format": str(fields["Format"]),
    }


def whole(version: Version, described: Described) -> dict[str, object]:
    """Return a message with all fields; an extension of ours, for administrators."""
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
