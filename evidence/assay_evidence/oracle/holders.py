"""The holders of messages for the oracle: queues and subscriptions that keep messages until a consumer has them.

A *holder* is a queue (named by its destination), an unshared non-durable subscription (``CONSUMER#NUMBER``), or a
durable subscription (``NAME|CLIENT ID``).  These subscriptions do not count as holders, because the journal cannot tell
which messages they must keep:

- a non-durable shared one
- one with a selector, with noLocal or with a time limit
- one of an MQ Light client, unless the subscription has the quality of service at least once and no automatic
  confirmation
- a durable one whose client id is unknown
- a durable one, if another subscription with the same name is not durable, has a different destination or sharing, or
  has one of the properties above
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import Literal

from msgspec import Struct

from assay_evidence.events import Call, Event, Return
from assay_evidence.oracle.story import MQLIGHT, Story

Kind = Literal["queue", "durable", "non-durable"]


class Attachment(Struct, frozen=True):
    """A consumer that was created, or whose creation was not answered.

    Args:
        call: The call that creates the consumer.
        answer: The call's return; None if the call did not return.
        client: The client id of the actor's connection; empty for a connection without a client id, and None if the
            journal does not tell.
        number: The number of the consumer among the consumers with its name, from 1.
        ack: The acknowledgement mode that the call names, or else that of the actor's last session; None if the journal
            does not tell it.
        face: The face of the actor's last connection; None if the journal does not tell it.
    """

    call: Call
    answer: Return | None
    client: str | None
    number: int
    ack: str | None
    face: str | None

    @property
    def name(self) -> str | None:
        """The name of the subscription; None if it has no name."""
        name = self.call.args.get("name")
        return name if isinstance(name, str) else None

    @property
    def shared(self) -> bool:
        """Whether the subscription is shared."""
        return self.call.args.get("shared") is True

    @property
    def kind(self) -> Kind:
        """The kind of holder from which the consumer receives."""
        if not (self.call.destination or "").startswith("topic://"):
            return "queue"
        return "durable" if self.call.args.get("durability") == "durable" else "non-durable"

    @property
    def limited(self) -> bool:
        """Whether the subscription may leave out or lose messages."""
        args = self.call.args
        chosen = args.get("selector") is not None or args.get("no_local") is True
        return chosen or args.get("ttl_ms") is not None or self.careless

    @property
    def careless(self) -> bool:
        """Whether the client may settle messages before the application gets them, so that they may be lost on the way.

        An MQ Light client may do so, unless it receives at least once and the application itself confirms messages.
        """
        qos, confirms = self.call.args.get("qos"), self.call.args.get("auto_confirm")
        light = qos is not None or confirms is not None or self.face == MQLIGHT
        late = self.ack == "client" if confirms is None else confirms is False
        return light and not (qos == "at-least-once" and late)


class Holder(Struct, frozen=True):
    """A queue or subscription, with the consumers that opened it or may have opened it."""

    name: str
    kind: Kind
    destination: str
    shared: bool = False
    attachments: tuple[Attachment, ...] = ()


class Holders:
    """The holders of one scenario.

    Args:
        story: The scenario.
    """

    def __init__(self, story: Story) -> None:
        self._story = story

    @cached_property
    def attachments(self) -> list[Attachment]:
        """All consumers whose creation was not refused."""
        clients: dict[tuple[str, str], str] = {}
        modes: dict[tuple[str, str], str] = {}
        faces: dict[tuple[str, str], str | None] = {}
        numbers: Counter[str] = Counter()
        made = []
        for call, answer in self._story.calls:
            if call.op == "connect":
                clients[call.writer, call.actor] = str(call.args.get("client_id") or "")
                face = call.args.get("face")
                faces[call.writer, call.actor] = face if isinstance(face, str) else None
            elif call.op == "session":
                modes[call.writer, call.actor] = str(call.args.get("ack", ""))
            elif call.op == "consumer" and (answer is None or answer.refused is None):
                numbers[call.actor] += 1
                actor = (call.writer, call.actor)
                ack = str(call.args["ack"]) if call.args.get("ack") is not None else modes.get(actor)
                known = clients.get(actor), numbers[call.actor], ack, faces.get(actor)
                made.append(Attachment(call, answer, *known))
        return made

    @cached_property
    def _names(self) -> dict[tuple[str, int], str | None]:
        """The name of each consumer's holder, by writer and sequence number of the call that created the consumer.

        None for a consumer without a holder.
        """
        of_name: dict[str, list[Attachment]] = defaultdict(list)
        for one in self.attachments:
            if one.name is not None:
                of_name[one.name].append(one)
        return {(one.call.writer, one.call.seq): _holder(one, of_name) for one in self.attachments}

    def name(self, attachment: Attachment) -> str | None:
        """Return the name of a consumer's holder; None without a holder."""
        return self._names[attachment.call.writer, attachment.call.seq]

    @cached_property
    def subscriptions(self) -> list[Holder]:
        """All holders on topics."""
        grouped: dict[tuple[str, str, str], list[Attachment]] = defaultdict(list)
        for one in self.attachments:
            name = self.name(one)
            if name is not None and one.kind != "queue":
                grouped[name, one.kind, one.call.destination or ""].append(one)
        return [
            Holder(name, members[0].kind, destination, members[0].shared, tuple(members))
            for (name, _, destination), members in grouped.items()
        ]

    @cached_property
    def _created(self) -> dict[tuple[str, str], list[Attachment]]:
        """The created consumers of each writer and actor, in the order of their calls."""
        created: dict[tuple[str, str], list[Attachment]] = defaultdict(list)
        for one in self.attachments:
            if one.answer is not None:
                created[one.call.writer, one.call.actor].append(one)
        return created

    def source(self, event: Event, actor: str, destination: str) -> str | None:
        """Return the name of the holder that an actor's consumer used or watched at the time of an event.

        None if the holder is unknown.
        """
        consumer = self.consumer(event, actor)
        if consumer is not None:
            return self.name(consumer)
        return destination if destination.startswith("queue://") else None

    def is_alone(self, destination: str) -> bool:
        """Return whether only one actor consumes from a destination, and no client there may lose messages.

        `Attachment.careless` defines which clients may lose messages.
        """
        careless = any(one.careless and one.call.destination == destination for one in self.attachments)
        return len({(event.writer, actor) for actor, event in self._story.came(destination)}) == 1 and not careless

    def consumer(self, event: Event, actor: str) -> Attachment | None:
        """Return the consumer that an actor had created last before an event; None without such a consumer."""
        earlier = [one for one in self._created.get((event.writer, actor), []) if one.call.seq < event.seq]
        return earlier[-1] if earlier else None


def _holder(one: Attachment, of_name: dict[str, list[Attachment]]) -> str | None:
    if one.kind == "queue":
        return one.call.destination
    if one.kind == "non-durable":
        return None if one.shared or one.limited else f"{one.call.actor}#{one.number}"
    if one.name is None:
        return None
    namesakes = of_name[one.name]
    clear = all(not each.limited and each.client is not None and each.kind == "durable" for each in namesakes)
    same = len({(each.call.destination, each.shared) for each in namesakes}) == 1
    return f"{one.name}|{one.client}" if clear and same else None
