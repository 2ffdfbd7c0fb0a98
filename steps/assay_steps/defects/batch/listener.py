"""Defects of the client in setting, replacing, refusing and removing batch listeners (BT-01 to BT-03, BT-14)."""

from __future__ import annotations

from typing import ClassVar

from assay_adapters.ports.client import Client, ClientEvent, Script, Seen
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_steps.defects.batch.listener_links import noting_sizes
from assay_steps.defects.consumers import ConsumerFilter, ConsumingClientFilter, consuming
from assay_steps.defects.model import at_port
from assay_steps.defects.ports import clients

TEN_SECONDS_MS = 10_000
MS_PER_SECOND = 1_000
LARGE = 100


class _Refuses(ConsumerFilter):
    """The client refuses batch listeners."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        if script is None:
            return super().listen_batch(script, size, timeout_ms)
        return Refused(JmsErrorKind.MESSAGING, "This client does not support batch listeners.", checked=False)


class _OneByOne(ConsumerFilter):
    """The client calls a batch listener for each message, like a message listener."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        del size, timeout_ms
        return super().listen(script)


class _SizeIgnored(ConsumerFilter):
    """The client treats a batch size below 100 as 100."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, max(size, LARGE), timeout_ms)


class _InSeconds(ConsumerFilter):
    """The client treats the milliseconds of a batch timeout as seconds."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, size, timeout_ms * MS_PER_SECOND)


class _RoundedUp(ConsumerFilter):
    """The client rounds a batch timeout up to tens of seconds."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, size, -(-timeout_ms // TEN_SECONDS_MS) * TEN_SECONDS_MS)


class _NotReplaced(ConsumerFilter):
    """A receiver with a listener refuses a second listener of the same kind."""

    has = False

    def listen(self, script: Script | None) -> Outcome[None]:
        return self._unless_there(script) or super().listen(script)

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return self._unless_there(script) or super().listen_batch(script, size, timeout_ms)

    def _unless_there(self, script: Script | None) -> Outcome[None] | None:
        if script is not None and self.has:
            return Refused(JmsErrorKind.ILLEGAL_STATE, "This consumer already has a listener.", checked=False)
        self.has = script is not None
        return None


class _TakesTheOthersPlace(ConsumerFilter):
    """Setting a listener of one kind (message or batch) replaces the receiver's listener of the other kind."""

    def listen(self, script: Script | None) -> Outcome[None]:
        super().listen_batch(None, 1, 0)
        return super().listen(script)

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        super().listen(None)
        return super().listen_batch(script, size, timeout_ms)


class _OneKindInASession(ConsumerFilter):
    """In a session with a listener of one kind (message or batch), the client refuses a listener of the other kind."""

    _kinds: ClassVar[dict[int, set[str]]] = {}

    def listen(self, script: Script | None) -> Outcome[None]:
        return self._clash("single", script) or super().listen(script)

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return self._clash("batch", script) or super().listen_batch(script, size, timeout_ms)

    def _clash(self, kind: str, script: Script | None) -> Refused | None:
        kinds = self._kinds.setdefault(id(self.session), set())
        if script is None:
            kinds.discard(kind)
        elif kinds - {kind}:
            return Refused(
                JmsErrorKind.ILLEGAL_STATE, "The session already has a listener of the other kind.", checked=False
            )
        else:
            kinds.add(kind)
        return None


class _NeverTakenAway(ConsumerFilter):
    """Removing a listener has no effect."""

    def listen(self, script: Script | None) -> Outcome[None]:
        return Ok(None) if script is None else super().listen(script)

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return Ok(None) if script is None else super().listen_batch(script, size, timeout_ms)


class _DeafAfterwards(ConsumerFilter):
    """After a listener was removed, the client accepts the next one and never calls it."""

    _taken = False

    def listen(self, script: Script | None) -> Outcome[None]:
        self._taken |= script is None
        return Ok(None) if self._taken and script is not None else super().listen(script)

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        self._taken |= script is None
        return Ok(None) if self._taken and script is not None else super().listen_batch(script, size, timeout_ms)


class _FirstSizeStays(ConsumerFilter):
    """A batch listener that replaces another one has the batch size of the first listener."""

    _size: int | None = None

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        if script is not None and self._size is None:
            self._size = size
        return super().listen_batch(script, size if self._size is None else self._size, timeout_ms)


class _ReplacementGetsSingles(ConsumerFilter):
    """A batch listener that replaces another one gets batches of one message."""

    _has = False

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        replaces = self._has and script is not None
        self._has = script is not None
        return super().listen_batch(script, min(1, size) if replaces else size, timeout_ms)


