"""The producers and consumers of a scenario; they record all their calls and the consumers' watches."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from threading import Lock
from typing import Any

from assay_adapters.ports.client import (
    AS_DESTINATION,
    MODE_VALUES,
    ClientConsumer,
    ClientProducer,
    Draft,
    Mode,
    Origin,
    Qos,
    Script,
    Seen,
    Sent,
    Setting,
)
from assay_adapters.ports.outcome import Ok, Outcome, Refused
from assay_evidence import events
from assay_sdk.model.message import Address
from assay_steps.cast.recording import Answer, Recorder, Scalar, message_ref, shown_properties
from assay_steps.cast.sessions import Session

MILLISECOND = timedelta(milliseconds=1)


class Producer:
    """A producer of a scenario; it records its calls, and remembers its settings for the journal."""

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
        """Set the delay, time to live, delivery mode or priority of the messages that the producer sends next.

        Args:
            setting: The setting: delivery delay, time to live, delivery mode or priority.
            value: For delay and time to live, milliseconds, or a `timedelta` for a time that is not a whole number of
                milliseconds. For delivery mode and priority, the number that JMS defines.
        """
        args: dict[str, Scalar] = {
            "setting": setting.value,
            "value": str(value) if isinstance(value, timedelta) else value,
        }
        answer = self._recorder.record(self.name, "set", lambda: self._port.set(setting, value), args=args)
        if answer.accepted:
            self._settings[setting] = value // MILLISECOND if isinstance(value, timedelta) else value
        return answer

    def get(self, setting: Setting) -> Answer[int]:
        """Return a setting as the producer shows it; the ``return`` event has it under the setting's name."""
        return self._recorder.record(
            self.name,
            "get",
            lambda: self._port.get(setting),
            args={"setting": setting.value},
            show=lambda value: {"value": {setting.value: value}},
        )

    def send(
        self,
        draft: Draft,
        *,
        mode: Mode | None = None,
        priority: int | None = None,
        ttl_ms: int | None = None,
        to: Address | None = None,
    ) -> Answer[Sent]:
        """Send a message; the ``call`` event holds the mode, priority, time to live and delay in effect.

        Args:
            draft: The message.
            mode: The delivery mode for this send alone; None for the producer's.
            priority: The priority for this send alone; None for the producer's.
            ttl_ms: The time to live for this send alone, in milliseconds; None for the producer's.
            to: The destination, for a producer without one.
        """
        own_mode, own_priority = MODE_VALUES[self._settings[Setting.MODE]], self._settings[Setting.PRIORITY]
        used_priority = own_priority if priority is None else priority
        args: dict[str, Scalar] = {
            "mode": (mode or own_mode).value,
            "priority": Mode.AS_DESTINATION.value if used_priority == AS_DESTINATION else used_priority,
            "ttl_ms": self._settings[Setting.TTL] if ttl_ms is None else ttl_ms,
            "delay_ms": self._settings[Setting.DELAY],
        }

        def shown(sent: Sent) -> dict[str, Any]:
            return {"msg": message_ref(draft.key, draft.content, sent.message_id, dict(sent.fields))}

        return self._recorder.record(
            self.name,
            "send",
            lambda: self._port.send(draft, mode=mode, priority=priority, ttl_ms=ttl_ms, to=to),
            args=args,
            destination=str(to or self.to),
            unit=self.session.unit,
            msg=message_ref(draft.key, draft.content, fields=shown_properties(draft.properties)),
            show=shown,
        )

    def close(self) -> Answer[None]:
        """Close the producer."""
        return self._recorder.record(self.name, "close-producer", self._port.close)


