"""What a defect is, and the few shapes from which most are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.commands import Attach, AttachSender, Command, Connect, Detach, Disconnect, Put, Settle
from assay_broker.core.effects import Answer, Deliver, Effect
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.records import Record
from assay_broker.seams import Seams
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, AddressKind, Message


class Defect(Struct, frozen=True, kw_only=True):
    """A named, switchable misbehaviour of the reference broker.

    Args:
        name: Its name.
        rules: Ids of the rules that it breaks.
        text: One sentence: what it does wrong.
        apply: Makes fresh filters; what they remember is one queue manager's.
    """

    name: str
    rules: tuple[str, ...]
    text: str
    apply: Callable[[], Seams]


class Named(Protocol):
    """What has a name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


N = TypeVar("N", bound=Named)


def by_name(defects: Iterable[N]) -> Mapping[str, N]:
    """Defects under their names.

    Raises:
        ValueError: Two have the same name: one of them could never be switched on.
    """
    found: dict[str, N] = {}
    for defect in defects:
        if defect.name in found:
            raise ValueError(f"two defects have the name {defect.name}")
        found[defect.name] = defect
    return MappingProxyType(found)


class Watch:
    """What a defect sees of who is there, from the commands that pass."""

    def __init__(self) -> None:
        self.senders: dict[tuple[int, int], Address | None] = {}
        self.receivers: dict[tuple[int, int], Attach] = {}
        self.clients: dict[int, str | None] = {}
        self._attaching: dict[tuple[int, int], int] = {}

    def clear(self) -> None:
        """The queue manager starts again: nobody is there."""
        self.senders.clear()
        self.receivers.clear()
        self.clients.clear()
        self._attaching.clear()

    def note(self, command: Command) -> None:
        """Take note of a command that is about to pass."""
        if isinstance(command, Connect):
            self.clients[command.connection] = command.client_id
        elif isinstance(command, AttachSender):
            self.senders[command.connection, command.link] = command.address
        elif isinstance(command, Attach):
            self.receivers[command.connection, command.link] = command
            if command.token is not None:
                self._attaching[command.connection, command.token] = command.link
        elif isinstance(command, Detach):
            self.senders.pop((command.connection, command.link), None)
            self.receivers.pop((command.connection, command.link), None)
        elif isinstance(command, Disconnect):
            self.clients.pop(command.connection, None)
            for links in (self.senders, self.receivers):
                for key in [key for key in links if key[0] == command.connection]:
                    del links[key]

    def heed(self, effects: tuple[Effect, ...], _now_ms: int) -> tuple[Effect, ...]:
        """Forget receivers that were refused."""
        for effect in effects:
            if isinstance(effect, Answer):
                link = self._attaching.pop((effect.connection, effect.token), None)
                if link is not None and effect.refused is not None:
                    self.receivers.pop((effect.connection, link), None)
        return effects

    def target(self, put: Put) -> Address | None:
        """Where a message is sent."""
        return self.senders.get((put.connection, put.link)) or put.message.to

    def on(self, address: Address | None) -> list[Attach]:
        """The receivers on a destination."""
        return [attach for attach in self.receivers.values() if attach.address == address]


class Held:
    """What receivers hold and have not settled, from the deliveries and commands that pass."""

    def __init__(self) -> None:
        self._links: dict[tuple[int, int], dict[int, Deliver]] = {}

    def note(self, command: Command) -> None:
        """Take note of a command that has passed; what is settled in a unit of work is not held any more."""
        if isinstance(command, Settle):
            link = self._links.get((command.connection, command.link), {})
            for number in command.deliveries:
                link.pop(number, None)
        elif isinstance(command, Detach | Disconnect):
            for gone in self.of(command):
                self._links.pop((command.connection, gone), None)

    def heed(self, effects: tuple[Effect, ...], _now_ms: int) -> tuple[Effect, ...]:
        """Take note of deliveries."""
        for effect in effects:
            if isinstance(effect, Deliver):
                self._links.setdefault((effect.connection, effect.link), {})[effect.delivery] = effect
        return effects

    def of(self, command: Detach | Disconnect) -> dict[int, tuple[Deliver, ...]]:
        """What the links that a command ends hold, by the links' numbers."""
        return {
            link: tuple(held.values())
            for (connection, link), held in self._links.items()
            if connection == command.connection and (isinstance(command, Disconnect) or link == command.link)
        }

    def settled(self, settle: Settle) -> tuple[Deliver, ...]:
        """The deliveries that a command settles."""
        link = self._links.get((settle.connection, settle.link), {})
        return tuple(link[number] for number in settle.deliveries if number in link)


