"""The callbacks of an MQ Light client.  At most one callback of a client runs at a time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection

from assay_sdk.engine.calls import Pending, describe
from assay_sdk.engine.connection import ExceptionListener
from assay_sdk.engine.light.subscription import LightDelivery, LightSubscription, OnDelivery
from assay_sdk.engine.operations import Operation, Wait
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import CallbackEnded, Observer, Seen
from assay_sdk.signals import hold
from assay_sdk.time import Runner, StalledError


class Callbacks:
    """The callbacks of one client; the runner calls each of them in a separate job.

    Args:
        runner: Runs the jobs.
        observe: Called with each delivery, and with the end of each callback.
        complain: Called with the refusal that reports a callback's exception, and with the exception.
    """

    def __init__(self, runner: Runner, observe: Observer, complain: ExceptionListener) -> None:
        self._runner = runner
        self._observe = observe
        self._complain = complain
        self._ready: deque[LightSubscription] = deque()
        """The subscription of each message that waits for a callback, in the order of the messages' arrival."""
        self._scheduled = False
        self._thread: int | None = None
        """Identifier of the thread on which a callback runs; None if no callback is running."""
        self._under_way: LightSubscription | None = None
        self._called: Pending[None] = Pending()

    def due(self, subscription: LightSubscription) -> None:
        """Schedule a call of a subscription's callback for one more message."""
        self._ready.append(subscription)
        self._schedule()

    def clear(self) -> None:
        """Drop all scheduled calls."""
        self._ready.clear()

    def is_inside(self, caller: int) -> bool:
        """Return whether the calling thread runs a callback now.

        Args:
            caller: Identifier of the calling thread.
        """
        return self._thread == caller

    def finish(self, subscriptions: Collection[LightSubscription]) -> Operation[None]:
        """Wait until the subscriptions' callbacks have received each message that the broker will not deliver again."""
        while self._under_way in subscriptions or any(one.owes for one in subscriptions):
            yield Wait(self._called)

    def _schedule(self) -> None:
        if self._ready and not self._scheduled:
            self._scheduled = True
            self._runner.call_soon(self._call_next)

    def _call_next(self) -> None:
        try:
            while self._ready:
                subscription = self._ready.popleft()
                callback = subscription.on_delivery
                # without a callback, the message stays in the buffer for a receive call or a later callback
                delivery = None if callback is None else subscription.take()
                if callback is not None and delivery is not None:
                    self._call(delivery, callback)
                    break
        finally:
            self._scheduled = False
            self._thread = self._under_way = None
            called, self._called = self._called, Pending()
            called.resolve(None)
        self._schedule()

    def _call(self, delivery: LightDelivery, callback: OnDelivery) -> None:
        subscription = delivery.subscription
        self._thread, self._under_way = threading.get_ident(), subscription
        self._observe(Seen(delivery.handed()))
        raised: Exception | None = None
        try:
            hold.application(lambda: callback(delivery))
        except StalledError:
            raise  # the callback waits for an event that never comes in virtual time
        except Exception as error:  # noqa: BLE001  a callback may raise anything; the state of its message does not change
            raised = error
        self._observe(CallbackEnded(subscription.number, None, "returned" if raised is None else "raised"))
        if raised is not None:
            text = f"a callback on {subscription.terms.topic.name} raised {describe(raised)}"
            self._complain(Refused(JmsErrorKind.MESSAGING, text, objects=(subscription.terms.topic.name,)), raised)
