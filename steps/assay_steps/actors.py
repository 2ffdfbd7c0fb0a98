"""The cast of a scenario: connections, sessions, producers and consumers that leave evidence of all they do.

Each wraps one object of the `Client` port (I-1), writes a ``call`` before and a ``return`` after every operation, and
answers with the call's reference beside the outcome, so that a claim can point at it.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Generic, TypeVar

from msgspec import Struct

from assay_adapters.client import (
    MODE_VALUES,
    AckMode,
    ClientConnection,
    ClientConsumer,
    ClientProducer,
    ClientSession,
    Draft,
    Mode,
    Origin,
    Script,
    Seen,
    Sent,
    Setting,
)
from assay_adapters.outcome import Ok, Outcome, Refused
from assay_evidence import events
from assay_sdk.model.message import Address
from assay_steps.journal import ScenarioJournal

T = TypeVar("T")
Scalar = events.Scalar
MILLISECOND = timedelta(milliseconds=1)


class Answer(Struct, Generic[T], frozen=True):
    """An outcome, with the reference of the call that gave it.

    Args:
        ref: ``writer:seq`` of the ``call`` event.
        outcome: What came back.
    """

    ref: str
    outcome: Outcome[T]

    @property
    def accepted(self) -> bool:
        """Whether the call was not refused."""
        return isinstance(self.outcome, Ok)

    def needed(self) -> T:
        """The value, where the scenario cannot go on without it.

        Raises:
            SetupRefusedError: The pair refused what the scenario needs in order to try its rule.
        """
        if isinstance(self.outcome, Refused):
            raise SetupRefusedError(self.outcome)
        return self.outcome.value


class SetupRefusedError(Exception):
    """The pair refused a step that the rule under trial depends on: nothing is known of the rule."""

    def __init__(self, refusal: Refused) -> None:
        reason = f" (reason {refusal.mqrc})" if refusal.mqrc else ""
        super().__init__(f"{refusal.kind.value}{reason}: {refusal.text}")
        self.refusal = refusal


def message_ref(
    kid: str, body: str, broker_id: str | None = None, fields: dict[str, Scalar] | None = None
) -> events.MessageRef:
    """A message as the journal names it: the digest is over the body's UTF-8 octets."""
    octets = body.encode()
    return events.MessageRef(
        kid=kid, sha256=hashlib.sha256(octets).hexdigest(), bytes=len(octets), broker_id=broker_id, fields=fields or {}
    )


class Recorder:
    """Writes the calls of one scenario."""

    def __init__(self, journal: ScenarioJournal) -> None:
        self.journal = journal
        self._numbers = itertools.count(1)

    def number(self, what: str) -> str:
        """A name for a call or a watch, unique in the run."""
        return f"{self.journal.scenario}#{what}{next(self._numbers)}"

    def record(
        self,
        actor: str,
        op: str,
        action: Callable[[], Outcome[T]],
        *,
        args: dict[str, Scalar] | None = None,
        destination: str | None = None,
        unit: str | None = None,
        msg: events.MessageRef | None = None,
        show: Callable[[T], dict[str, Any]] = lambda _: {},
    ) -> Answer[T]:
        """Make a call on the client under test and leave evidence of it.

        Args:
            actor: Who calls.
            op: Which operation.
            action: The call itself.
            args: Its arguments, for the journal.
            destination: Queue or topic.
            unit: The local unit of work.
            msg: The message of a send.
            show: Turns the value into fields of the ``return`` event.
        """
        call_id = self.number("call")
        call = self.journal.write(
            events.Call, id=call_id, actor=actor, op=op, args=args or {}, destination=destination, unit=unit, msg=msg
        )
        outcome = action()
        if isinstance(outcome, Refused):
            info = events.RefusedInfo(
                kind=outcome.kind.value,
                checked=outcome.checked,
                mqrc=outcome.mqrc,
                objects=outcome.objects,
                text=outcome.text,
            )
            self.journal.write(events.Return, call=call_id, refused=info)
        else:
            self.journal.write(events.Return, call=call_id, **show(outcome.value))
        return Answer(call.ref, outcome)


class Connection:
    """A connection of one client, by name."""

    def __init__(self, recorder: Recorder, name: str, port: ClientConnection) -> None:
        self.name = name
        self.open = True
        self._recorder = recorder
        self._port = port
        self.consumers: list[Consumer] = []

    def session(self, ack: AckMode, name: str | None = None) -> Session:
        """Make a session; refused ones end the scenario as inconclusive."""
        port = self._recorder.record(
            self.name, "session", lambda: self._port.session(ack), args={"ack": ack.value}
        ).needed()
        return Session(self._recorder, name or self.name, self, port, ack)

    def close(self) -> Answer[None]:
        """Close in order."""
        answer = self._recorder.record(self.name, "close-connection", self._port.close)
        self.lost()
        return answer

    def abort(self) -> None:
        """Lose the connection: as if the line had been cut."""

        def cut() -> Outcome[None]:
            self._port.abort()
            return Ok(None)

        self._recorder.record(self.name, "abort", cut)
        self.lost()

    def lost(self) -> None:
        """From here on nobody on this connection watches anything."""
        self.open = False
        for consumer in self.consumers:
            consumer.stop_watching()


