"""Names in scenarios: a scenario's own names, made unique for a shared broker, and names of the broker's objects."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from assay_evidence.names import PREFIX, token_in_run, token_of

STAGING_QUEUE = "SYSTEM.DDELAY.LOCAL.QUEUE"
"""The name of IBM MQ's staging queue for delayed messages (DELAY:29)."""
BASE_TOPIC = "SYSTEM.BASE.TOPIC"


class Place(Struct, frozen=True):
    """A queue or topic as a step names it.

    Args:
        kind: queue or topic.
        name: The place's name in the scenario; for "the queue" and "the topic", which have no name, the same as `kind`;
            for the staging queue and the base topic, the name at the broker.
        role: staging, dead-letter or base for an object of the broker; subscription for the queue of a subscription to
            the topic `name`; empty for a queue or topic of the scenario.
        number: The number of the subscription, from 1.
        member: The queue manager's name in the step; None for the first queue manager.
    """

    kind: str
    name: str
    role: str = ""
    member: str | None = None
    number: int = 1


_ORDINALS = ("first", "second", "third")
_SUBSCRIPTION = rf'the queue of the (?:(?:{"|".join(_ORDINALS)}) )?subscription to (?:the topic|topic "[^"]+")'

PLACE = (
    rf"(?:{_SUBSCRIPTION}|the staging queue|the dead-letter queue|the base topic|the queue|the topic"
    r'|(?:queue|alias|topic) "[^"]+")'
    r'(?: at queue manager "[^"]+")?'
)
"""The regular expression for a queue or topic in a step."""

_ROLES: Mapping[str, Place] = {
    "the staging queue": Place("queue", STAGING_QUEUE, "staging"),
    "the dead-letter queue": Place("queue", "dead-letter", "dead-letter"),
    "the base topic": Place("topic", BASE_TOPIC, "base"),
}


def read_place(text: str) -> Place:
    """Read a queue or topic from a part of a step that matches `PLACE`."""
    what, _, member = text.partition(" at queue manager ")
    at = member.strip('"') or None
    role = _ROLES.get(what)
    if role is not None:
        return Place(role.kind, role.name, role.role, at)
    quoted = re.search(r'"([^"]+)"', what)
    if re.fullmatch(_SUBSCRIPTION, what):
        number = next((index for index, word in enumerate(_ORDINALS, 1) if f"the {word} " in what), 1)
        return Place("queue", quoted[1] if quoted else "topic", "subscription", at, number)
    kind = "topic" if what.startswith(("topic", "the topic")) else "queue"
    return Place(kind, quoted[1] if quoted else kind, member=at)


class Names:
    """Converts the names that one scenario uses into the broker's names.

    Args:
        scenario: The scenario's id.
        members: The names of the broker instance's queue managers.
        run: The run's id, for a broker that may still have messages and objects of an earlier run; None for a new
            broker.
    """

    def __init__(self, scenario: str, members: tuple[str, ...], run: str | None = None) -> None:
        self.token = token_of(scenario) if run is None else token_in_run(scenario, run)
        self._members = members

    def own(self, name: str) -> str:
        """Make a queue's or topic's name unique on a shared broker."""
        return f"{PREFIX}.{self.token}.{name}"

    def identifier(self, name: str) -> str:
        """Make a client id or subscription name unique on a shared broker; replace dots, which some brokers refuse."""
        return self.own(name).replace(".", "-")

    def key(self, label: str) -> str:
        """Return the key of the message with a label."""
        return f"{self.token}/{label}"

    def label(self, key: str) -> str:
        """Return the label of the message with a key."""
        return key.partition("/")[2]

    def member(self, name: str | None) -> str | None:
        """Return the broker's name for a queue manager: ``A`` means the instance's first, ``B`` its second.

        None and the name of a queue manager of the instance stay as they are.

        Raises:
            LookupError: The instance has no such queue manager; the error lists its queue managers.
        """
        if name is None or name in self._members:
            return name
        index = ord(name) - ord("A") if len(name) == 1 else -1
        if 0 <= index < len(self._members):
            return self._members[index]
        raise LookupError(f"Queue manager {name!r} is unknown; A, B ... stand for {', '.join(self._members)}.")
