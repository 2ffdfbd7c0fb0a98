"""One callback at a time, whichever subscription of a client that connects again by itself it belongs to."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection

from assay_sdk.engine.calls import Pending
from assay_sdk.engine.light.subscription import LightDelivery, LightSubscription, OnDelivery
from assay_sdk.engine.operations import Operation, Wait
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import CallbackEnded, Observer, Seen
from assay_sdk.time import Runner, StalledError


class Callbacks:
    """Calls back, each time in a job of its own.

    Args:
        runner: The crank.
        observe: Told what is handed over, and how each callback ended.
        complain: Told of callbacks that raised.
    """

    def __init__(self, runner: Runner, observe: Observer, complain: Callable[[Refused], None]) -> None:
        self._runner = runner
        self._observe = observe
        self._complain = complain
        self._ready: deque[LightSubscription] = deque()
        """A subscription for each message that is due, in the order in which they became so."""
        self._scheduled = False
        self._thread: int | None = None
        """The thread on which a callback is under way."""
        self._under_way: LightSubscription | None = None
        self._called: Pending[None] = Pending()

    def due(self, subscription: LightSubscription) -> None:
        """A subscription has one more message for its callback."""
        self._ready.append(subscription)
        self._schedule()

    def clear(self) -> None:
        """Nobody is called any more."""
        self._ready.clear()

    def is_inside(self, caller: int) -> bool:
        """Whether a callback is under way on that thread: then it is the one that asks, at the moment of its call."""
        return self._thread == caller

    def finish(self, subscriptions: Collection[LightSubscription]) -> Operation[None]:
        """Wait until callbacks have had what the broker has forgotten already, so that nobody else could get it."""
        while self._under_way in subscriptions or any(one.owes for one in subscriptions):
            yield Wait(self._called)

    def _schedule(self) -> None:
        if self._ready and not self._scheduled:
            self._scheduled = True
            self._runner.call_soon(self._call_next)

    def _call_next(self) -> None:
        try:
            delivery = None
            while self._ready and delivery is None:
                delivery = self._ready.popleft().take()
            if delivery is not None and delivery.subscription.on_delivery is not None:
                self._call(delivery, delivery.subscription.on_delivery)
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
            callback(delivery)
        except StalledError:
            raise  # the world has stopped under the callback
        except Exception as error:  # noqa: BLE001  a callback may raise anything; what it was handed stays as it is
            raised = error
        self._observe(CallbackEnded(subscription.number, None, "returned" if raised is None else "raised"))
        if raised is not None:
            text = f"a callback on {subscription.terms.topic.name} raised {type(raised).__name__}: {raised}"
            self._complain(Refused(JmsErrorKind.MESSAGING, text, objects=(subscription.terms.topic.name,)))