class Starts:
    """How often a queue manager has started."""

    def __init__(self) -> None:
        self.count = 0

    def counted(self, seams: Seams) -> Seams:
        """These filters, with each start counted."""

        def reading(records: Sequence[Record]) -> tuple[Record, ...]:
            self.count += 1
            return seams.read(records)

        return replace(seams, read=reading)


Rewrite = Callable[[Command, int, Watch], tuple[Command, ...] | None]
"""A command, the time and who is there, to what passes instead; None lets it pass."""


def commands(rewrite: Rewrite) -> Seams:
    """Filters that rewrite some commands."""
    watch = Watch()

    def command_filter(command: Command, now_ms: int) -> tuple[Command, ...]:
        passed = rewrite(command, now_ms, watch)
        watch.note(command)
        return (command,) if passed is None else passed

    def read(records: Sequence[Record]) -> tuple[Record, ...]:
        watch.clear()
        return tuple(records)

    return Seams(command=command_filter, effects=watch.heed, read=read)


def puts(rewrite: Callable[[Put, Address, int, Watch], tuple[Command, ...] | None]) -> Seams:
    """Filters that rewrite some sends; the second argument is the destination."""

    def only_puts(command: Command, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        if not isinstance(command, Put):
            return None
        target = watch.target(command)
        return None if target is None else rewrite(command, target, now_ms, watch)

    return commands(only_puts)


def deliveries(rewrite: Callable[[Deliver, Watch], Deliver | None]) -> Seams:
    """Filters that rewrite some deliveries, or swallow them (None)."""
    watch = Watch()

    def command_filter(command: Command, _now_ms: int) -> tuple[Command, ...]:
        watch.note(command)
        return (command,)

    def effects(seen: tuple[Effect, ...], now_ms: int) -> tuple[Effect, ...]:
        watch.heed(seen, now_ms)
        passed = [rewrite(effect, watch) if isinstance(effect, Deliver) else effect for effect in seen]
        return tuple(effect for effect in passed if effect is not None)

    def read_records(records: Sequence[Record]) -> tuple[Record, ...]:
        watch.clear()
        return tuple(records)

    return Seams(command=command_filter, effects=effects, read=read_records)


def shown(rewrite: Callable[[Described], Described]) -> Seams:
    """Filters that rewrite each message as an administrator is shown it, with descriptor and headers."""

    def effects(passing: tuple[Effect, ...], _now_ms: int) -> tuple[Effect, ...]:
        return tuple(_rewritten(effect, rewrite) if isinstance(effect, Answer) else effect for effect in passing)

    return Seams(effects=effects)


def _rewritten(answer: Answer, rewrite: Callable[[Described], Described]) -> Answer:
    described = [row for row in answer.value or () if isinstance(row, Described)]
    return replace(answer, value=tuple(rewrite(row) for row in described)) if described else answer


def written(rewrite: Callable[[Record], tuple[Record, ...]]) -> Seams:
    """Filters that rewrite each record on its way to the store."""
    return Seams(written=lambda records: tuple(out for record in records for out in rewrite(record)))


def read(rewrite: Callable[[Record], tuple[Record, ...]]) -> Seams:
    """Filters that rewrite each record on its way from the store."""
    return Seams(read=lambda records: tuple(out for record in records for out in rewrite(record)))


def also_reading(seams: Seams, rewrite: Callable[[Sequence[Record]], tuple[Record, ...]]) -> Seams:
    """These filters, and one more for what comes from the store."""

    def both(records: Sequence[Record]) -> tuple[Record, ...]:
        return rewrite(seams.read(records))

    return replace(seams, read=both)


def is_topic(address: Address) -> bool:
    """Whether an address is a topic's."""
    return address.kind in (AddressKind.TOPIC, AddressKind.TEMPORARY_TOPIC)


def is_durable(attach: Attach) -> bool:
    """Whether a receiver has a durable subscription."""
    return attach.durability is Durability.DURABLE


def unheard(put: Put) -> Put:
    """The same send again, for whose answer nobody waits."""
    return Put(put.connection, None, put.link, put.message, put.unit)


def handed_in(agent: int, address: Address, *messages: Message) -> tuple[Command, ...]:
    """Sends by nobody who is there.

    Args:
        agent: A connection of the defect's own: a negative number, which no client has.
        address: Where the messages are sent.
        messages: What is sent.
    """
    sends = (Put(agent, None, agent, replace(message, to=address)) for message in messages)
    return (Connect(agent, None), AttachSender(agent, None, agent, None), *sends)


def dropped(put: Put, now_ms: int) -> Put:
    """The same send, accepted and forgotten: expired on arrival."""
    return replace(put, message=replace(put.message, delivery_time_ms=None, expiry_ms=now_ms))
