"""A client of Jolokia: the MBeans of a Java process over HTTP, in JSON."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from assay_adapters.brokers.http import HttpServer, NoAnswerError
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Outcome, Refused, refused

T = TypeVar("T")

_HEADERS = {"Content-Type": "application/json", "Origin": "http://localhost"}
"""The HTTP headers of a request; Jolokia in Artemis's console refuses requests without an origin."""
_UNKNOWN = "javax.management.InstanceNotFoundException"


class _Answer(Struct, frozen=True):
    status: int
    value: Any = None
    error: str = ""
    error_type: str = ""


class Jolokia:
    """A client for the MBeans of a broker.

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
        names = found if isinstance(found, Refused) else _converted(found.value, list[str])
        return names if isinstance(names, Refused) else Ok(tuple(sorted(names.value)))

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
        except ValueError as error:  # also a UnicodeDecodeError, which is not a DecodeError of msgspec
            text = f"Jolokia's answer cannot be read (HTTP {answered.status}): {error}"
            return Refused(JmsErrorKind.MESSAGING, text)
        if answer.status == HTTPStatus.OK:
            return Ok(answer.value)
        if answer.error_type == _UNKNOWN:
            return refused(Mqrc.UNKNOWN_OBJECT_NAME, f"the broker has no MBean {mbean}", mbean)
        text = answer.error or f"Jolokia answers with status {answer.status}"
        return Refused(JmsErrorKind.MESSAGING, text, objects=(mbean,))


class Mbeans:
    """The MBeans of a broker and of its queues, found by patterns of their names.

    Args:
        jolokia: The client of Jolokia.
        title: The product's short name, for refusals.
        broker: The pattern of the broker's MBean.
        queue: Returns the pattern of a queue's MBean.
        shown: The largest number of messages that the product shows in one answer.
    """

    def __init__(self, jolokia: Jolokia, *, title: str, broker: str, queue: Callable[[str], str], shown: int) -> None:
        self.jolokia = jolokia
        self._title = title
        self._broker = broker
        self._queue = queue
        self._shown = shown

    def queue(self, name: str) -> Outcome[str]:
        """Return the name of a queue's MBean; refuse if the broker has no such queue."""
        found = self.queues(name)
        if isinstance(found, Refused):
            return found
        if not found.value:
            return refused(Mqrc.UNKNOWN_OBJECT_NAME, f"{self._title} has no queue {name}", name)
        return Ok(found.value[0])

    def queues(self, name: str) -> Outcome[tuple[str, ...]]:
        """Return the names of the MBeans for a queue's name; empty if the broker has no such queue."""
        return self.jolokia.search(self._queue(name))

    def run_on_queue(self, name: str, operation: str) -> Outcome[None]:
        """Run an operation of a queue's MBean, and ignore its value."""
        mbean = self.queue(name)
        return mbean if isinstance(mbean, Refused) else _nothing(self.jolokia.run(mbean.value, operation))

    def run_on_broker(self, operation: str, *arguments: str | bool) -> Outcome[None]:
        """Run an operation of the broker's MBean, and ignore its value."""
        return _nothing(self.ask_broker(operation, *arguments))

    def ask_broker(self, operation: str, *arguments: str | bool) -> Outcome[Any]:
        """Run an operation of the broker's MBean, and return its value."""
        found = self.jolokia.search(self._broker)
        if isinstance(found, Refused):
            return found
        if not found.value:
            text = f"{self._title} shows no broker through Jolokia: is JMX switched on?"
            return Refused(JmsErrorKind.MESSAGING, text)
        return self.jolokia.run(found.value[0], operation, *arguments)

    def decoded_from_broker(self, shape: type[T], operation: str, *arguments: str | bool) -> Outcome[T]:
        """Run an operation of the broker's MBean whose value is a text in JSON, and return the text's content.

        Args:
            shape: The type of the content.
            operation: The operation, as for `Jolokia.run`.
            arguments: The arguments.
        """
        answered = self.ask_broker(operation, *arguments)
        if isinstance(answered, Refused):
            return answered
        try:
            return Ok(msgspec.json.decode(str(answered.value), type=shape))
        except msgspec.DecodeError as error:
            return Refused(JmsErrorKind.MESSAGING, f"{self._title}'s answer to {operation} cannot be read: {error}")

    def browse(self, name: str, shape: type[list[T]]) -> Outcome[list[T]]:
        """Return the messages on a queue; none if the broker has no such queue.

        Refuse if the queue may have more messages than the product shows in one answer.

        Args:
            name: The queue's name.
            shape: The type of the messages in the product's answer.
        """
        found = self.queues(name)
        if isinstance(found, Refused):
            return found
        if not found.value:
            return Ok([])
        answered = self.jolokia.run(found.value[0], "browse()")
        if isinstance(answered, Refused):
            return answered
        messages = _converted(answered.value, shape)
        if isinstance(messages, Ok) and len(messages.value) >= self._shown:
            text = f"{self._title} shows {self._shown} messages of queue {name} at most"
            return Refused(JmsErrorKind.UNSUPPORTED, text, objects=(name,))
        return messages


def _converted(value: object, shape: type[T]) -> Outcome[T]:
    """Return the value of an answer as a value of type `shape`; refuse a value in another form."""
    try:
        return Ok(msgspec.convert(value, shape))
    except msgspec.ValidationError as error:
        return Refused(JmsErrorKind.MESSAGING, f"Jolokia's answer cannot be read: {error}")


def _nothing(outcome: Outcome[Any]) -> Outcome[None]:
    return outcome if isinstance(outcome, Refused) else Ok(None)


def quoted(text: str) -> str:
    r"""Return a text as a quoted value in an MBean's name: in quotation marks, with ``\`` before special characters."""
    escaped = "".join(f"\\{character}" if character in '"*?\\' else character for character in text)
    return f'"{escaped}"'
