"""A short trial of a file that describes a broker: one connection, and one call of each administration operation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay_adapters.brokers.url.backend import UrlBackend
from assay_adapters.brokers.url.checks import absences, mistakes
from assay_adapters.brokers.url.file import Mistake, Reading, read
from assay_adapters.brokers.url.model import Operation
from assay_adapters.ports.administration import Change, Clear, Define, Delete, ObjectKind
from assay_adapters.ports.backend import BackendError, Unavailable
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.outcome import Refused

_NAME = "assay.check"
"""The name of the queue and the topic that the trial creates and deletes."""


def examine(file: Path) -> tuple[Reading, tuple[Mistake, ...], tuple[Mistake, ...]]:
    """Read and check a file that describes a broker.

    Returns:
        The content; the mistakes in it; and, without mistakes, the named variables, programs and files that this
        machine lacks.

    Raises:
        DescriptionError: The file cannot be read.
    """
    reading = read(file)
    found = mistakes(reading, file)
    return reading, found, () if found else absences(reading, file)


def try_out(file: Path, reading: Reading) -> tuple[Mistake, ...]:
    """Try the broker and its administration, and return a mistake for each failure.

    If the file describes how to start a broker, the trial starts one. The administration creates a queue and a topic,
    and deletes them.
    """
    backend = UrlBackend(file)
    own = "process" if backend.description.process else "container"
    line = reading.line_of(own) if backend.description.is_own else reading.line_of("broker", "url")
    try:
        probed = backend.probe()
        if isinstance(probed, Unavailable):
            return (Mistake(line, f"{probed.reason}; {probed.remedy}."),)
        place = backend.provision(Needs())
        if isinstance(place, Unsupported):
            return (Mistake(line, place.source.text),)
    except BackendError as error:
        return (Mistake(line, f"{error}."),)
    else:
        line = reading.line_of("administration", "operations")
        return tuple(Mistake(line, text) for text in _administer(backend))
    finally:
        backend.close()


def _administer(backend: UrlBackend) -> Iterator[str]:
    admin = backend.administration
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
