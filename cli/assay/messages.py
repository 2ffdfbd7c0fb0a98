"""The common parts of `assay send`, `receive` and `cancel`: connections, destinations, durations, errors."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from assay.exits import CannotRunError, CommandError, Exit, UsageProblem
from assay_sdk import (
    AckMode,
    Context,
    DestinationError,
    JmsErrorKind,
    Login,
    MessagingRuntimeError,
    Queue,
    Topic,
    connect,
)
from assay_sdk.driver import TargetError
from assay_sdk.drivers import serves
from assay_sdk.model.converters import OCTETS, TEXT
from assay_sdk.model.durations import DurationError, parse_duration
from assay_sdk.model.message import AddressKind, Body


class RefusedMessageError(CommandError):
    """The broker has refused the operation."""

    code = Exit.NOT_AS_EXPECTED


_ENDS: Mapping[JmsErrorKind, type[CommandError]] = {
    JmsErrorKind.CONNECTION_LOST: CannotRunError,
    JmsErrorKind.UNSUPPORTED: CannotRunError,
    JmsErrorKind.INVALID_SELECTOR: UsageProblem,
}
"""The command's error by the kind of the SDK's error; all other kinds mean that the broker refused the operation."""

_OPTIONS: Mapping[str, str] = {
    "in ca_file": "with --ca",
    "ca_file is given": "--ca is given",
    "leave the login out": "leave --user out",
    "give a user and a password": "log in with --user NAME",
    "leave ca_file out": "leave --ca out",
    "pass login= instead": "give it with --user NAME instead",
}
"""The texts that replace parts of the SDK's errors, so that they name the command's options instead of arguments."""


_QUEUE, _TOPIC = f"{AddressKind.QUEUE.value}://", f"{AddressKind.TOPIC.value}://"


class AsItIs:
    """A converter (`assay_sdk.Converter`) that does not change a message's body: text, bytes or None."""

    def encode(self, value: Body) -> tuple[Body, str | None]:
        """Return the body unchanged."""
        if value is None:
            return None, None
        return value, TEXT if isinstance(value, str) else OCTETS

    def decode(self, body: Body, content_type: str | None) -> Body:
        """Return the body unchanged."""
        del content_type
        return body


Destination = Queue[Body] | Topic[Body]


def destination(name: str, *, topic: bool) -> Destination:
    """Parse a destination: a name, ``queue://NAME`` or ``topic://NAME``.

    Args:
        name: The text.
        topic: Whether --topic was given.

    Raises:
        UsageProblem: The name is invalid, or names a queue although --topic was given.
    """
    if name.startswith(_QUEUE) and topic:
        raise UsageProblem(f"{name} is a queue, but --topic requests a topic: leave one of them out.")
    topic = topic or name.startswith(_TOPIC)
    name = name.removeprefix(_TOPIC if topic else _QUEUE)
    try:
        return Topic(name, converter=AsItIs()) if topic else Queue(name, converter=AsItIs())
    except DestinationError as error:
        raise UsageProblem(str(error)) from error


def milliseconds(option: str, given: str | None) -> int | None:
    """Convert an option's duration, such as ``5s`` or ``200ms``, to milliseconds; a number alone is milliseconds.

    Args:
        option: The option, for the error.
        given: The option's value; None without the option. The result is then None, too.

    Raises:
        UsageProblem: The value is not a duration.
    """
    if given is None:
        return None
    try:
        return parse_duration(with_unit(given))
    except DurationError as error:
        raise UsageProblem(f"{option}: {error}") from error


def with_unit(given: str) -> str:
    """Return a duration's text with its unit: milliseconds if the text is only a number."""
    return f"{given} ms" if given.isascii() and given.isdecimal() else given


@contextmanager
def connected(url: str, login: Login | None, authority: Path | None, mode: AckMode) -> Generator[Context, None, None]:
    """Connect, and provide a session for the `with` block.

    Args:
        url: A URL that an installed driver serves, such as ``amqp://host:port``; ``amqps://`` and ``stomps://`` are
            over TLS.
        login: User and password; None to connect without a login.
        authority: The file with the certificates of the authorities that sign the broker's certificate; None for the
            authorities that the system trusts.
        mode: The session's acknowledgement mode.

    Raises:
        UsageProblem: The URL is invalid, no driver serves it, the driver refuses `authority` because the URL is not
            over TLS, or a selector is invalid.
        CannotRunError: The broker cannot be reached, refuses the login, lacks an operation, or loses the connection.
        RefusedMessageError: The broker refuses an operation for another reason.
    """
    try:
        context = connect(url, login=login, ca_file=None if authority is None else str(authority), session_mode=mode)
    except MessagingRuntimeError as error:
        if isinstance(error.__cause__, TargetError):
            raise UsageProblem(_sentence(error)) from error
        if error.kind is JmsErrorKind.UNSUPPORTED and ("://" not in url or not serves(url)):
            raise UsageProblem(_sentence(error)) from error
        raise CannotRunError(_sentence(error)) from error
    try:
        with context:
            yield context
    except MessagingRuntimeError as error:
        raise _ENDS.get(error.kind, RefusedMessageError)(_sentence(error)) from error


def _sentence(error: MessagingRuntimeError) -> str:
    """Return the text of an SDK error, with the names of the command's options instead of the SDK's arguments."""
    text = str(error)
    for argument, option in _OPTIONS.items():
        text = text.replace(argument, option)
    return text if text.endswith((".", "!", "?")) else f"{text}."