class Consumer:
    """A consumer of a scenario; it records its calls and its watches.

    A watch is a time in which the consumer could have received a message.
    """

    def __init__(self, recorder: Recorder, name: str, session: Session, port: ClientConsumer, origin: Origin) -> None:
        self.name = name
        self.session = session
        self.origin = origin
        self.listening = False
        self._recorder = recorder
        self._port = port
        self._kind: str | None = None
        """The call that set the listener, ``listen`` or ``listen-batch``; only the same call can remove it (BT-03)."""
        self._watch: str | None = None
        # The thread that reads the socket may call `pause_watching` while the steps' thread begins a watch.
        self._watching = Lock()

    @property
    def destination(self) -> str:
        """The name of the consumer's destination, as the journal writes it."""
        return str(self.origin.address)

    def start_watching(self) -> None:
        """Begin a watch, because the consumer can receive messages from now on."""
        with self._watching:
            self._watch = self._recorder.number("watch")
            self._recorder.journal.write(
                events.Watch, id=self._watch, actor=self.name, destination=self.destination, phase="begin"
            )

    def stop_watching(self) -> None:
        """End the watch, if there is one, and note that the consumer has no listener."""
        self.listening = False
        self.pause_watching()

    def pause_watching(self) -> None:
        """End the watch but keep the listener.

        This happens, for example, when an XA session leaves its branch, or when the connection is lost.
        """
        with self._watching:
            if self._watch is not None:
                watch, self._watch = self._watch, None
                self._recorder.journal.write(
                    events.Watch, id=watch, actor=self.name, destination=self.destination, phase="end"
                )

    def resume(self) -> None:
        """Begin a watch after the client has reconnected, if the consumer has a listener."""
        if self.listening:
            self.start_watching()

    def receive(self, timeout_ms: int) -> Answer[Seen | None]:
        """Wait at most ``timeout_ms`` milliseconds for one message; the answer holds None if none arrived in time."""
        self.start_watching()

        def shown(seen: Seen | None) -> dict[str, Any]:
            return {"value": {"kid": seen.key if seen else None}}

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
        if answer.accepted and (on or self._kind in {op, None}):
            self.stop_watching()
            if on and self.session.hands_over:
                self.start_watching()
            self.listening = on
            self._kind = op if on else None
        return answer

    def listen(self, script: Script | None) -> Answer[None]:
        """Set the consumer's message listener; None removes it."""
        return self._listen(
            "listen", {"on": script is not None}, lambda: self._port.listen(script), on=script is not None
        )

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Answer[None]:
        """Set the consumer's batch listener; None removes it.

        Args:
            script: How the listener treats each batch.
            size: The largest number of messages in a batch.
            timeout_ms: How long the client waits for a full batch, in milliseconds.
        """
        return self._listen(
            "listen-batch",
            {"on": script is not None, "size": size, "timeout_ms": timeout_ms},
            lambda: self._port.listen_batch(script, size, timeout_ms),
            on=script is not None,
        )

    def close(self) -> Answer[None]:
        """End the consumer's watch, and close the consumer."""
        self.stop_watching()
        return self._recorder.record(self.name, "close-consumer", self._port.close, destination=self.destination)


def open_producer(session: Session, to: Address | None, name: str, qos: Qos | None = None) -> Answer[Producer]:
    """Create a producer in a session; the answer holds the client's refusal if the client refuses."""
    answer = session.recorder.record(
        name,
        "producer",
        lambda: session.port.producer(to, qos=qos),
        args={"qos": qos.value} if qos else {},
        destination=str(to) if to else None,
    )
    if isinstance(answer.outcome, Refused):
        return Answer(answer.ref, answer.outcome)
    return Answer(answer.ref, Ok(Producer(session.recorder, name, session, answer.outcome.value, to)))


def open_consumer(
    session: Session, origin: Origin, name: str, *, qos: Qos | None = None, auto_confirm: bool | None = None
) -> Answer[Consumer]:
    """Create a consumer in a session; the answer holds the client's refusal if the client refuses."""
    args: dict[str, Scalar] = {
        "selector": origin.selector,
        "durability": origin.durability.value,
        "name": origin.name,
        "shared": origin.shared,
        "no_local": origin.no_local,
        "session": session.name,
        "ack": session.ack.value,
    }
    chosen: dict[str, Scalar] = {
        "ttl_ms": origin.ttl_ms,
        "qos": qos.value if qos else None,
        "auto_confirm": auto_confirm,
        "credit": origin.credit,
    }
    answer = session.recorder.record(
        name,
        "consumer",
        lambda: session.port.consumer(origin, actor=name, qos=qos, auto_confirm=auto_confirm),
        args=args | {option: value for option, value in chosen.items() if value is not None},
        destination=str(origin.address),
    )
    if isinstance(answer.outcome, Refused):
        return Answer(answer.ref, answer.outcome)
    consumer = Consumer(session.recorder, name, session, answer.outcome.value, origin)
    session.connection.consumers.append(consumer)
    return Answer(answer.ref, Ok(consumer))
