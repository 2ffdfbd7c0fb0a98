"""A client of a product's REST interface: reads and changes the broker's objects by their paths, in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from assay_adapters.brokers.http import Answer, HttpServer, NoAnswerError
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Outcome, Refused, refused

T = TypeVar("T")

_HEADERS = {"Content-Type": "application/json"}
_REFUSED_LOGINS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_SHOWN = 200
"""The largest number of characters of an answer that a refusal quotes."""


class Path(Struct, frozen=True):
    """The path of an object, or of an operation on an object.

    Args:
        kind: The object's kind, for the refusal if the broker has no such object.
        name: The object's name, for the same refusal.
        names: The segments of the path, without percent-encoding.
    """

    kind: str
    name: str
    names: tuple[str, ...]


class Rest:
    """A client of a broker's REST interface, which reads and changes the broker's objects by their paths.

    Each method returns a refusal if the broker refuses or does not answer.

    Args:
        server: The HTTP server in the broker's process.
        title: The product's short name, for refusals.
        root: The beginning of all paths.
        quoted: How many times the broker decodes the percent-encoding of a name in a path; the client encodes the name
            as many times.
    """

    def __init__(self, server: HttpServer, *, title: str, root: str, quoted: int = 1) -> None:
        self._server = server
        self._title = title
        self._root = root
        self._quoted = quoted

    def read(self, shape: type[T], path: Path, query: Mapping[str, str] | None = None) -> Outcome[T]:
        """Read the object at a path, and return it as a value of type `shape`.

        Args:
            shape: The type of the answer.
            path: The path.
            query: The parameters in the URL.
        """
        octets = self.octets(path, query)
        if isinstance(octets, Refused):
            return octets
        try:
            return Ok(msgspec.json.decode(octets.value, type=shape))
        except ValueError as error:  # also a UnicodeDecodeError, which is not a DecodeError of msgspec
            return Refused(JmsErrorKind.MESSAGING, f"the answer of {self._title} cannot be read: {error}")

    def octets(self, path: Path, query: Mapping[str, str] | None = None) -> Outcome[bytes]:
        """Read the object at a path, and return the octets of the answer's body."""
        answered = self._ask("GET", path, query=query)
        return answered if isinstance(answered, Refused) else Ok(answered.value.body)

    def change(self, method: str, path: Path, body: Mapping[str, object] | None = None) -> Outcome[None]:
        """Send a request that changes the object at a path, and ignore the answer's body.

        Args:
            method: The HTTP method.
            path: The path.
            body: The request's body; None for no body.
        """
        answered = self._ask(method, path, None if body is None else msgspec.json.encode(body))
        return answered if isinstance(answered, Refused) else Ok(None)

    def _ask(
        self, method: str, path: Path, body: bytes | None = None, query: Mapping[str, str] | None = None
    ) -> Outcome[Answer]:
        line = "/".join((self._root, *map(self._in_path, path.names)))
        asked = f"{line}?{urlencode(query)}" if query else line
        try:
            answered = self._server.ask(method, asked, body, _HEADERS)
        except NoAnswerError as error:
            return Refused(JmsErrorKind.MESSAGING, f"the broker does not answer its administrator: {error}")
        if answered.status in _REFUSED_LOGINS:
            text = f"{self._title} refuses the kit's administrator (HTTP {answered.status})"
            return Refused(JmsErrorKind.SECURITY, text)
        if answered.status == HTTPStatus.NOT_FOUND:
            return refused(Mqrc.UNKNOWN_OBJECT_NAME, f"{self._title} has no {path.kind} {path.name}", path.name)
        if answered.status >= HTTPStatus.BAD_REQUEST:
            why = answered.body.decode(errors="replace")[:_SHOWN]
            text = f"{self._title} refuses {method} {line} (HTTP {answered.status}): {why}"
            return Refused(JmsErrorKind.MESSAGING, text)
        return Ok(answered)

    def _in_path(self, name: str) -> str:
        for _ in range(self._quoted):
            name = quote(name, safe="")
        return name