class Session:
    """A session, with the count of its units of work."""

    def __init__(
        self, recorder: Recorder, name: str, connection: Connection, port: ClientSession, ack: AckMode
    ) -> None:
        self.name = name
        self.connection = connection
        self.ack = ack
        self.port = port
        self._recorder = recorder
        self._units = 0
        self._working = False

    @property
    def unit(self) -> str | None:
        """The unit of work that an operation belongs to; begun by the first that asks."""
        if self.ack is not AckMode.TRANSACTED:
            return None
        name = f"{self.name}/{self._units}"
        if not self._working:
            self._working = True
            self._recorder.journal.write(events.Unit, actor=self.name, unit=name, op="begin")
        return name

    def _end_unit(self, op: str, action: Callable[[], Outcome[None]]) -> Answer[None]:
        unit = self.unit
        answer = self._recorder.record(self.name, op, action, unit=unit)
        if unit is not None and answer.accepted:
            self._recorder.journal.write(events.Unit, actor=self.name, unit=unit, op=op)
            self._units += 1
            self._working = False
        return answer

    def commit(self) -> Answer[None]:
        """Commit the unit of work."""
        return self._end_unit("commit", self.port.commit)

    def rollback(self) -> Answer[None]:
        """Roll the unit of work back."""
        return self._end_unit("rollback", self.port.rollback)

    def recover(self) -> Answer[None]:
        """Have what was not acknowledged delivered again."""
        return self._recorder.record(self.name, "recover", self.port.recover)

    def acknowledge(self, seen: Seen) -> Answer[None]:
        """Acknowledge, in the meaning of the session's mode."""
        return self._recorder.record(
            self.name, "acknowledge", lambda: self.port.acknowledge(seen), msg=message_ref(seen.kid, seen.body)
        )

    def unsubscribe(self, name: str, *, shared: bool = False) -> Answer[None]:
        """Remove a durable subscription."""
        return self._recorder.record(
            self.name,
            "unsubscribe",
            lambda: self.port.unsubscribe(name, shared=shared),
            args={"name": name, "shared": shared},
        )

    def browse(self, queue: Address, selector: str | None = None) -> Answer[tuple[Seen, ...]]:
        """Look at a queue."""

        def listing(found: tuple[Seen, ...]) -> dict[str, Any]:
            return {"kids": tuple(seen.kid for seen in found)}

        return self._recorder.record(
            self.name,
            "browse",
            lambda: self.port.browse(queue.name, selector),
            args={"selector": selector},
            destination=str(queue),
            show=listing,
        )

    def producer(self, to: Address | None, name: str) -> Producer:
        """Make a producer."""
        port = self._recorder.record(
            name, "producer", lambda: self.port.producer(to), destination=str(to) if to else None
        ).needed()
        return Producer(self._recorder, name, self, port, to)

    def consumer(self, origin: Origin, name: str) -> Answer[Consumer]:
        """Make a consumer, or learn why not."""
        args: dict[str, Scalar] = {
            "selector": origin.selector,
            "durability": origin.durability.value,
            "name": origin.name,
            "shared": origin.shared,
            "no_local": origin.no_local,
        }
        answer = self._recorder.record(
            name, "consumer", lambda: self.port.consumer(origin, actor=name), args=args, destination=str(origin.address)
        )
        if isinstance(answer.outcome, Refused):
            return Answer(answer.ref, answer.outcome)
        consumer = Consumer(self._recorder, name, self, answer.outcome.value, origin)
        self.connection.consumers.append(consumer)
        return Answer(answer.ref, Ok(consumer))

    def close(self) -> Answer[None]:
        """Close the session; its consumers watch nothing from then on."""
        answer = self._recorder.record(self.name, "close-session", self.port.close)
        for consumer in self.connection.consumers:
            if consumer.session is self:
                consumer.stop_watching()
        return answer


