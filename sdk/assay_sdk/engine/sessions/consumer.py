"""The engine's consumer: credit, the buffer of received messages, receive calls and listeners."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from assay_sdk.driver import Arrived, CloseLink, Credit, Done, Drain, Outcome, PeerProperties
from assay_sdk.engine.calls import Pending, RefusedError, lost
from assay_sdk.engine.deliveries.batches import BatchFeed
from assay_sdk.engine.deliveries.delivery import EngineDelivery
from assay_sdk.engine.deliveries.failures import FailurePause
from assay_sdk.engine.deliveries.feeds import Feed, Handing, MessageFeed
from assay_sdk.engine.deliveries.poison import NO_LIMIT, limit_of
from assay_sdk.engine.operations import Operation, Wait, closed, spawn, unbroken
from assay_sdk.engine.ports import SessionPort
from assay_sdk.engine.sessions.poison_moves import move_away
from assay_sdk.engine.sessions.recall import call_back
from assay_sdk.engine.settings import Source
from assay_sdk.engine.states import LINK, USE, Act, Link, LinkEvent, Machine, Use, UseEvent
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.time import NS_PER_MS, Runner


class EngineConsumer:
    """A consumer of a queue or a subscription.

    Args:
        session: Session of the consumer.
        number: Number of the link.
        source: Queue or subscription from which the consumer receives.
    """

    def __init__(self, session: SessionPort, number: int, source: Source) -> None:
        self.session = session
        self.number = number
        self.source = source
        self.buffer: deque[EngineDelivery] = deque()
        """Messages from the broker that the application has not yet received, in the order of arrival."""
        self._aside: deque[EngineDelivery] = deque()
        """Messages that a receive call settled but could not return, because the call was interrupted twice.  The next
        receive call returns them."""
        self.held = 0
        """Number of messages that the application has received and that are not settled, and of poison messages that
        are being moved."""
        self._connection = session.connection
        self._link: Machine[Link, LinkEvent] = Machine(LINK, Link.ATTACHING, "the consumer")
        self._use: Machine[Use, UseEvent] = Machine(USE, Use.IDLE, "the consumer")
        self._feed: Feed | None = None
        self._credit = 0
        """Number of messages that the broker may still send."""
        self._paused = 0
        """Number of operations that have paused the consumer."""
        self._arrival: Pending[None] | None = None
        self._draining: Pending[None] | None = None
        self._batches = 0
        self._ended: Refused | None = None
        self.leaving: Pending[Done] | None = None
        """The pending answer to the command that closes the link; None before this command."""
        self.poison = NO_LIMIT
        """The delivery limit for poison messages, and the targets to which they are moved."""
        self.failures = FailurePause()

    @property
    def state(self) -> Link:
        """State of the link."""
        return self._link.state

    @property
    def runner(self) -> Runner:
        """Runner of the connection."""
        return self._connection.runner

    @property
    def closed(self) -> bool:
        """Whether the application has closed the consumer, its session or its connection."""
        return self._ended is None and self.state not in {Link.ATTACHING, Link.ATTACHED, Link.LOST}

    def attached(self, properties: PeerProperties) -> None:
        """Mark the consumer as attached, and set its limit for poison messages.

        Args:
            properties: Properties that the broker gave for the queue or subscription.
        """
        self.poison = limit_of(self.source.poison, properties)
        self._link.take(LinkEvent.ATTACHED)

    # -- operations ------------------------------------------------------------------------------------------------

    def receive(
        self, timeout_ms: int | None, read: Callable[[EngineDelivery], None] | None = None
    ) -> Operation[EngineDelivery | None]:
        """Wait for one message.

        Without prefetch, the call grants the broker credit for one message.  At the deadline the call drains the link:
        the broker sends the message now or gives the credit back, so that no message arrives after the call.

        Args:
            timeout_ms: How long to wait, in milliseconds; None waits without limit, 0 does not wait.
            read: Decodes the body before the message is delivered.  If it raises in a session with automatic
                acknowledgement or dups-ok, the message stays in the buffer, as if the call had not happened (JMS 2.0,
                `receiveBody`).  In another session the message then counts as delivered.

        Returns:
            The message, settled as the session's mode requires; None if no message came, or if the consumer was closed
            during the wait.

        Raises:
            RefusedError: The consumer has a listener (BT-03), is closed or lost, or waits in another receive call, or
                the session is in XA mode and in no branch.
            Exception: `read` raised it.
        """
        if self._aside and not self.closed:
            return self._take_aside(read)
        self._ask()
        if self.session.behaviour.branching:
            yield from self.session.unit_of_work()
        self._use.take(UseEvent.RECEIVE)
        try:
            due_ns = None if timeout_ms is None else self._connection.clock.monotonic_ns() + timeout_ms * NS_PER_MS
            delivery = yield from self._next(due_ns)
            if delivery is None:
                self.session.idle()
                return None
            try:
                yield from self.session.unit_of_work()
            except (RefusedError, GeneratorExit):
                self.put_back((delivery,))
                raise
            if read is not None:
                self._read(delivery, read)
            self.session.hand_over((delivery,))
        finally:
            self._use.take(UseEvent.RECEIVED)
        try:
            yield from unbroken(self.session.received(delivery))
        except GeneratorExit:
            self.put_aside(delivery)
            raise
        return delivery

    def put_aside(self, delivery: EngineDelivery) -> None:
        """Store a message for the next receive call, because the present call was interrupted and cannot return it."""
        self._aside.append(delivery)

    def set_message_listener(self, listener: Callable[[EngineDelivery], None] | None) -> Operation[None]:
        """Set the message listener; None removes it (JMS 2.0, 8.7).

        Raises:
            RefusedError: The consumer has a batch listener (BT-03), waits in a receive call, or is closed or lost.
        """
        self._ask()
        if listener is None:
            yield from self._stop_listening(UseEvent.CLEAR_LISTENER)
        else:
            self._use.take(UseEvent.SET_LISTENER)
            self._listen(MessageFeed(self, listener, self._connection.options.listener_window))

    def set_batch_listener(
        self, listener: Callable[[Sequence[EngineDelivery]], None] | None, size: int, timeout_ms: int
    ) -> Operation[None]:
        """Set the batch listener; None removes it (BATCH:26-34).

        Args:
            listener: Called with 1 to `size` messages.
            size: The largest number of messages in a batch.
            timeout_ms: How long a batch waits for more messages after its first one, in milliseconds.

        Raises:
            RefusedError: The size or the timeout is invalid (BT-14), the consumer has a message listener (BT-03), waits
                in a receive call, or is closed or lost.
        """
        self._ask()
        if listener is None:
            yield from self._stop_listening(UseEvent.CLEAR_BATCH)
            return
        if size < 1 or timeout_ms < 0:  # BT-14
            text = f"batch size {size} and timeout {timeout_ms} ms: give at least 1 message and at least 0 ms"
            raise RefusedError(Refused(JmsErrorKind.MESSAGING, text))
        self._use.take(UseEvent.SET_BATCH)
        self._listen(BatchFeed(self, listener, size, timeout_ms))

    def close(self, caller: int) -> Operation[None]:
        """Close the consumer; the link stays until messages delivered to the application are settled (JMS 2.0, 8.8).

        Args:
            caller: Identifier of the calling thread; a listener does not wait for itself.
        """
        if self._link.take(LinkEvent.STOP) is not Act.GO:
            return
        yield from self.session.wait_until_idle(caller, self)
        self._wake()
        yield from unbroken(call_back((self,)))
        self.session.idle()
        if self._link.take(LinkEvent.HOLD if self.held else LinkEvent.CLOSE) is Act.GO:
            yield from closed(self._detach())

    # -- for the session and the feeds -----------------------------------------------------------------------------

    def take(self) -> EngineDelivery | None:
        """Take the next message from the buffer; None if no message is left.

        Messages that have expired in the buffer are dropped (JMS 2.0, 7.8), and poison messages are moved away.
        """
        delivery = None
        while delivery is None and self.buffer:
            delivery = self.buffer.popleft()
            if delivery.expired_here(self._connection.clock.wall_ns()):
                self.session.settle((delivery,), Outcome.ACCEPTED)
                delivery = None
            elif self.poison.is_poison(delivery.count):
                spawn(self._connection.runner, move_away(self.session, delivery))
                delivery = None
        self.replenish()
        return delivery

    def put_back(self, deliveries: Sequence[EngineDelivery]) -> None:
        """Put messages from `take` back at the head of the buffer."""
        self.buffer.extendleft(reversed(deliveries))

    def take_handing(self) -> Handing | None:
        """Take the messages for the listener's next call from the buffer; None if none are due."""
        if self._feed is None or self._paused or self.state is not Link.ATTACHED:
            return None
        return self._feed.take()

    def announce(self) -> None:
        """Make the session schedule a call of the listener, because a message or a batch is due."""
        self.session.announce(self)

    def next_batch(self) -> int:
        """Take a new batch number, and return it; the first is 0."""
        self._batches += 1
        return self._batches - 1

    def drain(self) -> Pending[None]:
        """Drain the link: the broker sends available messages within the credit, and returns unused credit.

        Returns:
            A pending value, which is set when the broker has sent the messages and returned the credit.
        """
        if self._draining is not None:
            return self._draining
        drained: Pending[None] = Pending()
        if self._credit == 0:
            drained.resolve(None)
            return drained
        self._draining = drained
        answer = self._connection.post(lambda token: Drain(token, self.number))
        answer.then(lambda: self.drained() if answer.error is not None else None)
        return drained

    def pause(self) -> None:
        """Stop delivering and requesting messages until `go_on`."""
        self._paused += 1

    def go_on(self) -> None:
        """End one pause; the consumer continues when `go_on` was called as often as `pause`."""
        self._paused -= 1
        self.resume()

    def release_buffer(self) -> None:
        """Release the buffered messages to the broker, which does not count their deliveries."""
        buffered = tuple(self.buffer)
        self.buffer.clear()
        if self._feed is not None:
            self._feed.reset()
        self.session.settle(buffered, Outcome.RELEASED)

    def resume(self) -> None:
        """Continue after the start of the connection, or after a pause."""
        self._wake()
        self.replenish()

    def replenish(self) -> None:
        """Grant credit so that unused credit and buffered messages together reach `_window()`.

        Do nothing if they exceed half of `_window()`, or if the consumer must not request messages now.
        """
        window = self._window()
        ahead = self._credit + len(self.buffer)
        if window and ahead <= window // 2 and self._may_ask():
            self._grant(window - ahead)

    def let_go(self) -> None:
        """Count one delivered message as settled; if it was the last one of a closed consumer, detach the link."""
        self.held -= 1
        if self.held == 0 and self._link.take(LinkEvent.SETTLED) is Act.GO:
            self._detach()

    def end(self, *, lost: bool) -> None:
        """End the consumer, because its session has ended.

        Args:
            lost: Whether the connection was lost; otherwise the session was closed.
        """
        if lost:
            self._link.take(LinkEvent.LOSE)
        else:
            self._link.take(LinkEvent.STOP)
            self._link.take(LinkEvent.CLOSE)
            self._link.take(LinkEvent.DETACHED)
        self._end()

    # -- events ----------------------------------------------------------------------------------------------------

    def arrived(self, event: Arrived) -> None:
        """Add an arrived message to the buffer, and wake the receive call or the listener."""
        clock = self._connection.clock
        self._credit = max(0, self._credit - 1)
        self.buffer.append(EngineDelivery(self, event, clock.monotonic_ns(), clock.wall_ns()))
        if self._paused:
            return
        if self._feed is not None:
            self._feed.arrived()
        self._wake()

    def drained(self) -> None:
        """Handle the end of a drain: the broker has returned unused credit."""
        self._credit = 0
        drained, self._draining = self._draining, None
        if drained is not None:
            drained.resolve(None)
        if self._feed is not None:
            self.replenish()

    def peer_closed(self, refused: Refused | None) -> None:
        """End the consumer, because the broker has closed the link; later calls are refused with the broker's reason.

        Args:
            refused: The broker's reason; None if it gave none.
        """
        self._ended = refused or lost("the broker has closed this consumer: create a new one")
        self._connection.complain(self._ended)
        self._link.take(LinkEvent.DETACHED)
        self._end()

    # -- inside ----------------------------------------------------------------------------------------------------

    def _ask(self) -> None:
        if self._ended is not None:
            raise RefusedError(self._ended)
        self._link.take(LinkEvent.USE)

    def _window(self) -> int:
        if self._feed is not None:
            return self._feed.window
        return self._connection.options.prefetch if self._use.state is Use.RECEIVING else 0

    def _may_ask(self) -> bool:
        return self._connection.started and not self._paused and self._draining is None and self.state is Link.ATTACHED

    def _grant(self, credit: int) -> None:
        self._credit += credit
        self._connection.post(lambda token: Credit(token, self.number, credit))

    def _next(self, due_ns: int | None) -> Operation[EngineDelivery | None]:
        """Take a message from the buffer, and wait for one if necessary.

        Args:
            due_ns: Monotonic time at which the wait ends, in nanoseconds; None waits without limit.

        Returns:
            The message; None if no message came in time or the consumer was closed.
        """
        while True:
            if self._connection.started and not self._paused:
                delivery = self.take()
                if delivery is not None:
                    return delivery
                if self._credit == 0 and self._may_ask():
                    self._grant(1)
            if due_ns is not None and self._connection.clock.monotonic_ns() >= due_ns:
                break
            self._arrival = Pending()
            try:
                yield Wait(self._arrival, due_ns)
            finally:
                self._arrival = None
            if self._is_over():
                return None
        drained = self.drain()
        if not drained.done:
            yield Wait(drained)
            if self._is_over():
                return None
        return self.take() if self._connection.started else None

    def _take_aside(self, read: Callable[[EngineDelivery], None] | None) -> EngineDelivery:
        if read is not None:
            read(self._aside[0])
        return self._aside.popleft()

    def _read(self, delivery: EngineDelivery, read: Callable[[EngineDelivery], None]) -> None:
        try:
            read(delivery)
        except BaseException:  # the application's code may raise anything
            if self.session.behaviour.raise_redelivers:
                self.put_back((delivery,))
            else:
                self.session.hand_over((delivery,))
            raise

    def _is_over(self) -> bool:
        """Return whether the consumer was closed during a receive call.

        Raises:
            RefusedError: The connection is lost, or the broker has closed the link.
        """
        if self._ended is not None or self.state is Link.LOST:
            self._ask()
        return self.state is not Link.ATTACHED

    def _listen(self, feed: Feed) -> None:
        if self._feed is not None:
            self._feed.reset()
        self._feed = feed
        for _ in range(len(self.buffer)):
            feed.arrived()
        self.replenish()

    def _stop_listening(self, event: UseEvent) -> Operation[None]:
        if self._use.take(event) is not Act.GO:
            return
        self.failures.succeeded()
        self.failures.end(self)
        if self._feed is not None:
            self._feed.reset()
            self._feed = None
        try:
            # Messages in the buffer go back to the queue, so that another consumer gets them in their order.
            yield from call_back((self,))
        finally:
            self.go_on()

    def _wake(self) -> None:
        if self._arrival is not None:
            self._arrival.resolve(None)

    def _detach(self) -> Pending[Done]:
        answer = self._connection.post(lambda token: CloseLink(token, self.number))
        answer.then(self._detached)
        self.leaving = answer
        return answer

    def _detached(self) -> None:
        self._link.take(LinkEvent.DETACHED)
        self._end()

    def _end(self) -> None:
        self.failures.forget()
        if self._feed is not None:
            self._feed.reset()
            self._feed = None
        self.buffer.clear()
        self._credit = 0
        self._connection.unroute(self.number)
        self.session.forget_consumer(self.number)
        self.drained()
        self._wake()
