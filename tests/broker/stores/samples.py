"""Records and helpers for tests of stores."""

from __future__ import annotations

from pathlib import Path

from assay_broker.core.records import MessageRemoved, MessageStored, Record, SubscriptionDefined, SubscriptionRemoved
from assay_broker.stores import Store
from assay_broker.stores.disk import Disk
from assay_broker.stores.sqlite import SqliteStore
from assay_sdk.model.message import Address, AddressKind, Message

TOPIC = Address(AddressKind.TOPIC, "T")
DEFINED = SubscriptionDefined(
    number=1, client_id="c", name="d", topic=TOPIC, selector=None, no_local=False, shared=False
)
LOG_BYTES = 1 << 17
"""The length of a log of 31 pages, so short that it is soon copied into the database."""


def stored(key: int, body: str | bytes = "body") -> MessageStored:
    message = Message(body=body, properties={"n": 1, "b": b"\x00", "t": True, "x": None, "f": 1.5}, to=TOPIC)
    return MessageStored(key=key, home="queue://Q", message=message, arrived_ms=1, expires_ms=None, due_ms=2)


def opened(folder: Path, disk: Disk | None = None, name: str = "QM", reserve_bytes: int = 0) -> SqliteStore:
    return SqliteStore(folder, name, disk, log_bytes=LOG_BYTES, reserve_bytes=reserve_bytes)


def filled(folder: Path, *, orderly: bool = True) -> None:
    """Write 20 messages to a folder, with a flush for each."""
    store = opened(folder)
    for key in range(1, 21):
        store.write([stored(key, f"body {key} " * 20)])
        store.flush()
    if orderly:
        store.close()
    else:
        store.abandon()


def kept(store: Store) -> tuple[Record, ...]:
    """Return the records of a store, without those that only reserve numbers."""
    return tuple(one for one in store.load() if not isinstance(one, MessageRemoved | SubscriptionRemoved))


def keys(store: Store) -> list[int]:
    """Return the numbers of the messages that a store has."""
    return [record.key for record in store.load() if isinstance(record, MessageStored)]