class _ReceivesBesideBatches(ConsumerFilter):
    """A receive call on a receiver with a listener returns no message and is not refused."""

    def receive(self, timeout_ms: int) -> Outcome[Seen | None]:
        answer = super().receive(timeout_ms)
        mixed = isinstance(answer, Refused) and answer.kind is JmsErrorKind.ILLEGAL_STATE
        return Ok(None) if mixed else answer


class _SenselessTaken(ConsumerFilter):
    """The client treats batch sizes below 1 as 1, and negative timeouts as 0."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, max(1, size), max(0, timeout_ms))


class _RefusalTakesThePlace(ConsumerFilter):
    """After the refusal of a batch listener, the client accepts the receiver's next listeners and never calls them."""

    _refused = False

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        if self._refused:
            return Ok(None)
        answer = super().listen_batch(script, size, timeout_ms)
        self._refused = isinstance(answer, Refused)
        return answer


class _RefusalRemoves(ConsumerFilter):
    """The refusal of a batch listener removes the receiver's existing listener."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        answer = super().listen_batch(script, size, timeout_ms)
        if isinstance(answer, Refused):
            super().listen_batch(None, 1, 0)
        return answer


class _SetOnce(ConsumerFilter):
    """A batch listener that is set again keeps its first size and timeout."""

    _first: tuple[int, int] | None = None

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        if script is None:
            return super().listen_batch(script, size, timeout_ms)
        self._first = self._first or (size, timeout_ms)
        return super().listen_batch(script, *self._first)


class _EitherKind(ConsumerFilter):
    """Removing a listener of one kind (message or batch) also removes the receiver's listener of the other kind."""

    def listen(self, script: Script | None) -> Outcome[None]:
        if script is None:
            super().listen_batch(None, 1, 0)
        return super().listen(script)

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        if script is None:
            super().listen(None)
        return super().listen_batch(script, size, timeout_ms)


def _remainders_swallowed(client: Client) -> Client:
    """The client acknowledges a batch that is not full and does not deliver it to the listener."""
    sizes: dict[str, int] = {}
    held: dict[str, list[ClientEvent]] = {}

    def tell(event: ClientEvent) -> tuple[ClientEvent, ...]:
        if event.batch is None or event.actor not in sizes:
            return (event,)
        if event.what == "seen":
            held.setdefault(event.actor, []).append(event)
            return ()
        batch = held.pop(event.actor, [])
        return (*batch, event) if event.what != "callback" or len(batch) == sizes[event.actor] else ()

    return ConsumingClientFilter(client, noting_sizes(sizes), tell)


BATCH_LISTENER_DEFECTS = (
    at_port(consuming, _Refuses, "batch-listeners-refused", "BT-01", "BT-03"),
    at_port(consuming, _OneByOne, "batches-one-by-one", "BT-01"),
    at_port(consuming, _SizeIgnored, "batch-size-ignored", "BT-02", "BT-04", "BT-06"),
    at_port(consuming, _InSeconds, "batch-timeout-in-seconds", "BT-02", "BT-05"),
    at_port(consuming, _RoundedUp, "batch-timeout-rounded-up", "BT-02", "BT-05", "BT-15"),
    at_port(consuming, _NotReplaced, "listeners-not-replaced", "BT-02", "BT-03"),
    at_port(consuming, _TakesTheOthersPlace, "listeners-take-each-others-place", "BT-03"),
    at_port(consuming, _OneKindInASession, "one-kind-of-listener-in-a-session", "BT-03"),
    at_port(consuming, _NeverTakenAway, "listeners-never-taken-away", "BT-03"),
    at_port(consuming, _DeafAfterwards, "deaf-after-a-listener", "BT-03"),
    at_port(consuming, _FirstSizeStays, "first-batch-size-stays", "BT-03"),
    at_port(consuming, _ReplacementGetsSingles, "replacing-listener-gets-singles", "BT-01", "BT-06"),
    at_port(consuming, _ReceivesBesideBatches, "receives-beside-batches", "BT-03"),
    at_port(consuming, _SenselessTaken, "senseless-batches-taken", "BT-14"),
    at_port(consuming, _RefusalTakesThePlace, "refused-listener-takes-the-place", "BT-14"),
    at_port(consuming, _RefusalRemoves, "refused-listener-removes-the-old", "BT-14"),
    at_port(consuming, _SetOnce, "batch-listener-set-once", "BT-02", "BT-05"),
    at_port(consuming, _EitherKind, "listeners-of-either-kind-taken-away", "BT-03"),
    at_port(clients, _remainders_swallowed, "remainders-swallowed", "BT-01", "BT-02", "BT-04"),
)
