"""Producers and consumers of our SDK behind the `Client` port."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from datetime import timedelta
from traceback import walk_tb
from typing import TypeVar, cast

from assay_adapters.clients.events import KitMessage, Teller, fields_of
from assay_adapters.clients.keys import marked
from assay_adapters.clients.listeners import ScriptedListener
from assay_adapters.ports.client import MODE_VALUES, Draft, Mode, Script, Seen, Sent, Setting
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Outcome, Raised, Refused, Stalled, is_the_clients
from assay_sdk.engine.settings import DeliveryMode
from assay_sdk.errors import JmsError, MessagingError, XAError
from assay_sdk.faces import classic, simplified
from assay_sdk.model.destinations import DestinationError, destination
from assay_sdk.model.message import Address
from assay_sdk.runners.virtual import VirtualRunner
from assay_sdk.time import Runner, StalledError

T = TypeVar("T")

_MODES: Mapping[Mode, DeliveryMode] = {mode: DeliveryMode(value) for value, mode in MODE_VALUES.items()}


def attempt(action: Callable[[], T]) -> Outcome[T]:
    """Call the SDK, and return its result, or its exception as a `Refused`, `Stalled` or `Raised`.

    A `JmsError` becomes `Refused`, and a `StalledError` of the call itself becomes `Stalled`. Any other exception
    becomes `Raised` if code of the SDK raised it. The function does not catch exceptions of the adapter, of a job on
    the runner or of a defect, because they are not answers of the SDK.

    Raises:
        DestinationError: A name is not valid for a destination; `attempt_with_names` converts the error to a refusal.
    """
    try:
        return Ok(action())
    except JmsError as error:
        return Refused(
            kind=error.kind,
            text=error.text,
            checked=isinstance(error, MessagingError | XAError),  # JTA's XAException is checked
            mqrc=error.refused.mqrc,
            objects=error.objects,
            xa=error.refused.xa,
        )
    except DestinationError:
        raise
    except StalledError as error:
        if not _is_own(error):
            raise
        return Stalled(kind=JmsErrorKind.MESSAGING, text="Nothing that is scheduled can end this call.")
    except Exception as error:  # a judged client may raise anything
        if not is_the_clients(error):
            raise
        text = f"The client raised {type(error).__name__}: {error}"
        return Raised(kind=JmsErrorKind.MESSAGING, text=text, mqrc=Mqrc.UNEXPECTED_ERROR)


def _is_own(error: StalledError) -> bool:
    """Return whether a call itself waited, and not a job that ran during the call, such as a listener."""
    waits = [frame for frame, _line in walk_tb(error.__traceback__) if frame.f_code is VirtualRunner.run_until.__code__]
    return len(waits) == 1


def attempt_with_names(action: Callable[[], T], *, checked: bool) -> Outcome[T]:
    """Call the SDK as `attempt` does, with names of destinations; an invalid name is a refusal.

    Args:
        action: The call.
        checked: Whether the face refuses with checked exceptions.
    """
    try:
        return attempt(action)
    except DestinationError as error:
        return Refused(JmsErrorKind.INVALID_DESTINATION, str(error), checked=checked)


def acknowledge_message(message: KitMessage) -> None:
    """Acknowledge a message with the method of the message object, as JMS applications do."""
    message.acknowledge()


class SdkProducer:
    """A producer of the classic or simplified face."""

    def __init__(
        self, port: classic.MessageProducer[str | bytes] | simplified.Producer[str | bytes], teller: Teller
    ) -> None:
        self._port = port
        self._teller = teller
        self._before: KitMessage | None = None

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        """Set the delay or time to live (milliseconds or a `timedelta`), the mode (JMS's number) or the priority."""
        return attempt(lambda: self._set(setting, value))

    def get(self, setting: Setting) -> Outcome[int]:
        """Return a setting as the producer shows it: milliseconds, or the number of the mode or priority."""
        return attempt(lambda: self._get(setting))

    def send(
        self,
        message: Draft,
        *,
        mode: Mode | None = None,
        priority: int | None = None,
        ttl_ms: int | None = None,
        to: Address | None = None,
    ) -> Outcome[Sent]:
        """Send a message.

        The arguments apply to this send only (PD-03).

        Args:
            message: The message.
            mode: The delivery mode; None for the producer's default.
            priority: The priority; None for the producer's default.
            ttl_ms: The time to live in milliseconds; None for the producer's default.
            to: The destination; None for the producer's destination.
        """
        checked = isinstance(self._port, classic.MessageProducer)
        return attempt_with_names(lambda: self._send(message, mode, priority, ttl_ms, to), checked=checked)

    def close(self) -> Outcome[None]:
        """Close the producer."""
        return attempt(self._port.close)

    def _set(self, setting: Setting, value: int | timedelta) -> None:
        if isinstance(self._port, simplified.Producer):
            _set_by_method(self._port, setting, value)
            return
        match setting, value:
            case Setting.DELAY, _:
                self._port.delivery_delay = value
            case Setting.TTL, _:
                self._port.time_to_live = value
            case Setting.MODE, int() as mode:
                self._port.delivery_mode = mode
            case Setting.PRIORITY, int() as priority:
                self._port.priority = priority
            case _:
                raise _no_span(setting, value)

    def _get(self, setting: Setting) -> int:
        match setting:
            case Setting.DELAY:
                return self._port.delivery_delay
            case Setting.TTL:
                return self._port.time_to_live
            case Setting.MODE:
                return self._port.delivery_mode
            case Setting.PRIORITY:
                return self._port.priority

    def _send(
        self, draft: Draft, mode: Mode | None, priority: int | None, ttl_ms: int | None, to: Address | None
    ) -> Sent:
        message = self._message(draft)
        if draft.own_mode is not None:
            message.delivery_mode = _MODES[draft.own_mode]
        sdk_mode = None if mode is None else _MODES[mode]
        if to is None:
            receipt = self._port.send(message, delivery_mode=sdk_mode, priority=priority, time_to_live=ttl_ms)
        else:
            receipt = self._port.send_to(
                destination(to), message, delivery_mode=sdk_mode, priority=priority, time_to_live=ttl_ms
            )
        return Sent(message_id=receipt.message_id, delivery_time_ms=receipt.delivery_time, fields=fields_of(message))

    def _message(self, draft: Draft) -> KitMessage:
        properties = marked(draft)
        known = self._before if draft.reused else None
        if draft.received is not None:
            known = self._teller.message(draft.received)
            if known is None:
                raise LookupError(f"No unsettled message has the handle {draft.received}: receive it in client mode.")
        if known is not None:
            known.body = draft.content
            if isinstance(known.properties, MutableMapping):  # in place: a client may share the mapping by mistake
                known.properties.clear()
                known.properties.update(properties)
            elif properties or known.properties:  # read-only, because the message was received
                known.properties = properties
            # Otherwise both are empty, and the received mapping stays: a client may read from it that nothing was set.
            self._before = known
        else:
            self._before = KitMessage(
                draft.content,
                properties=properties,
                correlation_id=draft.correlation_id,
                jms_type=draft.jms_type,
                reply_to=None if draft.reply_to is None else destination(draft.reply_to),
                group_id=draft.group_id,
                group_sequence=draft.group_sequence,
            )
        return self._before


def _set_by_method(port: simplified.Producer[str | bytes], setting: Setting, value: int | timedelta) -> None:
    """Set a producer's option with the methods of JMSProducer; the classic face sets the properties directly."""
    match setting, value:
        case Setting.DELAY, _:
            port.set_delivery_delay(value)
        case Setting.TTL, _:
            port.set_time_to_live(value)
        case Setting.MODE, int() as mode:
            port.set_delivery_mode(cast("DeliveryMode", mode))  # scenarios also set numbers that are not modes
        case Setting.PRIORITY, int() as priority:
            port.set_priority(priority)
        case _:
            raise _no_span(setting, value)


def _no_span(setting: Setting, value: int | timedelta) -> TypeError:
    return TypeError(f"The {setting.value} must be a number, not {value!r}.")


class SdkConsumer:
    """A consumer of the classic or simplified face."""

    def __init__(
        self,
        port: classic.MessageConsumer[str | bytes] | simplified.Consumer[str | bytes],
        session: classic.Session | simplified.Context,
        teller: Teller,
        runner: Runner,
    ) -> None:
        self._port = port
        self._session = session
        self._teller = teller
        self._runner = runner

    def receive(self, timeout_ms: int) -> Outcome[Seen | None]:
        """Receive one message.

        Args:
            timeout_ms: The longest wait in milliseconds; 0 not to wait.

        Returns:
            The message; None if no message came in time.
        """
        return attempt(lambda: self._receive(timeout_ms))

    def listen(self, script: Script | None) -> Outcome[None]:
        """Set a message listener that follows a script; with None remove the listener."""
        if script is None:
            return attempt(lambda: self._port.set_message_listener(None))

        def set_it() -> None:
            self._port.set_message_listener(lambda message: listener([message]))

        listener = self._scripted(script, set_it)
        return attempt(set_it)

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        """Set a batch listener that follows a script, or with None remove the listener (BATCH:26-34).

        Args:
            script: The script.
            size: The batch size, in messages.
            timeout_ms: The batch timeout in milliseconds.
        """

        def set_it() -> None:
            self._port.set_batch_listener(listener, batch_size=size, batch_timeout=timeout_ms)

        listener = None if script is None else self._scripted(script, set_it)
        return attempt(set_it)

    def close(self) -> Outcome[None]:
        """Close the consumer."""
        return attempt(self._port.close)

    def _receive(self, timeout_ms: int) -> Seen | None:
        message = self._port.receive(timeout_ms)
        return None if message is None else self._teller.match(self._port.number, message)

    def _scripted(self, script: Script, again: Callable[[], None]) -> Callable[[list[KitMessage]], None]:
        scripted = ScriptedListener[KitMessage](
            script,
            self._runner,
            acknowledge=acknowledge_message,
            commit=self._session.commit,
            rollback=self._session.rollback,
            again=again,
            close=self._port.close,
        )

        def listener(messages: list[KitMessage]) -> None:
            for message in messages:
                self._teller.match(self._port.number, message)
            self._teller.called(self._port.number)
            scripted(messages)

        return listener
