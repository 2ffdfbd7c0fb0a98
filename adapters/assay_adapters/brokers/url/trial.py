"""A short trial of a file that describes a broker: one message, and calls of the administration program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from assay_adapters.brokers.url.backend import UrlBackend
from assay_adapters.brokers.url.checks import absences, mistakes
from assay_adapters.brokers.url.file import Mistake, Reading, read
from assay_adapters.brokers.url.instance import UrlInstance
from assay_adapters.brokers.url.model import Operation
from assay_adapters.brokers.url.programs import ProgramAdmin
from assay_adapters.ports.administration import Change, Clear, Define, Delete, ObjectKind
from assay_adapters.ports.backend import BackendError, Unavailable
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.client import AckMode, ClientConnection, Draft, Origin
from assay_adapters.ports.outcome import Outcome, Refused
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind

T = TypeVar("T")

_NAME = "assay.check"
"""The name of the queue and the topic that the trial uses."""
_WAIT_MS = 5_000
"""How long the message of the trial may take, in milliseconds."""


def examine(file: Path) -> tuple[Reading, tuple[Mistake, ...], tuple[Mistake, ...]]:
    """Read and check a file that describes a broker.

    Returns:
        The content; the mistakes in it; and a mistake for each variable, program and file that the file names and this
        machine lacks (none if the content has mistakes).

    Raises:
        DescriptionError: The file cannot be read.
    """
    reading = read(file)
    found = mistakes(reading, file)
    return reading, found, () if found else absences(reading, file)


def try_out(file: Path, reading: Reading) -> tuple[Mistake, ...]:
    """Try the broker and its administration, and return a mistake for each failure.

    If the file describes how to start a broker, the trial starts one. The administration program runs the operations
    that it offers for a queue and a topic. If none fails and the file declares queues, a client then sends a message to
    a queue and receives it.
    """
    backend = UrlBackend(file)
    own = "process" if backend.description.process else "container"
    line = reading.line_of(own) if backend.description.is_own else reading.line_of("broker", "url")
    try:
        probed = backend.probe()
        if isinstance(probed, Unavailable):
            return (Mistake(line, f"{probed.reason}; {probed.remedy}."),)
        instance = backend.provision(Needs())
        if isinstance(instance, Unsupported):
            return (Mistake(line, instance.source.text),)
    except BackendError as error:
        return (Mistake(line, f"{error}."),)
    else:
        try:
            line = reading.line_of("administration", "operations")
            troubles = [Mistake(line, text) for text in _administer(instance.admin)]
            tries = not troubles and Capability.QUEUE in backend.description.capabilities
            if tries and (text := _exchange(instance)):
                troubles = [Mistake(reading.line_of("capabilities", "queue"), f"{text.rstrip('.')}{_HINT}")]
            return tuple(troubles)
        finally:
            instance.close()
    finally:
        backend.close()


_HINT = "; [addresses] and [conventions] tell the client what it must do differently for this broker (docs/url.md)."


def _exchange(instance: UrlInstance) -> str:
    """Send a message to a queue and receive it, as a scenario does; return the error, or an empty text."""
    try:
        connection = _had(instance.clients()["simplified"].connect(instance.endpoint("amqp")), "a connection")
        try:
            return _exchange_over(connection)
        finally:
            connection.close()
    except BackendError as error:
        return str(error)


def _exchange_over(connection: ClientConnection) -> str:
    queue, key = Address(AddressKind.QUEUE, _NAME), uuid4().hex
    session = _had(connection.session(AckMode.AUTO), "a session")
    sender = _had(session.producer(queue), f"a sender to the queue {_NAME}")
    _had(sender.send(Draft(key=key, body="x")), f"a message to the queue {_NAME}")
    receiver = _had(session.consumer(Origin(address=queue), actor="receiver"), f"a receiver on the queue {_NAME}")
    while seen := _had(receiver.receive(_WAIT_MS), f"a call of receive on the queue {_NAME}"):
        if seen.key == key:  # an earlier trial may have left a message
            return ""
    return f"a message sent to the queue {_NAME} did not come back within {_WAIT_MS // 1000} s"


def _had(outcome: Outcome[T], what: str) -> T:
    if isinstance(outcome, Refused):
        raise BackendError(f"{what} is refused: {outcome.text}")
    return outcome.value


def _administer(admin: ProgramAdmin | None) -> Iterator[str]:
    if admin is None:
        return
    for operation in (
        Operation.CREATE_QUEUE,
        Operation.CREATE_TOPIC,
        Operation.DEPTH,
        Operation.BROWSE,
        Operation.SUBSCRIPTIONS,
        Operation.CLEAR_QUEUE,
        Operation.DELETE_QUEUE,
        Operation.DELETE_TOPIC,
    ):
        if not admin.offers(operation):
            continue
        try:
            change = _change(operation)
            outcome = admin.execute(change) if change is not None else admin.result_of(operation, _NAME)
        except BackendError as error:
            yield f"{operation.value}: {error}."
            continue
        if isinstance(outcome, Refused):
            yield f"{operation.value} of {_NAME} is refused: {outcome.text}."


def _change(operation: Operation) -> Change | None:
    """Return the change that an operation makes; None for an operation that only reads."""
    verb, _, kind = operation.value.partition("-")
    match verb:
        case "create":
            return Define(ObjectKind(kind), _NAME)
        case "delete":
            return Delete(ObjectKind(kind), _NAME)
        case "clear":
            return Clear(_NAME)
        case _:
            return None
