"""Filters for clients that misbehave in the sends which an application makes within a listener's callback."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from assay_adapters.ports.client import (
    AckMode,
    Client,
    ClientConnection,
    ClientEvent,
    ClientProducer,
    ClientSession,
    Qos,
    Sent,
    Setting,
)
from assay_adapters.ports.outcome import Ok, Outcome
from assay_sdk.model.message import Address
from assay_steps.defects.ports import ConnectionFilter, ProducerFilter, Sending, SessionFilter, connecting

Opens = Callable[[Address | None, Qos | None], Outcome[ClientProducer]]
"""A function that opens a producer for a destination, or for none, with a quality of service."""


class Callbacks:
    """The callbacks that run now in a client.

    Args:
        client: The client, whose events say when a callback begins and ends.
    """

    def __init__(self, client: Client) -> None:
        self._links: set[str] = set()
        client.observe(self._note)

    def __bool__(self) -> bool:
        """Return whether a callback runs now."""
        return bool(self._links)

    def _note(self, event: ClientEvent) -> None:
        if event.what == "called":
            self._links.add(event.link)
        elif event.what in {"callback", "lost"}:
            self._links.discard(event.link)


class _Switching(ProducerFilter):
    """A producer that sends through another producer while a callback runs."""

    def __init__(self, behind: ClientProducer, within: ClientProducer, callbacks: Callbacks) -> None:
        super().__init__(behind)
        self._within = within
        self._callbacks = callbacks

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        """Change a setting of both producers."""
        self._within.set(setting, value)
        return super().set(setting, value)

    def sending(self, asked: Sending) -> Outcome[Sent]:
        """Send through the other producer while a callback runs."""
        return asked.through(self._within if self._callbacks else self.behind)


class _Session(SessionFilter):
    def __init__(self, behind: ClientSession, within: Opens, callbacks: Callbacks) -> None:
        super().__init__(behind)
        self._within = within
        self._callbacks = callbacks

    def producer(self, to: Address | None, *, qos: Qos | None = None) -> Outcome[ClientProducer]:
        made, within = super().producer(to, qos=qos), self._within(to, qos)
        if not isinstance(made, Ok) or not isinstance(within, Ok):
            return made
        return Ok(_Switching(made.value, within.value, self._callbacks))


def sending_in_callbacks(client: Client, within: Callable[[ClientConnection, ClientSession, AckMode], Opens]) -> Client:
    """Put a filter in front of a client: the application's sends within callbacks go through other producers.

    Args:
        client: The client without the defect.
        within: Returns the function that opens these producers for a session; it gets the session's connection, the
            session and the session's mode.
    """
    callbacks = Callbacks(client)

    class Connection(ConnectionFilter):
        def session(self, ack: AckMode) -> Outcome[ClientSession]:
            made = super().session(ack)
            if not isinstance(made, Ok):
                return made
            return Ok(_Session(made.value, within(self._behind, made.value, ack), callbacks))

    return connecting(Connection)(client)
