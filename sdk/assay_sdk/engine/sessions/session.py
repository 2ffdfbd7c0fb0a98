"""The engine's session: producers, consumers, settling of delivered messages, and units of work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from assay_sdk.driver import (
    CloseSession,
    Done,
    Durability,
    OpenReceiver,
    OpenSender,
    Outcome,
    Settle,
)
from assay_sdk.engine.calls import Pending, RefusedError
from assay_sdk.engine.checks import (
    check_client_id,
    check_poison,
    check_selector,
    check_source_capabilities,
    check_subscription_name,
)
from assay_sdk.engine.deliveries.acknowledgement import Behaviour, Leaving, Settling
from assay_sdk.engine.deliveries.delivery import EngineDelivery, Recipient
from assay_sdk.engine.deliveries.feeds import Handing
from assay_sdk.engine.operations import Operation, all_of, closed, result_of, unbroken
from assay_sdk.engine.ports import ConnectionPort, Listener
from assay_sdk.engine.sessions.branch_work import BranchWork
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.engine.sessions.dispatch import Dispatcher
from assay_sdk.engine.sessions.producer import EngineProducer
from assay_sdk.engine.sessions.recall import call_back
from assay_sdk.engine.sessions.units import InDoubtError, UnitOfWork
from assay_sdk.engine.settings import DUPS_OK_LIMIT, Source
from assay_sdk.engine.states import LIFE, Act, Life, LifeEvent, Machine
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import Seen, Settled


class EngineSession:
    """A session (JMS 2.0, 6.2), or the session of a context.

    Args:
        connection: Connection of the session.
        number: Number of the session on the connection.
        behaviour: The row of the session's acknowledgement mode in `BEHAVIOURS`.
    """

    def __init__(self, connection: ConnectionPort, number: int, behaviour: Behaviour) -> None:
        self.connection = connection
        self.number = number
        self.behaviour = behaviour
        self.unit = UnitOfWork(connection, number)
        self.branch = BranchWork(connection, number)
        self.producers: dict[int, EngineProducer] = {}
        self.consumers: dict[int, EngineConsumer] = {}
        self.dispatcher = Dispatcher(self)
        self._life: Machine[Life, LifeEvent] = Machine(LIFE, Life.OPENING, "the session")
        self._unsettled: dict[EngineDelivery, None] = {}
        """Messages that were delivered to the application and are not settled, in the order of their delivery."""
        self._giving_back = False
        """Whether the session is giving messages back; meanwhile, a dups-ok session must not accept any."""

    @property
    def state(self) -> Life:
        """State of the session."""
        return self._life.state

    def opened(self) -> None:
        """Mark the session as open, because the broker has opened it."""
        self._life.take(LifeEvent.OPENED)

    # -- operations: creating --------------------------------------------------------------------------------------

    def create_producer(self, address: Address | None) -> Operation[EngineProducer]:
        """Create a producer.

        Args:
            address: Destination of the producer; None if each send names one.

        Raises:
            RefusedError: The session is closed, or the broker refuses the destination.
        """
        self.use()
        producer = EngineProducer(self, self.connection.next_number(), address)
        self.connection.route(producer.number, producer)
        try:
            answer = yield from result_of(
                self.connection.submit(lambda token: OpenSender(token, self.number, producer.number, address))
            )
        except RefusedError:
            self.connection.unroute(producer.number)
            raise
        self.producers[producer.number] = producer
        producer.opened(answer.properties, answer.capabilities)
        return producer

    def create_consumer(self, source: Source) -> Operation[EngineConsumer]:
        """Create a consumer; the broker sends no message before a receive call, or before a listener is set.

        Raises:
            RefusedError: The session is closed or lost, the selector or the subscription's name is invalid, poison
                messages would go to the consumer's own queue, the connection lacks a client id (PD-17) or a capability,
                or the broker refuses the call.
        """
        self.use()
        check_selector(source.selector)
        if source.shared or source.durability is Durability.DURABLE:
            check_subscription_name(source.name)
        check_poison(source)
        check_source_capabilities(source, self.connection.capabilities)
        if self.connection.options.checks:
            check_client_id(source, self.connection.client_id)
        consumer = EngineConsumer(self, self.connection.next_number(), source)
        self.connection.route(consumer.number, consumer)
        try:
            answer = yield from result_of(
                self.connection.submit(
                    lambda token: OpenReceiver(
                        token=token,
                        session=self.number,
                        link=consumer.number,
                        address=source.address,
                        selector=source.selector or None,
                        no_local=source.no_local,
                        durability=source.durability,
                        name=source.name,
                        shared=source.shared,
                    )
                )
            )
        except RefusedError:
            self.connection.unroute(consumer.number)
            raise
        self.consumers[consumer.number] = consumer
        consumer.attached(answer.properties)
        return consumer

    # -- operations: settling --------------------------------------------------------------------------------------

    def acknowledge(self) -> Operation[None]:
        """Accept all messages that the session has delivered (JMS 2.0, 8.7, BT-11).

        In modes other than `AckMode.CLIENT`, do nothing.

        Raises:
            RefusedError: The session is closed or lost.
        """
        self.use()
        if self.behaviour.acknowledges:
            yield from all_of(self.settle(tuple(self._unsettled), Outcome.ACCEPTED))

    def recover(self) -> Operation[None]:
        """Give unacknowledged messages back, so that the broker delivers them again in their order (JMS 2.0, 6.2.11).

        Raises:
            RefusedError: The session is transacted or in XA mode, or is closed or lost.
        """
        self.use()
        if not self.behaviour.recovers:
            raise RefusedError(
                Refused(JmsErrorKind.ILLEGAL_STATE, "a transacted session cannot recover: roll back its unit of work")
            )
        yield from self._draw_back(tuple(self.consumers.values()), tuple(self._unsettled))

    def commit(self) -> Operation[None]:
        """Commit the unit of work (JMS 2.0, 6.2.7).

        Raises:
            RefusedError: The session is not transacted or is in XA mode, is closed or lost, or the broker rolled the
                unit of work back, or did not answer in time (`InDoubtError`).
        """
        self._use_unit("commit")
        enlisted = tuple(self._unsettled)
        try:
            yield from self.unit.commit()
        except InDoubtError:
            self._forget(enlisted)  # giving them back would be wrong if the broker has committed
            raise
        except RefusedError as error:
            if error.refused.kind is not JmsErrorKind.CONNECTION_LOST:
                yield from self._draw_back_quietly(enlisted)
            raise
        self._forget(enlisted)

    def rollback(self) -> Operation[None]:
        """Roll the unit of work back; the broker redelivers the messages that were received in it (JMS 2.0, 6.2.7).

        Raises:
            RefusedError: The session is not transacted or is in XA mode, is closed or lost, or the broker refuses the
                rollback.
        """
        self._use_unit("roll back")
        enlisted = tuple(self._unsettled)
        try:
            was_active = yield from self.unit.rollback()
        except InDoubtError:
            self._forget(enlisted)  # the drivers do not settle messages of a unit whose end is unknown
            raise
        if was_active:
            # A broker may leave enlisted messages with the link after a rollback.  So the engine settles them as
            # failed, and the broker delivers them again.  The AMQP driver skips those that are on their queue already.
            yield from self._draw_back(tuple(self.consumers.values()), tuple(self._unsettled))

    def close(self, caller: int, *, awaited: bool = True) -> Operation[None]:
        """Close the session (JMS 2.0, 6.2.15, 8.8).

        Messages that were not delivered to the application go back to the broker unchanged.  Delivered, unsettled
        messages are settled as the acknowledgement mode requires (`Behaviour.leaving`).

        Args:
            caller: Identifier of the calling thread.
            awaited: Whether to wait for the broker's answer.  False if the caller closes the connection next: the
                caller then waits only for the answer to the close of the connection.

        Raises:
            RefusedError: A listener of this session makes the call, and would wait for itself.
        """
        self.dispatcher.refuse_own_callback("the session", caller)
        if self._life.take(LifeEvent.CLOSE) is not Act.GO:
            return
        yield from self.dispatcher.wait_until_idle(caller)
        consumers = tuple(self.consumers.values())
        yield from unbroken(call_back(consumers))
        handed = tuple(self._unsettled)
        match self.behaviour.leaving:
            case Leaving.ACCEPT:
                self.settle(handed, Outcome.ACCEPTED)
            case Leaving.GIVE_BACK:
                self.settle(handed, Outcome.MODIFIED)
            case Leaving.ROLL_BACK:
                try:
                    yield from self.unit.rollback()
                except RefusedError as error:
                    self.connection.complain(error.refused)
                self.settle(handed, Outcome.MODIFIED)
        if awaited:
            yield from closed(self.connection.post(lambda token: CloseSession(token, self.number)))
        else:
            self.connection.submit(lambda token: CloseSession(token, self.number))
        self._life.take(LifeEvent.CLOSED)
        self._end(lost=False)

    # -- for the connection ----------------------------------------------------------------------------------------

    def use(self) -> None:
        """Check that the session can be used.

        Raises:
            RefusedError: The session is closed or lost.
        """
        self._life.take(LifeEvent.USE)

    def lose(self) -> None:
        """End the session, because the connection is lost."""
        if self._life.take(LifeEvent.LOSE) is Act.END:
            self._end(lost=True)

    @property
    def works(self) -> bool:
        """Whether the session may deliver messages now; an XA session delivers only within a branch."""
        return (
            self.connection.started
            and self.state is Life.OPEN
            and not (self.behaviour.branching and self.branch.xid is None)
        )

    def resume(self) -> None:
        """Grant credit and deliver buffered messages, after the start of the connection or of work in a branch."""
        for consumer in tuple(self.consumers.values()):
            consumer.resume()
        self.dispatcher.schedule()

    # -- for producers and consumers ------------------------------------------------------------------------------

    def unit_of_work(self) -> Operation[int | None]:
        """Return the number of the unit of work for a send or a delivery; begin one if none is active.

        Returns:
            The number; None if the session is neither transacted nor in XA mode.

        Raises:
            RefusedError: The broker refuses to begin a unit of work, or the session is in XA mode and in no branch.
        """
        if self.behaviour.branching:
            return (yield from self.branch.need())
        if not self.behaviour.transacted:
            return None
        return (yield from self.unit.need())

    def announce(self, consumer: Listener) -> None:
        """Schedule a call of a consumer's listener, because a message or a batch is due."""
        self.dispatcher.ready(consumer)

    def wait_until_idle(self, caller: int, consumer: Listener) -> Operation[None]:
        """Wait until the consumer's listener is not running; a listener does not wait for itself.

        Args:
            caller: Identifier of the calling thread.
            consumer: The consumer.
        """
        return self.dispatcher.wait_until_idle(caller, consumer)

    def forget_producer(self, number: int) -> None:
        """Forget a closed producer."""
        self.producers.pop(number, None)

    def forget_consumer(self, number: int) -> None:
        """Forget a closed consumer."""
        self.consumers.pop(number, None)

    def hand_over(self, deliveries: Sequence[EngineDelivery]) -> None:
        """Record that deliveries of one consumer go to the application, and report them to the observer."""
        for delivery in deliveries:
            self._unsettled[delivery] = None
            delivery.consumer.held += 1
            self.connection.observe(Seen(delivery.handed()))
        if self.behaviour.transacted:
            self.unit.enlist(deliveries)
        elif self.behaviour.branching:
            self.branch.enlist(deliveries)
            self._forget(deliveries)

    def received(self, delivery: EngineDelivery) -> Operation[None]:
        """Settle the message that a receive call returns, as the acknowledgement mode requires.

        If the connection is lost meanwhile, the application still gets the message, and the broker may deliver it again
        (JMS 2.0, 6.2.11).
        """
        match self.behaviour.settling:
            case Settling.NOW:
                yield from all_of(self.settle((delivery,), Outcome.ACCEPTED), lost_is_fine=True)
            case Settling.LAZILY:
                self._accept_lazily()
            case Settling.BY_CALL | Settling.BY_UNIT | Settling.BY_BRANCH:
                pass

    def idle(self) -> None:
        """Acknowledge received messages of a dups-ok session, because no other message is due now."""
        if self.behaviour.settling is Settling.LAZILY and not (self.dispatcher.in_callback or self._giving_back):
            self.settle(tuple(self._unsettled), Outcome.ACCEPTED)

    def settle(self, deliveries: Iterable[EngineDelivery], outcome: Outcome) -> list[Pending[Done]]:
        """Settle deliveries with one command for each consumer; ignore deliveries that are settled already.

        Returns:
            The pending answers, one for each consumer.
        """
        by_consumer: dict[Recipient, list[EngineDelivery]] = {}
        for delivery in deliveries:
            if not delivery.settled:
                delivery.settled = True
                by_consumer.setdefault(delivery.consumer, []).append(delivery)
        answers: list[Pending[Done]] = []
        for consumer, group in by_consumer.items():
            for delivery in group:
                self.connection.observe(Settled(delivery.handed(), outcome))
            answers.append(self._submit_settle(consumer.number, tuple(d.number for d in group), outcome))
            self._forget(group)
        return answers

    def called_back(self, handing: Handing, raised: Exception | None) -> Operation[None]:
        """Settle the messages of a listener's call, as the acknowledgement mode requires (JMS 2.0, 8.7, BT-08).

        Args:
            handing: The messages of the call.
            raised: The listener's exception; None if it returned.
        """
        if raised is None:
            handing.consumer.failures.succeeded()
        if raised is not None:
            if self.behaviour.raise_redelivers:
                handing.consumer.failures.failed(handing.consumer)
                yield from self._draw_back((handing.consumer,), handing.deliveries)
        elif self.behaviour.settling is Settling.NOW:
            self.settle(handing.deliveries, Outcome.ACCEPTED)
        elif self.behaviour.settling is Settling.LAZILY:
            self._accept_lazily()

    # -- inside ----------------------------------------------------------------------------------------------------

    def _submit_settle(self, link: int, numbers: tuple[int, ...], outcome: Outcome) -> Pending[Done]:
        return self.connection.post(lambda token: Settle(token, link, numbers, outcome))

    def _accept_lazily(self) -> None:
        held = self.dispatcher.in_callback or self._giving_back  # a failed callback must get its messages again (BT-10)
        if len(self._unsettled) >= DUPS_OK_LIMIT and not held:
            self.settle(tuple(self._unsettled), Outcome.ACCEPTED)

    def _use_unit(self, what: str) -> None:
        self.use()
        if self.behaviour.branching:
            text = f"only the transaction manager can {what}: call the session's XA resource"
            raise RefusedError(Refused(JmsErrorKind.TRANSACTION_IN_PROGRESS, text))
        if not self.behaviour.transacted:
            raise RefusedError(
                Refused(JmsErrorKind.ILLEGAL_STATE, f"the session is not transacted, so it cannot {what}")
            )

    def _draw_back(self, consumers: Sequence[Recipient], deliveries: Iterable[EngineDelivery]) -> Operation[None]:
        """Give delivered messages back, so that the broker delivers them again in their order.

        Messages in the buffer or on their way go back first, unchanged, so that they do not overtake the delivered
        messages.
        """
        self._giving_back = True
        try:
            yield from call_back(consumers)
            answers = self.settle(deliveries, Outcome.MODIFIED)
        finally:
            self._giving_back = False
            for consumer in consumers:
                consumer.go_on()
        yield from all_of(answers)

    def _draw_back_quietly(self, deliveries: Iterable[EngineDelivery]) -> Operation[None]:
        """Give delivered messages back after a refused commit, which must raise its own refusal.

        The connection tells the exception listener if the broker refuses the messages (`ConnectionPort.post`).
        """
        with suppress(RefusedError):
            yield from self._draw_back(tuple(self.consumers.values()), deliveries)

    def _forget(self, deliveries: Iterable[EngineDelivery]) -> None:
        for delivery in deliveries:
            delivery.settled = True
            if delivery in self._unsettled:
                del self._unsettled[delivery]
                delivery.consumer.let_go()

    def _end(self, *, lost: bool) -> None:
        for producer in tuple(self.producers.values()):
            producer.end(lost=lost)
        for consumer in tuple(self.consumers.values()):
            consumer.end(lost=lost)
        self.unit.lose()
        self.branch.lose()
        for delivery in self._unsettled:
            delivery.settled = True  # the broker no longer needs an outcome
        self._unsettled.clear()
        self.dispatcher.clear()
        self.connection.forget_session(self.number)
