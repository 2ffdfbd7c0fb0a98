"""A client's connection to a queue manager in the same process."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version

from assay_broker.bug_text import BUG
from assay_broker.core import commands
from assay_broker.core.effects import Answer, Browsed, CloseLink, Deliver, Value
from assay_broker.core.messages.bodies import opened
from assay_broker.forwarding import Forwarder
from assay_broker.shell import QueueManager
from assay_broker.tracing import WireTracer
from assay_sdk import driver
from assay_sdk.driver import DriverCommand, DriverEvent, Target
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc, Refused, refused
from assay_sdk.time import Runner

CAPABILITIES = frozenset(
    {
        Capability.DELIVERY_DELAY,
        Capability.TIME_TO_LIVE,
        Capability.PRIORITY,
        Capability.NON_PERSISTENT,
        Capability.SELECTOR,
        Capability.BROWSE,
        Capability.TOPIC,
        Capability.DURABLE_SUBSCRIPTION,
        Capability.SHARED_SUBSCRIPTION,
        Capability.TEMPORARY_DESTINATION,
        Capability.LOCAL_TRANSACTION,
        Capability.XA,
        Capability.CLIENT_ID,
        Capability.CANCEL,
    }
)
"""The capabilities of an in-process connection to the reference broker."""

PRODUCT = "Assay reference broker"
_CONNECT = -1  # no command of a client has this token, because the SDK's tokens count from 0


@cache
def product_version() -> str:
    """Return the broker's installed version, or "source" if it runs from its source tree."""
    try:
        return version("assay-mq")
    except PackageNotFoundError:
        return "source"


def _value(value: Value) -> tuple[Message, ...] | tuple[bytes, ...] | str | None:
    """Return an answer's value in the client's types: messages, xids, a string such as a vote, or None."""
    if value is None or isinstance(value, str):
        return value
    xids = tuple(one for one in value if isinstance(one, bytes))
    return xids or tuple(opened(one.message) for one in value if isinstance(one, Browsed))


