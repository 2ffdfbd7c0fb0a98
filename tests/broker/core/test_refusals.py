"""Tests that a refused command has no effect (`assay_broker.core.refusals`): a property of every command.

Random commands go to a small queue manager with tight limits.  For each command that is refused, the test compares
pictures of the queue manager's whole state before and after the command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from random import Random
from typing import TypeVar

import pytest
from msgspec import Struct
from msgspec.structs import replace
from tests.broker.core.harness import QUEUE, T0, TOPIC, alias, limited, message, topic

from assay_broker.core import commands
from assay_broker.core.administration import changes
from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.core.administration.changes import Change
from assay_broker.core.commands import Command
from assay_broker.core.core import Core
from assay_broker.core.handlers import HANDLERS
from assay_broker.core.objects.factory import DURABLE_MODEL, LOCAL_DEFAULT, MODEL_DEFAULT, STAGING_QUEUE
from assay_broker.core.objects.model import Kind, Value
from assay_broker.core.refusals import RefusalError
from assay_broker.core.settings import Settings
from assay_sdk.driver import Durability, Outcome
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.properties import RETAIN
from assay_sdk.model.xa import XaEnd, XaStart

pytestmark = pytest.mark.exhaustive

PROGRAMS = 12
STEPS = 300
COUNTERS = {"_subscription", "keys", "orders"}
"""The counters of `State` and `Group` for new numbers.  A refused command may leave numbers out."""
CACHES = {"_cache", "_new", "route"}
"""Authorities that were looked up, queues that may be unused, and destinations that were resolved."""
CONSTANT = {"settings", "tables", "_table"}
LEFT_OUT = COUNTERS | CACHES | CONSTANT


def picture(root: object) -> list[object]:
    """Return everything that can be reached from an object, in a form that two pictures can be compared by ``==``."""
    drawn: list[object] = []
    places: dict[int, int] = {}
    waiting = [root]
    while waiting:
        one = waiting.pop()
        if id(one) in places:
            drawn.append(("again", places[id(one)]))
            continue
        parts = list(_parts(one))
        if not parts:
            drawn.append(one if _is_value(one) else type(one))
            continue
        places[id(one)] = len(drawn)
        drawn.append((type(one), len(parts)))
        waiting += parts
    return drawn


def _is_value(one: object) -> bool:
    frozen = isinstance(one, Struct) and one.__struct_config__.frozen and one.__struct_config__.eq
    return frozen or one is None or isinstance(one, str | bytes | int | Enum) or callable(one)


def _parts(one: object) -> Iterator[object]:
    """Yield the parts of an object that may change; nothing for a value, such as a number or an address."""
    if _is_value(one):
        return
    if isinstance(one, dict):
        for key, value in one.items():
            yield key
            yield value
    elif isinstance(one, list | tuple):
        yield from one
    elif isinstance(one, set | frozenset):
        yield from sorted(one)
    else:
        fields = getattr(one, "__struct_fields__", None)
        slots = [slot for kind in type(one).__mro__ for slot in getattr(kind, "__slots__", ())]
        for name in fields or sorted({*slots, *getattr(one, "__dict__", ())}):
            if name not in LEFT_OUT and hasattr(one, name):
                yield name
                yield getattr(one, name)


# programs ------------------------------------------------------------------------------------------------------------

T = TypeVar("T")
TEMPORARY = Address(AddressKind.TEMPORARY_QUEUE, "X")
TEMPORARY_TOPIC = Address(AddressKind.TEMPORARY_TOPIC, "Y")
OTHERS = (
    *(Address(AddressKind.QUEUE, name) for name in ("P", "TO.TOPIC", "TO.NOTHING", STAGING_QUEUE)),
    *(Address(AddressKind.TOPIC, name) for name in ("#", "T/U")),
)
OBJECTS = ("Q", "P", "S", "TOPIC", DURABLE_MODEL, MODEL_DEFAULT, LOCAL_DEFAULT, STAGING_QUEUE, "JMS:ASSAY:c:d", "a b")
KINDS = (Kind.QLOCAL, Kind.QALIAS, Kind.QMODEL, Kind.TOPIC, Kind.SUB, Kind.QMGR)
ATTRIBUTES: tuple[dict[str, Value], ...] = (
    {},
    {"MAXDEPTH": 1},
    {"PUT": "DISABLED"},
    {"PUT": "ENABLED", "GET": "ENABLED"},
    {"GET": "DISABLED", "SHARE": "NO"},
    {"DEST": "Q", "TOPICSTR": "T"},
    {"DEST": "Q", "TOPICSTR": "T", "SELECTOR": "a = "},
    {"DEST": "NOTHING", "TOPICSTR": "#"},
    {"SELECTOR": "a = "},
    {"TOPICSTR": "T", "SUB": "DISABLED"},
    {"SUB": "ENABLED"},
    {"TARGET": "Q"},
    {"NOTHING": 1},
)
REPORT = {"JMS_IBM_Report_COA": 0x100, "JMS_IBM_Report_COD": 0x800}


class Drawing:
    """The random arguments of commands.

    Args:
        seed: The seed of the random numbers.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311  the same seed gives the same program

    def one(self, *values: T) -> T:
        return self._random.choice(values)

    def rarely(self) -> bool:
        return self._random.random() < 0.05

    @property
    def flag(self) -> bool:
        return self.one(0, 1) == 1

    @property
    def connection(self) -> int:
        return 3 if self.rarely() else self.one(1, 2)

    @property
    def sender(self) -> int:
        return 3 if self.rarely() else self.one(1, 2)

    @property
    def receiver(self) -> int:
        return 1 if self.rarely() else self.one(3, 4, 5)

    @property
    def unit(self) -> int:
        return self.one(1, 2, 3)

    @property
    def xid(self) -> bytes:
        return b"" if self.rarely() else self.one(b"x1", b"x2", b"x3")

    @property
    def address(self) -> Address:
        return self.one(QUEUE, TOPIC, TEMPORARY, TEMPORARY_TOPIC, self.one(*OTHERS))

    @property
    def selector(self) -> str | None:
        return self.one(None, None, "a = 1", "a = 2", "a = ")

    @property
    def name(self) -> str:
        return self.one("d", "s")

    @property
    def object(self) -> str:
        return self.one(*OBJECTS)

    @property
    def message(self) -> Message:
        return message(
            self.one("a", "b"),
            durable=self.one(None, self.flag),
            to=self.one(None, QUEUE, TOPIC),
            ttl_ms=-1 if self.rarely() else self.one(None, None, 2),
            delivery_time_ms=self.one(None, None, None, T0 + 9),
            priority=10 if self.rarely() else self.one(None, 4, 9),
            group_id=self.one(None, None, "g"),
            reply_to=QUEUE,
            properties=self.one({}, {}, {RETAIN: 1}, REPORT),
        )

    @property
    def change(self) -> Change:
        return self.one(*CHANGES)(self)

    @property
    def command(self) -> Command:
        if self.rarely() and self.rarely():
            return commands.Disconnect(self.connection, None, self.flag)
        return self.one(*COMMANDS, *FREQUENT, *FREQUENT, *FREQUENT)(self)

    @property
    def connect(self) -> Command:
        client_id, user = self.one(None, "c", "e"), "bob" if self.rarely() else ADMINISTRATOR
        return commands.Connect(self.connection, None, "" if self.rarely() else client_id, user)


