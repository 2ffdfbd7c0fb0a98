"""A broker's core on a simulated disk, without sockets and threads, for tests of single commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Generic, TypeVar

from msgspec.structs import replace

from assay_broker.core import commands
from assay_broker.core.administration import activation
from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.core.administration.changes import AlterObject, Change, DefineObject, NativeBrowse
from assay_broker.core.commands import Command
from assay_broker.core.core import Core
from assay_broker.core.effects import Answer, Browsed, CloseLink, Deliver, Effect, Persist, Trace
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.factory import (
    BASE_TOPIC,
    DURABLE_MODEL,
    LOCAL_DEFAULT,
    MODEL_DEFAULT,
    NON_DURABLE_MODEL,
    STAGING_QUEUE,
)
from assay_broker.core.objects.model import Definition, Kind, Namespace, Value
from assay_broker.core.records import Record
from assay_broker.core.settings import Settings
from assay_broker.core.states.tables import TABLES, Tables
from assay_broker.mqsc.defaults import default_objects
from assay_sdk.driver import Durability, Outcome
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Refused

QUEUE = Address(AddressKind.QUEUE, "Q")
TOPIC = Address(AddressKind.TOPIC, "T")
T0 = 1_000_000


def limited(
    *,
    staged: int | None = None,
    units: int | None = None,
    persistent: bool = False,
    dead_letters: bool = True,
    settings: Settings | None = None,
    **attributes: Value,
) -> Settings:
    """Return settings with attributes for every queue that is created on use or for a subscription."""
    made = {LOCAL_DEFAULT, MODEL_DEFAULT, DURABLE_MODEL, NON_DURABLE_MODEL}
    given: dict[str, dict[str, Value]] = {name: dict(attributes) for name in made}
    if staged is not None:
        given[STAGING_QUEUE] = {"MAXDEPTH": staged}
    manager: dict[str, Value] = {} if units is None else {"MAXUMSGS": units}
    given["ASSAY"] = manager if dead_letters else manager | {"DEADQ": ""}
    if persistent:
        given[LOCAL_DEFAULT] = given[BASE_TOPIC] = {"DEFPSIST": "YES"}
    beginning = default_objects("ASSAY")
    return replace(
        settings or Settings(),
        objects=tuple(
            Definition(one.kind, one.name, one.attributes | given.get(one.name, {})) for one in beginning.objects
        ),
        authorities=beginning.authorities,
    )


def queue(name: str, **attributes: Value) -> Definition:
    """Return a definition of a local queue with these attributes, and the defaults for the others."""
    return Definition(Kind.QLOCAL, name, defaults(Kind.QLOCAL) | attributes)


def topic(name: str, string: str, **attributes: Value) -> Definition:
    """Return a definition of a topic object, whose name is not its topic string."""
    return Definition(Kind.TOPIC, name, {**defaults(Kind.TOPIC), "TOPICSTR": string, **attributes})


def alias(name: str, target: str, **attributes: Value) -> Definition:
    """Return a definition of an alias."""
    return Definition(Kind.QALIAS, name, defaults(Kind.QALIAS) | {"TARGET": target} | attributes)


Cell = TypeVar("Cell")
Result = TypeVar("Result")


class Traced(Mapping[Cell, Result], Generic[Cell, Result]):
    """A state table that remembers the cells that were looked up."""

    def __init__(self, table: Mapping[Cell, Result]) -> None:
        self.reached: set[Cell] = set()
        self._table = table

    def __getitem__(self, cell: Cell) -> Result:
        found = self._table[cell]
        self.reached.add(cell)
        return found

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    @property
    def missed(self) -> set[Cell]:
        """Return the cells that were never looked up."""
        return set(self._table) - self.reached


def message(text: str = "m", *, durable: bool | None = True, **fields: object) -> Message:
    """Return a message whose id and body are its text."""
    return Message(message_id=text, body=text, durable=durable, **fields)  # type: ignore[arg-type]  # fields by name


class Bench:
    """A core, its disk, and its effects so far.

    Args:
        settings: The core's settings.
        auto: Whether batches are stored at once.
    """

    def __init__(self, settings: Settings | None = None, *, auto: bool = True, tables: Tables = TABLES) -> None:
        self.settings = settings or limited()
        self.tables = tables
        self.auto = auto
        self.now = T0
        self.disk: list[Record] = []
        self.core = Core.recover((), self.settings, self.now, tables)[0]
        self.buffer: list[Persist] = []
        self.held: list[Answer | Deliver] = []
        self.answers: dict[int, Answer] = {}
        self.delivered: list[Deliver] = []
        self.closed: list[CloseLink] = []
        self.effects: list[Effect] = []
        self._tokens = count(1)

    # effects ---------------------------------------------------------------------------------------------------------

    def handle(self, command: Command) -> tuple[Effect, ...]:
        """Give a command to the core, and handle its effects."""
        effects = self.core.handle(command, self.now)
        self._take(effects)
        return effects

    def put_together(self, connection: int, link: int, *sent: Message) -> list[int]:
        """Send several messages in one turn, and return their tokens."""
        puts = [commands.Put(connection, self.token(), link, one) for one in sent]
        self._take(self.core.put_together(puts, self.now))
        return [put.token for put in puts if put.token is not None]

    def _take(self, effects: tuple[Effect, ...]) -> None:
        self.effects.extend(effects)
        for effect in effects:
            if isinstance(effect, Persist):
                self.buffer.append(effect)
            elif isinstance(effect, CloseLink):
                self.closed.append(effect)
            elif isinstance(effect, Trace):
                continue
            elif effect.after is None:
                self._out(effect)
            else:
                self.held.append(effect)
        if self.auto:
            self.flush()

    def _out(self, effect: Answer | Deliver) -> None:
        if isinstance(effect, Answer):
            assert effect.token not in self.answers, "a command was answered twice"
            self.answers[effect.token] = effect
        else:
            self.delivered.append(effect)

    def flush(self) -> None:
        """Store every batch."""
        while self.buffer:
            persist = self.buffer.pop(0)
            self.disk.extend(persist.records)
            self._take(self.core.handle(commands.Stored(persist.batch), self.now))
            for effect in [one for one in self.held if one.after is not None and one.after <= persist.batch]:
                self.held.remove(effect)
                self._out(effect)

    def fail(self) -> None:
        """Fail every batch, all at once."""
        failing = [persist.batch for persist in reversed(self.buffer)]
        self.buffer = []
        if failing:
            self.held = [effect for effect in self.held if effect.after not in failing]
            self._take(self.core.handle(commands.StoreFailed(failing[0], "no room", tuple(failing[1:])), self.now))

    def restart(self, *, kill: bool = True) -> None:
        """Start again from the disk; a kill loses unflushed records."""
        if not kill:
            self.flush()
        self.buffer, self.held = [], []
        self.core, effects = Core.recover(self.disk, self.settings, self.now, self.tables)
        self._take(effects)

    def tick(self, to_ms: int) -> None:
        """Move the clock to a time, and give every due tick to the core."""
        while (due := self.core.next_due_ms()) is not None and due <= to_ms:
            self.now = max(self.now, due)
            self.handle(commands.Tick())
        self.now = to_ms

    # an administrator ------------------------------------------------------------------------------------------------

    def define(self, *definitions: Definition) -> None:
        """Define objects."""
        for one in definitions:
            factory = defaults(one.kind)
            given = {keyword: value for keyword, value in one.attributes.items() if factory[keyword] != value}
            self._change(DefineObject(kind=one.kind, name=one.name, attributes=given, replace=True))

    def alter(self, name: str, **attributes: Value) -> None:
        """Change attributes of a queue, or of the queue manager."""
        objects = self.core._state.objects
        found = objects.queue(name) or objects.find(Namespace.QMGR, name)
        assert found is not None, f"there is no {name}"
        self._change(AlterObject(found.kind, name, attributes))

    def delete(self, name: str) -> None:
        """Remove a queue's definition, as damage would, even if the queue has messages or is open."""
        found = self.core._state.objects.queue(name)
        assert found is not None, f"there is no {name}"
        turn = self.core._turn(self.now)
        activation.remove(self.core._state, turn, found)
        self._take(self.core._finish(turn))

    def administer(self, change: Change) -> Answer:
        """Ask for a change as the administrator, and return the answer; fail if there is no answer yet."""
        return self.answers[self.handle_as_administrator(change)]

    def _change(self, change: Change) -> None:
        """Ask for a change, and check that the core does not refuse it."""
        answer = self.answers.get(self.handle_as_administrator(change))
        assert answer is None or answer.refused is None, answer.refused

    def handle_as_administrator(self, change: Change) -> int:
        """Ask for a change as the administrator, and return the token."""
        connection, token = self._as_administrator(), self.token()
        self.handle(commands.Administer(connection, token, change))
        self.disconnect(connection)
        return token

    def _as_administrator(self) -> int:
        number = 1_000 + self.token()
        self.connect(number, user=ADMINISTRATOR)
        return number

    def shown(self, name: str) -> list[Described]:
        """Return the messages on a queue, with descriptors."""
        value = self.administer(NativeBrowse(name)).value or ()
        return [one for one in value if isinstance(one, Described)]

    def at_rest(self) -> None:
        """Check that the core keeps no finished objects: scheduled copies are on queues, reserved places have units."""
        state = self.core._state
        standing = {key for queue in state.queues for key in queue.entries}
        staged = {entry.key for entry in state.staging}
        assert not standing & staged, "a copy stands on a queue and is staged"
        assert {entry.key for entry in state.expiry} <= standing | staged, "what has gone is left to expire"
        assert not any(one.units for one in state.connections), "a unit of work is open"
        assert state.staging.reserved == 0, "places on the staging queue are reserved for nobody"
        for queue in state.queues:
            assert queue.reserved == 0, f"places on {queue.name} are reserved for nobody"
            assert not queue._own, f"{queue.name} holds messages of units that are over"
            assert not queue.on_use or not queue.idle, f"{queue.name} is kept for nobody"
        assert sum(map(len, state.staging._by_id.values())) == len(state.staging)

    # a client --------------------------------------------------------------------------------------------------------

    def token(self) -> int:
        """Return a new token."""
        return next(self._tokens)

    def ask(self, command: Command, token: int) -> Refused | None:
        """Give a command to the core, and return its refusal, or None; fail if there is no answer yet."""
        self.handle(command)
        return self.answers[token].refused

    def connect(self, number: int, client_id: str | None = None, user: str | None = None) -> Refused | None:
        """Connect a client."""
        token = self.token()
        return self.ask(commands.Connect(number, token, client_id, user), token)

    def disconnect(self, number: int, *, clean: bool = True) -> None:
        """Disconnect a client."""
        self.handle(commands.Disconnect(number, self.token(), clean))

    def sender(self, connection: int, link: int, address: Address | None = QUEUE) -> Refused | None:
        """Open a sender."""
        token = self.token()
        return self.ask(commands.AttachSender(connection, token, link, address), token)

    def receiver(
        self,
        connection: int,
        link: int,
        address: Address = QUEUE,
        *,
        credit: int = 100,
        durable: str | None = None,
        shared: str | None = None,
        selector: str | None = None,
        no_local: bool = False,
        settled: bool = False,
        session: int | None = None,
        timeout_ms: int | None = None,
        is_global: bool = False,
    ) -> Refused | None:
        """Open a receiver with credit; `durable` and `shared` are the subscription's name."""
        token = self.token()
        refused = self.ask(
            commands.Attach(
                connection=connection,
                token=token,
                link=link,
                address=address,
                selector=selector,
                no_local=no_local,
                durability=Durability.DURABLE if durable else Durability.NON_DURABLE,
                name=durable or shared,
                shared=shared is not None,
                settled=settled,
                session=session,
                timeout_ms=timeout_ms,
                is_global=is_global,
            ),
            token,
        )
        if refused is None and credit:
            self.handle(commands.Flow(connection, None, link, credit))
        return refused

    def put(self, connection: int, link: int, sent: Message, unit: int | None = None) -> int:
        """Send a message, and return the token."""
        token = self.token()
        self.handle(commands.Put(connection, token, link, sent, unit))
        return token

    def settle(
        self,
        connection: int,
        link: int,
        *deliveries: int,
        outcome: Outcome = Outcome.ACCEPTED,
        unit: int | None = None,
        leave_out: bool = False,
        annotations: bytes = b"",
    ) -> int:
        """Settle deliveries, and return the token."""
        token = self.token()
        self.handle(commands.Settle(connection, token, link, deliveries, outcome, unit, leave_out, annotations))
        return token

    def begin(self, connection: int, unit: int, session: int | None = None) -> Refused | None:
        """Begin a unit of work."""
        token = self.token()
        return self.ask(commands.Begin(connection, token, unit, session), token)

    def commit(self, connection: int, unit: int) -> int:
        """Commit a unit of work, and return the token."""
        token = self.token()
        self.handle(commands.Commit(connection, token, unit))
        return token

    def back_out(self, connection: int, unit: int) -> None:
        """Back a unit of work out."""
        token = self.token()
        assert self.ask(commands.Backout(connection, token, unit), token) is None

    def bodies(self, link: int | None = None) -> list[str]:
        """Return the bodies of the deliveries so far, of one link or of all."""
        return [str(one.message.body) for one in self.delivered if link is None or one.link == link]

    def browse(self, address: Address = QUEUE, connection: int = 1) -> list[str]:
        """Browse a queue, and return the bodies; the administrator browses the queue manager's own queues."""
        own = address.name.startswith("SYSTEM.")
        if own:
            connection = self._as_administrator()
        token = self.token()
        self.handle(commands.Browse(connection, token, address))
        if own:
            self.disconnect(connection)
        return [str(one.message.body) for one in self.answers[token].value or () if isinstance(one, Browsed)]
