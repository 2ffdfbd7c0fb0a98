"""Names of a scenario: its own, made unique on a broker that many share, and those that belong to the broker."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from assay_evidence.names import PREFIX, token_of

STAGING_QUEUE = "SYSTEM.DDELAY.LOCAL.QUEUE"
"""DELAY:29 names it."""
BASE_TOPIC = "SYSTEM.BASE.TOPIC"


class Place(Struct, frozen=True):
    """A destination as a step names it.

    Args:
        kind: queue or topic.
        name: The scenario's name for it; the kind itself for "the queue", "the topic".
        role: What the broker's own places are: staging, dead-letter, base; nothing for one of the scenario's own.
            Of subscription, the name is the topic's: the place is the queue of one of its subscriptions.
        number: Which of the subscriptions it is, from 1.
        member: The queue manager at which it is used, as the step names it; None for the first.
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
"""The form in which a step writes a place."""

_ROLES: Mapping[str, Place] = {
    "the staging queue": Place("queue", STAGING_QUEUE, "staging"),
    "the dead-letter queue": Place("queue", "dead-letter", "dead-letter"),
    "the base topic": Place("topic", BASE_TOPIC, "base"),
}


def read_place(text: str) -> Place:
    """Read a place from a step's words, which match `PLACE`."""
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
    """The names of one scenario.

    Args:
        scenario: The scenario's id.
        members: The instance's queue managers.
    """

    def __init__(self, scenario: str, members: tuple[str, ...]) -> None:
        self.token = token_of(scenario)
        self._members = members

    def own(self, name: str) -> str:
        """A name of this scenario, made unique on a shared broker."""
        return f"{PREFIX}.{self.token}.{name}"

    def identifier(self, name: str) -> str:
        """The same for client ids and subscriptions, whose names may not contain dots on every broker."""
        return self.own(name).replace(".", "-")

    def key(self, label: str) -> str:
        """The key of the message with this label."""
        return f"{self.token}/{label}"

    def label(self, key: str) -> str:
        """The label of the message with this key."""
        return key.partition("/")[2]

    def member(self, name: str | None) -> str | None:
        """A queue manager of the instance: ``A`` is its first, ``B`` its second; None stays None.

        Raises:
            LookupError: The instance has none of that name; lists its queue managers.
        """
        if name is None or name in self._members:
            return name
        index = ord(name) - ord("A") if len(name) == 1 else -1
        if 0 <= index < len(self._members):
            return self._members[index]
        raise LookupError(f"There is no queue manager {name!r}: {', '.join(self._members)} are there, as A, B ...")
