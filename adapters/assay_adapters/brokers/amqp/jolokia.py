"""A client of Jolokia: the MBeans of a Java process over HTTP, in JSON."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import Struct

from assay_adapters.brokers.http import HttpServer, NoAnswerError
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Outcome, Refused, refused

_HEADERS = {"Content-Type": "application/json", "Origin": "http://localhost"}
"""Jolokia in Artemis's console refuses requests without an origin."""
_UNKNOWN = "javax.management.InstanceNotFoundException"


class _Answer(Struct, frozen=True):
    status: int
    value: Any = None
    error: str = ""
    error_type: str = ""


class Jolokia:
    """The MBeans of a broker.

    Args:
        server: The HTTP server in the broker's process.
        path: The path of Jolokia.
    """

    def __init__(self, server: HttpServer, path: str) -> None:
        self._server = server
        self._path = path

    def read(self, mbean: str, attribute: str) -> Outcome[Any]:
        """Return an attribute of an MBean."""
        return self._ask({"type": "read", "mbean": mbean, "attribute": attribute})

    def run(self, mbean: str, operation: str, *arguments: str | bool | int) -> Outcome[Any]:
        """Run an operation of an MBean, and return its value.

        Args:
            mbean: The MBean's name.
            operation: The operation; with the types of its parameters in brackets if it has several forms.
            arguments: The arguments.
        """
        return self._ask({"type": "exec", "mbean": mbean, "operation": operation, "arguments": list(arguments)})

    def search(self, pattern: str) -> Outcome[tuple[str, ...]]:
        """Return the names of all MBeans that match a pattern, in alphabetical order."""
        found = self._ask({"type": "search", "mbean": pattern})
        return found if isinstance(found, Refused) else Ok(tuple(sorted(map(str, found.value))))

    def _ask(self, request: dict[str, object]) -> Outcome[Any]:
        mbean = str(request["mbean"])
        try:
            answered = self._server.ask("POST", self._path, msgspec.json.encode(request), _HEADERS)
        except NoAnswerError as error:
            return Refused(JmsErrorKind.MESSAGING, f"the broker does not answer its administrator: {error}")
        if answered.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            text = f"Jolokia refuses the kit's administrator (HTTP {answered.status})"
            return Refused(JmsErrorKind.SECURITY, text)
        try:
            answer = msgspec.json.decode(answered.body, type=_Answer)
        except msgspec.DecodeError as error:
            text = f"Jolokia's answer cannot be read (HTTP {answered.status}): {error}"
            return Refused(JmsErrorKind.MESSAGING, text)
        if answer.status == HTTPStatus.OK:
            return Ok(answer.value)
        if answer.error_type == _UNKNOWN:
            return refused(Mqrc.UNKNOWN_OBJECT_NAME, f"the broker has no MBean {mbean}", mbean)
        text = answer.error or f"Jolokia answers with status {answer.status}"
        return Refused(JmsErrorKind.MESSAGING, text, objects=(mbean,))


def quoted(text: str) -> str:
    r"""Return a text as a quoted value in an MBean's name: in quotation marks, with ``\`` before special characters."""
    escaped = "".join(f"\\{character}" if character in '"*?\\' else character for character in text)
    return f'"{escaped}"'
