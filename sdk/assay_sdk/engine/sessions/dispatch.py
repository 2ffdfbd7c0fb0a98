"""The dispatcher, which calls the listeners of a session one at a time (JMS 2.0, 6.2.4)."""

from __future__ import annotations

import threading
from collections import deque

from assay_sdk.engine.calls import Pending, RefusedError, describe
from assay_sdk.engine.deliveries.delivery import Recipient
from assay_sdk.engine.deliveries.feeds import Handing
from assay_sdk.engine.operations import Operation, Wait, spawn
from assay_sdk.engine.ports import Listener, SessionPort
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import CallbackEnded
from assay_sdk.signals import hold
from assay_sdk.time import StalledError


class Dispatcher:
    """The object that calls the listeners of one session; each call is a separate job.

    Args:
        session: Session of the listeners.
    """

    def __init__(self, session: SessionPort) -> None:
        self._session = session
        self._ready: deque[Listener] = deque()
        """The consumers whose listeners must be called next, in the order in which their messages became due."""
        self._handing = False
        self._handed: Pending[None] = Pending()
        self._callback_of: Recipient | None = None
        self._callback_thread: int | None = None

    @property
    def in_callback(self) -> bool:
        """Whether a listener is running."""
        return self._callback_of is not None

    def ready(self, consumer: Listener) -> None:
        """Schedule a call of a consumer's listener, because a message or a batch is due."""
        self._ready.append(consumer)
        self.schedule()

    def schedule(self) -> None:
        """Schedule the next call, unless one is scheduled or calls are not allowed now."""
        session = self._session
        if self._ready and not self._handing and session.works:
            self._handing = True
            spawn(session.connection.runner, self._hand_next())

    def clear(self) -> None:
        """Drop all scheduled calls, because the session has ended."""
        self._ready.clear()

    def refuse_own_callback(self, what: str, caller: int) -> None:
        """Refuse a close that a listener of this session calls: the listener would wait for itself (JMS 2.0, 6.2.15).

        Args:
            what: Words of the refusal for the object to close, such as "the session".
            caller: Identifier of the calling thread.

        Raises:
            RefusedError: The calling thread runs a listener of this session.
        """
        if self._is_own_callback(caller):
            raise RefusedError(
                Refused(
                    JmsErrorKind.ILLEGAL_STATE, f"a listener cannot close {what} it belongs to: let it return first"
                )
            )

    def wait_until_idle(self, caller: int, consumer: Listener | None = None) -> Operation[None]:
        """Wait until no listener of the session, or of one consumer, is running.

        Args:
            caller: Identifier of the calling thread; a listener does not wait for itself.
            consumer: Consumer of the listener; None for all listeners of the session.
        """
        while self._handing and not self._is_own_callback(caller):
            if consumer is not None and self._callback_of is not consumer:
                return
            yield Wait(self._handed)

    def _is_own_callback(self, caller: int) -> bool:
        return self._callback_of is not None and self._callback_thread == caller

    def _hand_next(self) -> Operation[None]:
        try:
            # This may wait.  It comes first, because no wait is allowed between taking messages from the buffer and
            # calling the listener.
            yield from self._session.unit_of_work()
            handing = self._take()
            if handing is not None:
                self._session.hand_over(handing.deliveries)
                raised = self._call(handing)
                yield from self._session.called_back(handing, raised)
                if not self._ready:
                    self._session.idle()
        except RefusedError as error:
            if error.refused.kind is not JmsErrorKind.CONNECTION_LOST:
                self._session.connection.complain(error.refused)
        finally:
            self._handing = False
            handed, self._handed = self._handed, Pending()
            handed.resolve(None)
        self.schedule()

    def _take(self) -> Handing | None:
        # The loop covers only consumers that are ready now.  A consumer that becomes ready meanwhile gets a later job,
        # so that other jobs run in between.
        session = self._session
        for _ in range(len(self._ready)):
            if not (self._ready and session.works):
                break
            handing = self._ready.popleft().take_handing()
            if handing is not None:
                return handing
        return None

    def _call(self, handing: Handing) -> Exception | None:
        outer = self._callback_thread
        self._callback_of = handing.consumer
        self._callback_thread = threading.get_ident()
        raised: Exception | None = None
        try:
            hold.application(handing.call)
        except StalledError:
            raise  # the listener waits for an event that cannot come; after another delivery it would wait again
        except Exception as error:  # noqa: BLE001  a listener may raise anything; JMS 2.0, 8.7 defines what follows
            raised = error
        finally:
            self._callback_of = None
            self._callback_thread = outer
        connection = self._session.connection
        connection.observe(
            CallbackEnded(handing.consumer.number, handing.batch, "returned" if raised is None else "raised")
        )
        if raised is not None:
            text = f"a listener on {handing.consumer.source.address} raised {describe(raised)}"
            connection.complain(Refused(JmsErrorKind.MESSAGING, text), raised)
        return raised
