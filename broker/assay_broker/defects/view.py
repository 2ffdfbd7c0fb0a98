"""A defect's view of the broker: facts from the commands, effects and starts that pass the defect's filters.

The view notes a command, as the client made it, after the defect has seen it.  So the defect sees the broker as it was
before that command.  The view notes effects before the defect sees them.  At a start, after the defect has seen the
records, the view forgets the facts about connections, links, deliveries and units of work, and unanswered commands.

=====================  ===========================================  ====================================================
fact                   noted at, until                              needed by the defects of
=====================  ===========================================  ====================================================
`target`, `sent`       AttachSender, until Detach or Disconnect     all that rewrite sends
`receivers`, `on`      Attach, until Detach, Disconnect or refusal  BT-08, DD-02, DD-51, PD-10 to PD-34, QS-04 to QS-36
`left`                 Attach, until Disconnect                     DD-76, PD-13, PD-15, QS-20 to QS-22
`connections`: ids     Connect, until Disconnect                    DD-76, PD-13 to PD-17, QS-04 to QS-36
`connections`: users   Connect, until Disconnect                    DD-30 to DD-32
`held`                 Deliver, until Settle, in a unit or not      BT-08, PD-18, QS-08 to QS-10, QS-14, QS-21
`unsettled`            Deliver, until Settle or the unit's Commit   DD-06
`units`: `sent`        Put in a unit, until the unit ends           BT-13, DD-02, DD-25 to DD-27, DD-51, DD-56
`units`: `taken`       Settle in a unit, until the unit ends        BT-12, BT-13, DD-25
`working`              Begin of a branch, until its Prepare or end  BT-13
`prepared`             PrepareBranch, until Disconnect              BT-13
`delayed`              a delayed send's Answer, until the message   DD-02, DD-05, DD-06, DD-31, DD-38, DD-43, DD-50 to
                       is taken back, or the defect sends it        DD-52, DD-61 to DD-65, DD-70, DD-71, DD-75, DD-82
`asked`                a command, until the effects of its Answer   all that rewrite answers
`said`, `objects`      DefineObject and AlterObject, until the      DD-04, DD-11, DD-36, DD-45 to DD-47, DD-50, DD-52,
                       object is deleted                            DD-75, DD-78, DD-80, DD-82, QS-33, QS-34
`may`                  SetAuthority, until it is taken away         DD-30 to DD-32
`withheld`             SetAuthority, for good                       DD-31, DD-32
`starts`               each start, before the records are read      BT-13, DD-05, DD-35, DD-40, DD-44, DD-46, DD-60,
                                                                    QS-06, QS-08, QS-10, QS-21, QS-22, QS-32
`settings`             each start, before the records are read      DD-10, DD-40 to DD-45
`last`, `last_ms`      each command, until the next                 BT-13, DD-03, DD-38, DD-56
=====================  ===========================================  ====================================================

Two pairs of facts differ only in time.  A message that a unit of work has accepted leaves `held` at once, and
`unsettled` at the commit.  A delayed send enters its unit's `sent` with the command, and enters `delayed` when the
broker accepts it.

A defect itself stores facts that no other defect needs, such as the messages that it has altered, dropped or counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from types import MappingProxyType

from msgspec import Struct

from assay_broker.core.administration.changes import AlterObject, Change, DefineObject, DeleteObject, SetAuthority
from assay_broker.core.commands import (
    Administer,
    Attach,
    AttachSender,
    Backout,
    BackOutBranch,
    Begin,
    Cancel,
    Command,
    Commit,
    CommitBranch,
    Connect,
    Detach,
    Disconnect,
    PrepareBranch,
    Put,
    Settle,
)
from assay_broker.core.effects import Answer, Deliver, Effect
from assay_broker.core.objects.model import NAMESPACES, Namespace, Value
from assay_broker.core.settings import Settings
from assay_broker.defects.links import Deliveries, Link, ends, forget
from assay_sdk.model.message import Address, AddressKind, Message

_TOPICS = (AddressKind.TOPIC, AddressKind.TEMPORARY_TOPIC)


class Sent(Struct, frozen=True):
    """A send, as the client made it.

    Args:
        put: The command.
        target: The destination.
        at_ms: The time of the send in milliseconds since the epoch.
        user: The user that sent it; None for a client that has not logged in.
    """

    put: Put
    target: Address
    at_ms: int
    user: str | None

    @property
    def message(self) -> Message:
        """The message, as the client sent it."""
        return self.put.message

    @property
    def due_ms(self) -> int:
        """The end of the delay in milliseconds since the epoch; 0 without a delay."""
        return self.message.delivery_time_ms or 0

    @property
    def delayed(self) -> bool:
        """Whether the message had a delay when it was sent."""
        return self.due_ms > self.at_ms


class Unit(Struct):
    """An open unit of work.

    Args:
        xid: The branch of which the unit is part; None for a local unit.
        sent: The sends in the unit.
        taken: The deliveries that were settled in the unit.
    """

    xid: bytes | None = None
    sent: list[Sent] = []
    taken: list[Deliver] = []


class View:
    """The facts that have been noted so far; the module's docstring lists them."""

    def __init__(self) -> None:
        self.starts = 0
        self.settings = Settings()
        self.last: Command | None = None
        """The last command that the view noted, as the client made it.  The effects that a defect sees belong to it."""
        self.last_ms = 0
        """The time of that command in milliseconds since the epoch."""
        self._own = count(-1, -1)
        self.agent = self.own_number()
        """A number that no client uses, for the defect's own connection and the defect's links on any connection."""
        self._connections: dict[int, Connect] = {}
        self._senders: dict[Link, Address | None] = {}
        self._receivers: dict[Link, Attach] = {}
        self._detached: dict[int, list[Attach]] = {}
        self._held, self._unsettled = Deliveries(), Deliveries()
        self._units: dict[tuple[int, int], Unit] = {}
        self._working: dict[bytes, int] = {}
        self._prepared: dict[int, list[bytes]] = {}
        self._said: dict[tuple[Namespace, str], dict[str, Value]] = {}
        self._granted: set[tuple[str, str]] = set()
        self._withheld: set[str] = set()
        self._delayed: dict[str, Sent] = {}
        self._asked: dict[tuple[int, int], tuple[Command, Sent | None]] = {}
        self.connections: Mapping[int, Connect] = MappingProxyType(self._connections)
        self.receivers: Mapping[Link, Attach] = MappingProxyType(self._receivers)
        self.units: Mapping[tuple[int, int], Unit] = MappingProxyType(self._units)
        self.working: Mapping[bytes, int] = MappingProxyType(self._working)
        """The connection that works in each active branch, by the branch's xid."""
        self.delayed: Mapping[str, Sent] = MappingProxyType(self._delayed)
        """The delayed sends that the broker has accepted, by message id."""

    # facts for defects

    def own_number(self) -> int:
        """Return a new negative number, which no client uses, for a connection or link of the defect's own."""
        return next(self._own)

    def client_id(self, connection: int) -> str | None:
        """Return a connection's client id; None for a connection without one."""
        found = self._connections.get(connection)
        return None if found is None else found.client_id

    def user(self, connection: int) -> str | None:
        """Return the user whose authority counts for a connection; None for a client that has not logged in."""
        found = self._connections.get(connection)
        return None if found is None else found.user

    def sent(self, command: Command, now_ms: int) -> Sent | None:
        """Return a command as a send; None for any other command, and for a send without a destination."""
        if not isinstance(command, Put):
            return None
        target = self._senders.get((command.connection, command.link)) or command.message.to
        if target is None:
            return None
        return Sent(command, target, now_ms, self.user(command.connection))

    def names_no_destination(self, put: Put) -> bool:
        """Return whether the producer of a send was opened without a destination."""
        key = put.connection, put.link
        return key in self._senders and self._senders[key] is None

    def target(self, command: Command) -> Address | None:
        """Return the destination to which a command sends a message; None for any other command."""
        found = self.sent(command, 0)
        return None if found is None else found.target

    def on(self, address: Address | None) -> list[Attach]:
        """Return the open receivers on a destination, the oldest first."""
        return [attach for attach in self._receivers.values() if attach.address == address]

    def receiver(self, of: Deliver | Settle) -> Attach | None:
        """Return the receiver of a delivery, or of the deliveries that a command settles; None if it has ended."""
        return self._receivers.get((of.connection, of.link))

    def leaving(self, command: Command) -> list[Attach]:
        """Return the receivers whose links a command ends."""
        return [attach for key, attach in self._receivers.items() if ends(command, *key)]

    def left(self, command: Command) -> list[Attach]:
        """Return all receivers, closed ones included, of a connection that a command ends; none for other commands."""
        if not isinstance(command, Disconnect):
            return []
        return [*self._detached.get(command.connection, ()), *self.leaving(command)]

    def held(self, of: Settle | Detach | Disconnect) -> tuple[Deliver, ...]:
        """Return the unsettled deliveries that a command settles, or that are on the links that the command ends."""
        return self._held.of(of)

    def held_by_link(self, of: Detach | Disconnect) -> dict[int, tuple[Deliver, ...]]:
        """Return the unsettled deliveries on each link that a command ends, by the link's number."""
        return self._held.by_link(of)

    def unsettled(self, of: Settle | Detach | Disconnect) -> tuple[Deliver, ...]:
        """Return the deliveries of `held`, and also those that were settled in a unit of work that is still open."""
        return self._unsettled.of(of)

    def uncommitted(self) -> Iterator[Sent]:
        """Iterate over the sends in all open units of work."""
        return (sent for unit in self._units.values() for sent in unit.sent)

    def ended(self, command: Command) -> list[Unit]:
        """Return the open units of work that a command ends or prepares."""
        match command:
            case Commit() | Backout():
                found = self._units.get((command.connection, command.unit))
                return [] if found is None else [found]
            case PrepareBranch() | CommitBranch() | BackOutBranch():
                return [unit for unit in self._units.values() if unit.xid == command.xid]
            case Disconnect():
                return [unit for key, unit in self._units.items() if key[0] == command.connection]
            case _:
                return []

    def prepared(self, connection: int) -> Sequence[bytes]:
        """Return the xids of the branches that a connection has prepared, ended branches included."""
        return self._prepared.get(connection, ())

    def said(self, name: str, namespace: Namespace = Namespace.QUEUE) -> Mapping[str, Value]:
        """Return the attributes, by keyword, that an object's last definition and its later alterations have set."""
        return self._said.get((namespace, name), {})

    def said_of(self, destination: Address) -> Mapping[str, Value]:
        """Return the attributes of `said` for the queue or the topic object with the name of a destination."""
        return self.said(destination.name, Namespace.TOPIC if destination.kind in _TOPICS else Namespace.QUEUE)

    @property
    def objects(self) -> Mapping[tuple[Namespace, str], Mapping[str, Value]]:
        """The attributes that administrators gave to each object, by the object's namespace and name."""
        return self._said

    def may(self, user: str | None, name: str) -> bool:
        """Check whether a user has been granted authority to put or publish to an object."""
        return (user or "", name) in self._granted

    def withheld(self, name: object) -> bool:
        """Check whether a group has lost authority to put or publish to an object."""
        return name in self._withheld

    def asked(self, answer: Answer) -> tuple[Command | None, Sent | None]:
        """Return the command to which an answer belongs, and the send if the command is a send.

        Returns:
            The command, None if it is unknown; and the send, None if the command is not a send.
        """
        return self._asked.get((answer.connection, answer.token), (None, None))

    # methods that the filters call

    def configure(self, settings: Settings) -> Settings:
        """Note the settings with which the queue manager starts."""
        self.settings = settings
        return settings

    def start(self) -> None:
        """Count a start of the queue manager."""
        self.starts += 1

    def started(self) -> None:
        """Forget the facts that ended with the queue manager's last run."""
        self._held, self._unsettled = Deliveries(), Deliveries()
        self._connections.clear()
        self._senders.clear()
        self._receivers.clear()
        self._detached.clear()
        self._units.clear()
        self._working.clear()
        self._prepared.clear()
        self._asked.clear()

    def note(self, command: Command, passed: Sequence[Command], now_ms: int) -> None:
        """Note a command.

        Args:
            command: The command, as the client made it.
            passed: The commands that the defect passes on instead of the command.
            now_ms: The time in milliseconds since the epoch.
        """
        self.last, self.last_ms = command, now_ms
        sent = self.sent(command, now_ms)
        token = getattr(command, "token", None)
        if token is not None:
            self._asked[command.connection, token] = command, sent  # type: ignore[union-attr]  # a command with a token has a connection
        self._note_links(command)
        self._note_units(command, sent)
        if isinstance(command, Administer):
            self._note_change(command.change)
        for one in passed:
            if isinstance(one, Cancel):
                self._delayed.pop(one.message_id, None)
            elif isinstance(one, Put) and one.connection == self.agent:
                self._delayed.pop(one.message.message_id or "", None)

    def heed(self, effects: Sequence[Effect]) -> None:
        """Note effects that the defect has not seen yet."""
        for effect in effects:
            if isinstance(effect, Deliver):
                self._held.add(effect)
                self._unsettled.add(effect)
            elif isinstance(effect, Answer):
                command, sent = self.asked(effect)
                if effect.refused is not None:
                    if isinstance(command, Attach):
                        self._receivers.pop((command.connection, command.link), None)
                elif isinstance(command, Administer) and isinstance(command.change, DeleteObject):
                    self._said.pop((NAMESPACES[command.change.kind], command.change.name), None)
                elif sent is not None and sent.delayed and sent.message.message_id is not None:
                    self._delayed[sent.message.message_id] = sent

    def answered(self, effects: Sequence[Effect]) -> None:
        """Forget the commands whose answers are among these effects, because the defect has seen the answers."""
        for effect in effects:
            if isinstance(effect, Answer):
                self._asked.pop((effect.connection, effect.token), None)

    def _note_links(self, command: Command) -> None:
        match command:
            case Connect():
                self._connections[command.connection] = command
            case AttachSender():
                self._senders[command.connection, command.link] = command.address
            case Attach():
                self._receivers[command.connection, command.link] = command
            case Detach() | Disconnect():
                if isinstance(command, Detach):
                    self._detached.setdefault(command.connection, []).extend(self.leaving(command))
                else:
                    self._detached.pop(command.connection, None)
                    self._connections.pop(command.connection, None)
                forget(self._senders, command)
                forget(self._receivers, command)
            case _:
                pass

    def _note_units(self, command: Command, sent: Sent | None) -> None:
        match command:
            case Begin():
                self._units.setdefault((command.connection, command.unit), Unit(command.xid))
                if command.xid is not None:
                    self._working[command.xid] = command.connection
            case Put() if command.unit is not None and sent is not None:
                self._units.setdefault((command.connection, command.unit), Unit()).sent.append(sent)
            case Settle():
                if command.unit is None:
                    self._unsettled.remove(command)
                else:
                    unit = self._units.setdefault((command.connection, command.unit), Unit())
                    unit.taken.extend(self._held.of(command))
                self._held.remove(command)
            case Detach() | Disconnect():
                self._held.remove(command)
                self._unsettled.remove(command)
            case Commit():
                self._unsettled.settle(*(one for unit in self.ended(command) for one in unit.taken))
            case PrepareBranch():
                self._prepared.setdefault(command.connection, []).append(command.xid)
            case _:
                pass
        self._end_units(command)

    def _end_units(self, command: Command) -> None:
        over = self.ended(command)
        for key in [key for key, unit in self._units.items() if any(unit is one for one in over)]:
            del self._units[key]
        match command:
            case PrepareBranch() | CommitBranch() | BackOutBranch():
                self._working.pop(command.xid, None)
            case Disconnect():
                self._prepared.pop(command.connection, None)
                for xid in [xid for xid, connection in self._working.items() if connection == command.connection]:
                    del self._working[xid]
            case _:
                pass

    def _note_change(self, change: Change) -> None:
        match change:
            case DefineObject():
                self._said[NAMESPACES[change.kind], change.name] = dict(change.attributes)
            case AlterObject():
                self._said.setdefault((NAMESPACES[change.kind], change.name), {}).update(change.attributes)
            case SetAuthority():
                users = {(user, change.profile) for user in change.principals}
                if {"PUT", "PUB"} & {*change.add}:
                    self._granted |= users
                if {"PUT", "PUB", "ALL"} & {*change.remove}:
                    self._granted -= users
                    if change.groups:
                        self._withheld.add(change.profile)
            case _:
                pass