class Producer:
    """A producer, with the settings that its next send will use."""

    def __init__(
        self, recorder: Recorder, name: str, session: Session, port: ClientProducer, to: Address | None
    ) -> None:
        self.name = name
        self.session = session
        self.to = to
        self._recorder = recorder
        self._port = port
        self._settings: dict[Setting, int] = {
            Setting.DELAY: 0,
            Setting.TTL: 0,
            Setting.MODE: 2,
            Setting.PRIORITY: 4,
        }

    def set(self, setting: Setting, value: int | timedelta) -> Answer[None]:
        """Set delay, time to live (milliseconds, or a span that is finer), mode (JMS's number) or priority."""
        args: dict[str, Scalar] = {
            "setting": setting.value,
            "value": str(value) if isinstance(value, timedelta) else value,
        }
        answer = self._recorder.record(self.name, "set", lambda: self._port.set(setting, value), args=args)
        if answer.accepted:
            self._settings[setting] = value // MILLISECOND if isinstance(value, timedelta) else value
        return answer

    def send(
        self,
        draft: Draft,
        *,
        mode: Mode | None = None,
        priority: int | None = None,
        ttl_ms: int | None = None,
        to: Address | None = None,
    ) -> Answer[Sent]:
        """Send; the ``call`` event carries the values in effect."""
        own_mode = MODE_VALUES[self._settings[Setting.MODE]]
        args: dict[str, Scalar] = {
            "mode": (mode or own_mode).value,
            "priority": self._settings[Setting.PRIORITY] if priority is None else priority,
            "ttl_ms": self._settings[Setting.TTL] if ttl_ms is None else ttl_ms,
            "delay_ms": self._settings[Setting.DELAY],
        }

        def shown(sent: Sent) -> dict[str, Any]:
            return {"msg": message_ref(draft.kid, draft.text, sent.message_id, dict(sent.fields))}

        return self._recorder.record(
            self.name,
            "send",
            lambda: self._port.send(draft, mode=mode, priority=priority, ttl_ms=ttl_ms, to=to),
            args=args,
            destination=str(to or self.to),
            unit=self.session.unit,
            msg=message_ref(draft.kid, draft.text, fields=dict(draft.properties)),  # type: ignore[arg-type]  # drafts carry scalars only
            show=shown,
        )

    def close(self) -> Answer[None]:
        """Close the producer."""
        return self._recorder.record(self.name, "close-producer", self._port.close)


class Consumer:
    """A consumer, with its watches: the times in which it could have been handed a message."""

    def __init__(self, recorder: Recorder, name: str, session: Session, port: ClientConsumer, origin: Origin) -> None:
        self.name = name
        self.session = session
        self.origin = origin
        self.listening = False
        self._recorder = recorder
        self._port = port
        self._watch: str | None = None

    @property
    def destination(self) -> str:
        """What it consumes, for the journal."""
        return str(self.origin.address)

    def start_watching(self) -> None:
        """From now on it can be handed a message."""
        self._watch = self._recorder.number("watch")
        self._recorder.journal.write(
            events.Watch, id=self._watch, actor=self.name, destination=self.destination, phase="begin"
        )

    def stop_watching(self) -> None:
        """From now on it cannot; twice is once."""
        self.listening = False
        if self._watch is not None:
            watch, self._watch = self._watch, None
            self._recorder.journal.write(
                events.Watch, id=watch, actor=self.name, destination=self.destination, phase="end"
            )

    def receive(self, timeout_ms: int) -> Answer[Seen | None]:
        """Wait for one message."""
        self.start_watching()

        def shown(seen: Seen | None) -> dict[str, Any]:
            return {"value": {"kid": seen.kid if seen else None}}

        def wait() -> Outcome[Seen | None]:
            try:
                return self._port.receive(timeout_ms)
            finally:
                self.stop_watching()

        return self._recorder.record(
            self.name,
            "receive",
            wait,
            args={"timeout_ms": timeout_ms},
            destination=self.destination,
            unit=self.session.unit,
            show=shown,
        )

    def _listen(
        self, op: str, args: dict[str, Scalar], action: Callable[[], Outcome[None]], *, on: bool
    ) -> Answer[None]:
        answer = self._recorder.record(self.name, op, action, args=args, destination=self.destination)
        if answer.accepted:
            self.stop_watching()
            if on:
                self.start_watching()
            self.listening = on
        return answer

    def listen(self, script: Script | None) -> Answer[None]:
        """Set or clear a message listener."""
        return self._listen(
            "listen", {"on": script is not None}, lambda: self._port.listen(script), on=script is not None
        )

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Answer[None]:
        """Set or clear a batch listener."""
        return self._listen(
            "listen-batch",
            {"on": script is not None, "size": size, "timeout_ms": timeout_ms},
            lambda: self._port.listen_batch(script, size, timeout_ms),
            on=script is not None,
        )

    def close(self) -> Answer[None]:
        """Close the consumer."""
        answer = self._recorder.record(self.name, "close-consumer", self._port.close, destination=self.destination)
        self.stop_watching()
        return answer