class InProcessWire:
    """A client's connection to a queue manager in the same process.

    Each answer or message of the queue manager reaches the client's sink in a separate job, in the order of the calls.

    Args:
        queue_manager: The queue manager at the other end.
        target: The client's URL, client id and login.
        sink: Called with each event for the client.
        runner: Runs the jobs.
        epoch: The number of this connection attempt.
    """

    def __init__(
        self,
        queue_manager: QueueManager,
        target: Target,
        sink: Callable[[DriverEvent], None],
        runner: Runner,
        epoch: int,
    ) -> None:
        self._queue_manager = queue_manager
        self._target = target
        self._sink = sink
        self._runner = runner
        self._epoch = epoch
        self._capabilities: frozenset[Capability] = frozenset()
        self._pending: dict[int, DriverCommand] = {}
        self._number = 0
        self._forwarder: Forwarder | None = None
        self._tracer = WireTracer() if target.trace else None
        self._ending = False
        self._over = False
        runner.call_soon(self._open)

    @property
    def epoch(self) -> int:
        """The number of this connection attempt."""
        return self._epoch

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The broker's capabilities; empty before the event `Opened`."""
        return self._capabilities

    def submit(self, command: DriverCommand) -> None:
        """Pass a client's command to the queue manager without waiting for the answer.

        Every command gets an answer.  After the loss of the connection that answer is `Failed`.

        Raises:
            ValueError: An earlier command with the same token is not answered yet.
        """
        if command.token in self._pending:
            raise ValueError(f"token {command.token} belongs to a command that is still open")
        self._pending[command.token] = command
        self._runner.call_soon(partial(self._forward, command))

    def abort(self) -> None:
        """End the connection without telling the queue manager first, as a failure of the network would."""
        self._drop("The connection was dropped.")

    def _drop(self, why: str) -> None:
        if not self._ending:
            self._runner.call_soon(partial(self._end_connection, self._number))
            self.lost(refused(Mqrc.CONNECTION_BROKEN, why))

    # calls of the queue manager ----------------------------------------------------------------------------------

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        """Post the answer to a command as an event, and call `sent`, if given, after it."""
        if answer.token == _CONNECT:
            self._opened(answer.refused)
            return
        command = self._pending.get(answer.token)
        if command is None:
            return
        if answer.refused is not None:
            if self._forwarder is not None:
                self._forwarder.refused(command)
            self._post(driver.Failed(answer.token, answer.refused))
            return
        if isinstance(command, driver.Drain):
            self._post(driver.Drained(command.link))
        self._post(driver.Done(answer.token, _value(answer.value), answer.properties), sent)
        if isinstance(command, driver.Close):
            self._runner.call_soon(partial(self._end, None))

    def deliver(self, delivery: Deliver) -> None:
        """Post a message for a receiver as an event."""
        if self._tracer is not None and delivery.settled:
            self._tracer.is_settled(delivery.delivery)
        self._post(
            driver.Arrived(
                link=delivery.link,
                delivery=delivery.delivery,
                epoch=self._epoch,
                message=opened(delivery.message),
                count=delivery.count,
                redelivered=delivery.redelivered,
            )
        )

    def close_link(self, closed: CloseLink) -> None:
        """Post an event that the broker has closed a link."""
        self._post(driver.LinkClosed(closed.link, closed.refused))

    def lost(self, why: Refused) -> None:
        """Close the connection for the reason given; events that the client has not received yet are dropped."""
        if not self._ending:
            self._ending = True
            self._runner.call_soon(partial(self._finish, why))

    # events ------------------------------------------------------------------------------------------------------

    def _post(self, event: DriverEvent, then: Callable[[], None] | None = None) -> None:
        self._runner.call_soon(partial(self._hand_over, event, then))

    def _hand_over(self, event: DriverEvent, then: Callable[[], None] | None) -> None:
        if self._ending:
            return
        if isinstance(event, driver.Done | driver.Failed) and self._pending.pop(event.token, None) is None:
            return
        if self._tracer is not None:
            self._sink(self._tracer.event(event))
        self._sink(event)
        if then is not None:
            then()

    def _end(self, why: Refused | None) -> None:
        if not self._ending:
            self._ending = True
            self._finish(why)

    def _finish(self, why: Refused | None) -> None:
        self._queue_manager.forget(self._number)
        reason = why or refused(Mqrc.CONNECTION_BROKEN, "The connection was closed before the command was answered.")
        while self._pending:
            token = next(iter(self._pending))
            del self._pending[token]
            self._sink(driver.Failed(token, reason))
        self._over = True
        self._sink(driver.Closed(self._epoch, why))

    # opening and ending ------------------------------------------------------------------------------------------

    def _open(self) -> None:
        if not self._ending and not self._queue_manager.contain("a connection", self._connect):
            self._drop(f"{BUG}.")

    def _connect(self) -> None:
        login = self._target.login
        user = None if login is None else login.user
        self._number = self._queue_manager.connect(self, _CONNECT, self._target.client_id, user)
        self._forwarder = Forwarder(self._number, self._queue_manager.handle, self._post)

    def _opened(self, why: Refused | None) -> None:
        if why is not None:
            self._runner.call_soon(partial(self._end, why))
            return
        self._capabilities = CAPABILITIES
        self._post(
            driver.Opened(
                self._epoch,
                CAPABILITIES,
                {"product": PRODUCT, "version": product_version(), **self._queue_manager.properties},
            )
        )

    def _end_connection(self, number: int) -> None:
        end = commands.Disconnect(number, None, clean=False)
        self._queue_manager.contain("the end of a connection", partial(self._queue_manager.handle, end))

    # commands ----------------------------------------------------------------------------------------------------

    def _forward(self, command: DriverCommand) -> None:
        if self._over:
            if self._pending.pop(command.token, None) is not None:
                self._sink(driver.Failed(command.token, refused(Mqrc.CONNECTION_BROKEN, "The connection is closed.")))
            return
        if self._ending:
            return  # `_finish`, which is scheduled, answers the command with `Failed`
        if self._tracer is not None:
            self._sink(self._tracer.command(command))
        if self._forwarder is None:
            raise RuntimeError("a wire got a command before it had begun to open")
        if not self._queue_manager.contain("a command", partial(self._forwarder.forward, command)):
            self._drop(f"{BUG}.")
