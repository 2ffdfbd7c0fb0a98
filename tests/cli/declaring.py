"""Backends with false declarations: the reference broker in this process, with a client that may be plain.

A plain client accepts every option and ignores it:

- Messages have no delay, no time to live and no priority.
- Selectors select all messages, and browsers find none.
- Subscriptions are neither durable nor shared, and units of work have no effect.

So the pair has queues and topics, and no other capability.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import cast

from msgspec import structs

from assay_adapters.brokers.reference.inprocess.backend import ReferenceBackend, ReferenceInstance
from assay_adapters.ports.backend import Backend, Environment, Instance
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.client import (
    AckMode,
    Client,
    ClientConnection,
    ClientConsumer,
    ClientSession,
    Endpoint,
    Origin,
    Qos,
    Seen,
    Sent,
    Setting,
    Source,
)
from assay_adapters.ports.entry import BackendEntry, BackendOptions
from assay_adapters.ports.outcome import Ok, Outcome
from assay_features import Profile
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability
from assay_steps.defects.ports import ClientFilter, ConnectionFilter, ProducerFilter, Sending, SessionFilter

MANUAL = Source("The manual says so.")
NOBODY_KNOWS = Source("Nobody has looked.")
CLOCK = {Capability.VIRTUAL_TIME: Source("The broker runs in this process.")}
"""Every backend here declares virtual time; in real time, a busy machine would make results inconclusive."""
BASIC = (Capability.QUEUE, Capability.TOPIC, Capability.SESSION)
DECLARABLE = (
    *BASIC,
    Capability.DELIVERY_DELAY,
    Capability.TIME_TO_LIVE,
    Capability.PRIORITY,
    Capability.NON_PERSISTENT,
    Capability.SELECTOR,
    Capability.BROWSE,
    Capability.DURABLE_SUBSCRIPTION,
    Capability.SHARED_SUBSCRIPTION,
    Capability.LOCAL_TRANSACTION,
    Capability.CLIENT_ID,
)
"""The abilities of a message broker, without the faults and the administration that the kit adds."""
IGNORED = frozenset({Setting.DELAY, Setting.TTL, Setting.PRIORITY})
PROFILES = (Profile.PERSISTENCE, Profile.DELAY)


class PlainProducer(ProducerFilter):
    """A producer that sends without delay, time to live and priority."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        return Ok(None) if setting in IGNORED else super().set(setting, value)

    def sending(self, asked: Sending) -> Outcome[Sent]:
        return structs.replace(asked, priority=None, ttl_ms=None).through(self.behind)


class PlainSession(SessionFilter):
    """A session that subscribes and receives without options, and whose browsers find nothing."""

    def consumer(
        self, of: Origin, *, actor: str, qos: Qos | None = None, auto_confirm: bool | None = None
    ) -> Outcome[ClientConsumer]:
        return super().consumer(Origin(address=of.address), actor=actor, qos=qos, auto_confirm=auto_confirm)

    def browse(self, queue: str, selector: str | None = None) -> Outcome[tuple[Seen, ...]]:
        del queue, selector
        return Ok(())

    def commit(self) -> Outcome[None]:
        return Ok(None)

    def rollback(self) -> Outcome[None]:
        return Ok(None)


class PlainConnection(ConnectionFilter):
    """A connection whose sessions have no units of work."""

    def session(self, ack: AckMode) -> Outcome[ClientSession]:
        made = super().session(AckMode.AUTO if ack is AckMode.TRANSACTED else ack)
        return Ok(PlainSession(made.value, PlainProducer)) if isinstance(made, Ok) else made


class PlainClient(ClientFilter):
    """A client that accepts every option and ignores it."""

    def connect(
        self, to: Endpoint, *, client_id: str | None = None, login: Login | None = None, checks: bool = True
    ) -> Outcome[ClientConnection]:
        made = super().connect(to, client_id=client_id, login=login, checks=checks)
        return Ok(PlainConnection(made.value, PlainProducer)) if isinstance(made, Ok) else made


class PlainInstance:
    """An instance whose clients are plain."""

    def __init__(self, behind: ReferenceInstance) -> None:
        self._behind = behind

    def __getattr__(self, name: str) -> object:
        return getattr(self._behind, name)

    def clients(self) -> Mapping[str, Client]:
        return {face: PlainClient(client) for face, client in self._behind.clients().items()}


class Declaring(ReferenceBackend):
    """The reference broker under another name, with given declarations."""

    profiles = PROFILES

    def __init__(self, name: str, declared: Mapping[Capability, Source], *, plain: bool) -> None:
        super().__init__()
        self.name = name
        self.capabilities = {**declared, **CLOCK}
        self.lacks = {capability: NOBODY_KNOWS for capability in Capability if capability not in self.capabilities}
        self._plain = plain

    @property
    def environment(self) -> Environment:
        return structs.replace(super().environment, ours=False)

    def provision(self, needs: Needs) -> Instance | Unsupported:  # type: ignore[override]  # a plain instance, too
        made = super().provision(needs)
        return cast("Instance", PlainInstance(made)) if self._plain and not isinstance(made, Unsupported) else made


def entry(name: str, declared: Mapping[Capability, Source], *, plain: bool) -> BackendEntry:
    """Return the registry entry of a backend with given declarations."""

    def opened(options: BackendOptions) -> Backend:
        del options
        return cast("Backend", Declaring(name, declared, plain=plain))

    return BackendEntry(opened)


NOTHING_OF_ALL = entry("nothing-of-all", {}, plain=False)
"""Declares nothing but its clock, and has every capability."""
NOTHING_OF_NOTHING = entry("nothing-of-nothing", dict.fromkeys(BASIC, MANUAL), plain=True)
"""Declares queues and topics only, and has only these."""
ALL_OF_NOTHING = entry("all-of-nothing", dict.fromkeys(DECLARABLE, MANUAL), plain=True)
"""Declares everything, and has queues and topics only."""