CHANGES: tuple[Callable[[Drawing], Change], ...] = (
    lambda draw: changes.DefineObject(
        kind=draw.one(*KINDS), name=draw.object, attributes=draw.one(*ATTRIBUTES), replace=draw.flag
    ),
    lambda draw: changes.AlterObject(draw.one(*KINDS), draw.object, draw.one(*ATTRIBUTES)),
    lambda draw: changes.DeleteObject(draw.one(*KINDS), draw.object, draw.flag),
    lambda draw: changes.ClearQueue(draw.object),
    lambda draw: changes.ClearRetained(draw.one("T", "T/U")),
    lambda draw: changes.SetAuthority(
        profile=draw.object,
        object_type=draw.one("QUEUE", "QMGR", "CAT"),
        principals=draw.one((), ("bob", "carl")),
        add=draw.one(("PUT",), ("CAT",)),
    ),
    lambda draw: changes.DisplayObjects(kinds=(draw.one(*KINDS),), name=draw.object),
    lambda draw: changes.DisplayTopicStatus(draw.one("T", "T/U")),
    lambda draw: changes.ResolveIndoubt(draw.xid.hex().upper(), draw.flag),
    lambda draw: changes.NativePut(draw.object, draw.message, draw.one(None, None, 5)),
    lambda draw: changes.NativeBrowse(draw.object),
    lambda draw: changes.NativeTake(draw.object),
)

