"""Producers that remember their settings or can see their client's other producers: base classes of defects."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta

from assay_adapters.ports.client import Client, ClientProducer, Face, Sent, Setting
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused, refused
from assay_steps.defects.ports import ClientFilter, ProducerFilter, Sending, Twist

_SPANS = (Setting.DELAY, Setting.TTL)


def in_face(face: Face, twist: Twist) -> Callable[[Client], Client]:
    """Make a filter for `Defect.port` that makes the producers of one face misbehave."""
    return lambda client: ClientFilter(client, twist) if client.identity.face == face else client


class RemembersSpans(ProducerFilter):
    """A producer that remembers its accepted delay and time to live, including 0."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self.spans: dict[Setting, int | timedelta] = dict.fromkeys(_SPANS, 0)
        self.sent = False

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        """Change a setting, and remember an accepted delay or time to live."""
        answer = self.behind.set(setting, value)
        if setting in self.spans and isinstance(answer, Ok):
            self.spans[setting] = value
        return answer

    def sending(self, asked: Sending) -> Outcome[Sent]:
        """Send a message, and remember that the producer has sent."""
        self.sent = True
        return asked.through(self.behind)

    @contextmanager
    def without(self, setting: Setting) -> Generator[None]:
        """Set the delay or time to live to 0 inside the ``with`` block, and restore it at the end."""
        self.behind.set(setting, 0)
        yield
        self.behind.set(setting, self.spans[setting])


def has_own_options(asked: Sending) -> bool:
    """Return whether a send gives a delivery mode, priority or time to live."""
    return asked.mode is not None or asked.priority is not None or asked.ttl_ms is not None


def expiry_error() -> Refused:
    """Return the refusal of a time to live that is shorter than the delay."""
    return refused(Mqrc.EXPIRY_ERROR, "The time to live is less than the delivery delay.")


class Member(ProducerFilter):
    """A producer that can see the other producers of its client and their settings.

    Args:
        behind: The producer without the defect.
        members: All producers of the client; the new producer adds itself.
    """

    def __init__(self, behind: ClientProducer, members: list[Member]) -> None:
        super().__init__(behind)
        self.members = members
        self.values: dict[Setting, int] = {}
        members.append(self)

    @property
    def others(self) -> list[Member]:
        """The other producers of the client."""
        return [member for member in self.members if member is not self]

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        """Change a setting, and remember its accepted value."""
        answer = self.behind.set(setting, value)
        if isinstance(answer, Ok) and isinstance(value, int):
            self.values[setting] = value
        return answer


def together(member: type[Member]) -> Callable[[Client], Client]:
    """Make a filter for `Defect.port` in which each producer can see the settings of its client's other producers.

    Args:
        member: The class of the producers; it gets a producer and the list of its client's producers.
    """

    def twisted(client: Client) -> Client:
        members: list[Member] = []
        return ClientFilter(client, lambda behind: member(behind, members))

    return twisted
