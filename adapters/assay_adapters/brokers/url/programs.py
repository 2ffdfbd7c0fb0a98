"""Programs of the broker's vendor, and administration by them (docs/url.md).

The kit calls a program with the operation's name as the last argument, gives it a JSON object on standard input, and
reads a JSON object from its standard output.
"""

from __future__ import annotations

import subprocess
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from assay_adapters.brokers.url.checks import program
from assay_adapters.brokers.url.model import AdministrationTable, Operation, data_beside, filled
from assay_adapters.ports.administration import (
    Authorise,
    Change,
    Clear,
    Define,
    Delete,
    ObjectKind,
    RawMessage,
    Scalar,
    Start,
    Stop,
)
from assay_adapters.ports.backend import BackendError
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused

T = TypeVar("T")

REFUSED = 3
"""The exit code of a program whose broker refuses the command."""
_SHOWN = 200
"""The largest number of characters of a program's output that an error shows."""


Ended = subprocess.CompletedProcess[bytes]


def run(words: tuple[str, ...], folder: Path, *, limit_s: int, given: bytes = b"") -> Ended:
    """Run a program to its end.

    Args:
        words: The program and its arguments.
        folder: The folder in which the program runs.
        limit_s: The longest time of the run, in seconds.
        given: The octets for the program's standard input.

    Raises:
        BackendError: The program cannot be started, or does not end in time.
    """
    path = program(words[0], folder)
    if path is None:
        raise BackendError(f"there is no program {words[0]}: install it, or correct its name")
    try:
        return subprocess.run(  # noqa: S603  the user's file names it
            [path, *words[1:]], cwd=folder, input=given, capture_output=True, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise BackendError(f"{words[0]} did not end within {limit_s} s") from error
    except OSError as error:
        raise BackendError(f"{words[0]} cannot be started: {error.strerror}") from error


def last_line(octets: bytes) -> str:
    """Return the last line of a program's standard error, for a message."""
    told = octets.decode(errors="replace").strip().splitlines() or ["it printed nothing on standard error"]
    return told[-1][:_SHOWN]


class _Refusal(Struct):
    reason: str = "no reason given"


class _Nothing(Struct):
    pass


class _Depth(Struct):
    depth: int


class _Message(Struct, rename="kebab"):
    body: str = ""
    body_base64: str | None = None
    properties: dict[str, Scalar | bool | None] = {}
    persistent: bool | None = None
    priority: int | None = None


class _Messages(Struct):
    messages: tuple[_Message, ...]


class _Subscription(Struct):
    name: str
    queue: str = ""


class _Subscriptions(Struct):
    subscriptions: tuple[_Subscription, ...]


class ProgramAdmin:
    """The `Admin` port over a vendor's program; refuses operations that the program does not offer.

    Args:
        table: The file's table about the program.
        folder: The folder in which the program runs.
        port: The port of a broker that the kit has started; None for a broker that ran already.
        log: The log file of a broker that the kit has started as a process, with the data folder beside it; None for
            any other broker.
    """

    def __init__(
        self, table: AdministrationTable, folder: Path, port: int | None = None, log: str | None = None
    ) -> None:
        self._table = table
        self._folder = folder
        data = "" if log is None else str(data_beside(Path(log)))
        self._command = table.command if port is None else filled(table.command, port, data)

    def offers(self, operation: Operation) -> bool:
        """Return whether the program offers an operation."""
        return operation in self._table.operations

    def call(self, operation: Operation, result: type[T], **given: object) -> Outcome[T]:
        """Call the program.

        Args:
            operation: The operation.
            result: The type of the JSON object that the program prints.
            given: The further fields of the JSON object that the program reads.

        Raises:
            BackendError: The program fails, does not end in time, or does not print such an object.
        """
        if not self.offers(operation):
            return _not_offered(operation.value)
        words = (*self._command, operation.value)
        asked = msgspec.json.encode({"operation": operation.value, **given})
        ended = run(words, self._folder, limit_s=self._table.timeout_s, given=asked)
        name = f"{self._command[0]} {operation.value}"
        if ended.returncode == REFUSED:
            return Refused(JmsErrorKind.MESSAGING, _parsed(name, ended.stdout or b"{}", _Refusal).reason)
        if ended.returncode:
            told = ended.stderr.decode(errors="replace").strip().splitlines() or [
                "it printed nothing on standard error"
            ]
            raise BackendError(f"{name} ended with exit code {ended.returncode}: {told[-1][:_SHOWN]}")
        return Ok(_parsed(name, ended.stdout or b"{}", result))

    def result_of(self, operation: Operation, name: str) -> Outcome[object]:
        """Return the result of the operation ``depth``, ``browse`` or ``subscriptions`` for a queue or topic."""
        match operation:
            case Operation.DEPTH:
                return self.inspect(ObjectKind.QUEUE, name)
            case Operation.BROWSE:
                return self.browse(name)
            case _:
                return self.subscriptions(name)

    def execute(self, change: Change, member: str | None = None) -> Outcome[None]:
        """Carry out a change; refuse it if the program does not offer the operation."""
        del member
        match change:
            case Define(kind=ObjectKind.QUEUE | ObjectKind.TOPIC as kind, name=name, attributes=attributes):
                outcome = self.call(Operation(f"create-{kind.value}"), _Nothing, name=name, attributes=attributes)
            case Delete(kind=ObjectKind.QUEUE | ObjectKind.TOPIC as kind, name=name):
                outcome = self.call(Operation(f"delete-{kind.value}"), _Nothing, name=name)
            case Clear(name=name):
                outcome = self.call(Operation.CLEAR_QUEUE, _Nothing, name=name)
            case Authorise():
                outcome = self.call(Operation.AUTHORISE, _Nothing, **msgspec.structs.asdict(change))
            case Start():
                outcome = self.call(Operation.START, _Nothing)
            case Stop():
                outcome = self.call(Operation.STOP, _Nothing)
            case _:
                outcome = _not_offered(type(change).__name__.lower())
        return outcome if isinstance(outcome, Refused) else Ok(None)

    def inspect(self, kind: ObjectKind, name: str, member: str | None = None) -> Outcome[Mapping[str, Scalar]]:
        """Return a queue's depth as ``CURDEPTH``; refuse other objects."""
        del member
        if kind is not ObjectKind.QUEUE:
            return _not_offered(f"attributes of a {kind.value}")
        outcome = self.call(Operation.DEPTH, _Depth, name=name)
        return outcome if isinstance(outcome, Refused) else Ok({"QUEUE": name, "CURDEPTH": outcome.value.depth})

    def subscriptions(self, topic: str, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Return each subscription to a topic, with its name as ``SUB`` and its queue as ``DEST``."""
        del member
        outcome = self.call(Operation.SUBSCRIPTIONS, _Subscriptions, name=topic)
        if isinstance(outcome, Refused):
            return outcome
        return Ok(tuple({"SUB": one.name, "DEST": one.queue} for one in outcome.value.subscriptions))

    def units(self, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Refuse: a program has no operation for branches in doubt."""
        del member
        return _not_offered("branches of global units of work")

    def browse(self, queue: str, member: str | None = None) -> Outcome[tuple[RawMessage, ...]]:
        """Return the messages that the program lists for a queue."""
        del member
        outcome = self.call(Operation.BROWSE, _Messages, name=queue)
        return outcome if isinstance(outcome, Refused) else Ok(tuple(map(_raw, outcome.value.messages)))

    def take(self, queue: str, *, correlation_id: bytes, member: str | None = None) -> Outcome[RawMessage | None]:
        """Refuse: a program has no operation to take one message."""
        del queue, correlation_id, member
        return _not_offered("removal of one message")

    def put_native(self, queue: str, message: RawMessage, *, delay_ms: int | None = None) -> Outcome[None]:
        """Refuse: a program has no operation to put a message."""
        del queue, message, delay_ms
        return _not_offered("messages of an application without a client")

    def identify(self, text: str) -> bytes:
        """Return 24 bytes for a message id; no operation of a program uses them."""
        return text.encode()[:24].ljust(24, b"\0")


def _not_offered(what: str) -> Refused:
    return Refused(JmsErrorKind.UNSUPPORTED, f"The administration program does not offer this: {what}.")


def _parsed(name: str, octets: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(octets, type=kind)
    except msgspec.DecodeError as error:
        shown = octets.decode(errors="replace")[:_SHOWN]
        raise BackendError(f"{name} printed {shown!r}, which is not the expected JSON object ({error})") from error


def _raw(message: _Message) -> RawMessage:
    descriptor: dict[str, Scalar] = {}
    if message.persistent is not None:
        descriptor["Persistence"] = int(message.persistent)
    if message.priority is not None:
        descriptor["Priority"] = message.priority
    octets = message.body.encode() if message.body_base64 is None else b64decode(message.body_base64)
    return RawMessage(descriptor=descriptor, properties=message.properties, body=octets)