FREQUENT: tuple[Callable[[Drawing], Command], ...] = (
    lambda draw: draw.connect,
    lambda draw: commands.AttachSender(
        draw.connection, None, draw.sender, draw.one(None, draw.address), not draw.rarely()
    ),
    lambda draw: commands.Attach(
        connection=draw.connection,
        token=None,
        link=draw.receiver,
        address=draw.address,
        selector=draw.selector,
        durability=Durability.DURABLE if (durable := draw.flag) else Durability.NON_DURABLE,
        name=draw.name if durable != draw.rarely() else None,
        shared=durable and draw.flag,
        settled=draw.rarely(),
        session=draw.one(None, 1),
        timeout_ms=draw.one(None, 0, 9) if durable else None,
        adopt=not draw.rarely(),
    ),
    lambda draw: commands.Flow(draw.connection, None, draw.receiver, draw.one(-1, 1, 3), draw.rarely()),
    lambda draw: commands.Put(draw.connection, None, draw.sender, draw.message, draw.one(None, draw.unit)),
    lambda draw: commands.Settle(
        draw.connection,
        None,
        draw.receiver,
        draw.one((1,), (2,), (3, 4), (5,)),
        draw.one(*Outcome),
        draw.one(None, draw.unit),
        draw.flag,
    ),
    lambda draw: commands.Begin(
        draw.connection, None, draw.unit, draw.one(None, 1), draw.one(None, draw.xid), draw.one(*XaStart)
    ),
    lambda draw: commands.Administer(draw.connection, None, draw.change, draw.flag),
)
COMMANDS: tuple[Callable[[Drawing], Command], ...] = (
    lambda draw: commands.Detach(draw.connection, None, draw.one(draw.sender, draw.receiver)),
    lambda draw: commands.Commit(draw.connection, None, draw.unit),
    lambda draw: commands.Backout(draw.connection, None, draw.unit),
    lambda draw: commands.EndBranch(draw.connection, None, draw.xid, draw.one(*XaEnd)),
    lambda draw: commands.PrepareBranch(draw.connection, None, draw.xid),
    lambda draw: commands.CommitBranch(draw.connection, None, draw.xid, draw.flag),
    lambda draw: commands.BackOutBranch(draw.connection, None, draw.xid),
    lambda draw: commands.RecoverBranches(draw.connection, None),
    lambda draw: commands.ForgetBranch(draw.connection, None, draw.xid),
    lambda draw: commands.Unsubscribe(draw.connection, None, draw.name),
    lambda draw: commands.FindSubscription(draw.connection, None, draw.name),
    lambda draw: commands.DeleteTemporary(draw.connection, None, draw.address),
    lambda draw: commands.Browse(draw.connection, None, draw.address, draw.selector),
    lambda draw: commands.Cancel(draw.connection, None, draw.one("a", "b")),
)


def small_manager() -> Core:
    """Return a queue manager with tight limits and two aliases."""
    few = Settings(max_connections=2, max_links=5, max_units=2, max_branches=2, max_queues=4, max_selectors=2)
    made = limited(MAXDEPTH=2, staged=2, units=2, settings=few)
    aliases = topic("TOPIC", "T"), alias("TO.TOPIC", "TOPIC", TARGTYPE="TOPIC"), alias("TO.NOTHING", "NOTHING")
    return Core.recover((), replace(made, objects=(*made.objects, *aliases)), T0)[0]


def is_refused(core: Core, command: Command, now_ms: int) -> bool:
    """Give a command to the core, and return whether it is refused; fail if it is refused and has an effect."""
    before = picture(core._state)
    turn = core._turn(now_ms)
    refused: RefusalError | None = None
    try:
        HANDLERS[type(command)](core._state, turn, command)
    except RefusalError as error:
        refused = error
    effects = core._finish(turn)
    if refused is not None:
        assert effects == (), (command, refused)
        assert picture(core._state) == before, (command, refused)
    elif turn.recorded:
        core.handle(commands.Stored(turn.number), now_ms)
    return refused is not None


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_refused_command_changes_nothing(seed: int) -> None:
    core, draw = small_manager(), Drawing(seed)
    refused = 0
    for now_ms in range(T0, T0 + STEPS):
        core.handle(commands.Tick(), now_ms)
        refused += is_refused(core, draw.command, now_ms)
    assert 0 < refused < STEPS
