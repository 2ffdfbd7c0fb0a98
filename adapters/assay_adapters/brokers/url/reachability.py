"""Trial connections to a broker, which show whether it answers."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from msgspec import structs

from assay_adapters.ports.backend import BackendError
from assay_adapters.ports.client import Endpoint
from assay_adapters.ports.outcome import JmsErrorKind
from assay_sdk.driver import Close, Closed, Driver, DriverEvent, Opened, Target, TargetError
from assay_sdk.model.reasons import Refused
from assay_sdk.time import Runner

LIMIT_MS = 5_000
"""How long a broker may take to open a connection, in milliseconds."""
_CLOSE_NS = 2 * 10**9
_POLL_NS = 50_000_000


def reach(
    driver: Driver, runner: Runner, endpoint: Endpoint, ca_file: str | None = None, limit_ms: int = LIMIT_MS
) -> Opened | Refused:
    """Open a connection to a broker and close it, to see whether the broker answers.

    Args:
        driver: The AMQP driver.
        runner: A real runner.
        endpoint: The broker's URL and login.
        ca_file: The PEM file with trusted certificates, for TLS; None for the machine's certificates.
        limit_ms: How long the broker may take to open the connection, in milliseconds.

    Returns:
        The properties of the broker's open frame; a refusal if no AMQP broker answers, or the broker refuses the login.
    """
    events: list[DriverEvent] = []
    target = Target(url=endpoint.url, login=endpoint.login, ca_file=ca_file, open_timeout_ms=limit_ms)
    try:
        wire = driver.connect(target, events.append, runner)
    except TargetError as error:
        return Refused(JmsErrorKind.MESSAGING, str(error))
    runner.run_until(lambda: bool(events), None)
    first = events[0]
    if isinstance(first, Opened):
        wire.submit(Close(1))
        runner.run_until(lambda: isinstance(events[-1], Closed), runner.clock.monotonic_ns() + _CLOSE_NS)
        return first
    why = first.refused if isinstance(first, Closed) else None
    place = urlsplit(endpoint.url).netloc
    if why is None:
        return Refused(JmsErrorKind.CONNECTION_LOST, f"the broker at {place} closed the connection at once")
    if place in why.text:
        return why
    named = why.text.replace("the broker ", f"the broker at {place} ", 1)
    return structs.replace(why, text=named if place in named else f"{place}: {why.text}")


def await_broker(
    runner: Runner, limit_s: int, connect: Callable[[], Opened | Refused], ended: Callable[[], str]
) -> None:
    """Wait until a broker answers after its start.

    Args:
        runner: The runner that waits.
        limit_s: The longest time, in seconds.
        connect: Connects to the broker, to see whether it answers.
        ended: Returns why the broker has ended; an empty text if it may still answer.

    Raises:
        BackendError: The broker does not answer in time, has ended, or refuses the login.
    """
    deadline_ns = runner.clock.monotonic_ns() + limit_s * 10**9
    while isinstance(found := connect(), Refused):
        if why := ended():
            raise BackendError(why)
        if found.kind is JmsErrorKind.SECURITY:
            raise BackendError(found.text)
        now_ns = runner.clock.monotonic_ns()
        if now_ns >= deadline_ns:
            raise BackendError(f"the broker did not answer within {limit_s} s of its start: {found.text}")
        runner.run_until(lambda: False, now_ns + _POLL_NS)
