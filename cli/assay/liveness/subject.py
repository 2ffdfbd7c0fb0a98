"""The clients that the profile can judge: the SDK, and stomp.py without the SDK."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from assay.liveness.plain import Target
from assay_sdk import Context, MessagingRuntimeError, Queue, connect
from assay_sdk.drivers.stomp import StompDriver
from assay_sdk.stomp import HeartBeat
from assay_sdk.stomp.conventions import Conventions

QUEUE = "assay.liveness"


class Subject(Protocol):
    """A client under judgement."""

    def connect(self, port: int) -> None:
        """Connect to a port of the loopback interface."""
        ...

    def busy(self, seconds: float) -> threading.Event:
        """Send a message to a listener that runs for some seconds; return an event that is set when it begins."""
        ...

    def close(self) -> None:
        """Close the connection, if it is still open."""
        ...


class SdkSubject:
    """The SDK's client over STOMP.

    Args:
        target: The broker and the login.
        interval_ms: The interval of heart-beats that the client offers and requests, in milliseconds.
        conventions: The broker's behaviour in the points that STOMP leaves open; None to choose it by the header
            ``server`` of the broker's CONNECTED frame.
    """

    def __init__(self, target: Target, interval_ms: int, conventions: Conventions | None) -> None:
        self._target = target
        self._driver = StompDriver(conventions, HeartBeat(interval_ms, interval_ms))
        self._context: Context | None = None

    def connect(self, port: int) -> None:
        """Connect to a port of the loopback interface with the SDK.

        Raises:
            MessagingRuntimeError: The broker cannot be reached, or refuses the connection.
        """
        self._context = connect(f"stomp://127.0.0.1:{port}", login=self._target.login, driver=self._driver)
        self._context.set_exception_listener(lambda _: None)  # the relay's record says that the connection was lost

    def busy(self, seconds: float) -> threading.Event:
        """Send a message, and receive it with a message listener of the SDK that runs for some seconds.

        Raises:
            MessagingRuntimeError: The connection is lost.
        """
        begun, context = threading.Event(), self._context
        if context is None:
            return begun

        def listener(_: object) -> None:
            begun.set()
            threading.Event().wait(seconds)

        queue = Queue[str](QUEUE)
        context.create_consumer(queue).set_message_listener(listener)
        context.create_producer(queue).send("busy")
        return begun

    def close(self) -> None:
        """Close the context."""
        if self._context is not None:
            with suppress(MessagingRuntimeError):
                self._context.close()


class StompPySubject:
    """stomp.py without the SDK; the listener runs on stomp.py's own thread, as stomp.py's documentation shows.

    Args:
        target: The broker and the login.
        interval_ms: The interval of heart-beats that the client offers and requests, in milliseconds.
        conventions: The broker's behaviour in the points that STOMP leaves open; not used.
    """

    def __init__(self, target: Target, interval_ms: int, conventions: Conventions | None) -> None:
        del conventions
        logging.getLogger("stomp.py").addHandler(logging.NullHandler())  # otherwise its warnings go to standard error
        self._target = target
        self._interval_ms = interval_ms
        self._connection: Any = None

    def connect(self, port: int) -> None:
        """Connect with stomp.py; the second time with the same object, as applications do after a lost connection.

        Raises:
            ConnectionError: stomp.py cannot connect.
        """
        import stomp
        from stomp.exception import StompException

        place, login = [("127.0.0.1", port)], self._target.login
        if self._connection is None:
            beats = self._interval_ms, self._interval_ms
            self._connection = stomp.Connection12(place, heartbeats=beats, vhost=self._target.vhost)
        user, password = (None, None) if login is None else (login.user, login.password)
        try:
            self._connection.connect(user, password, wait=True)
        except (StompException, OSError) as error:  # OSError if the broker ends the socket during a send
            raise ConnectionError(f"stomp.py cannot connect ({type(error).__name__})") from error

    def busy(self, seconds: float) -> threading.Event:
        """Send a message, and receive it with a listener of stomp.py that runs for some seconds.

        Raises:
            ConnectionError: The connection has ended.
        """
        import stomp
        from stomp.exception import StompException

        begun = threading.Event()

        class Listener(stomp.ConnectionListener):  # type: ignore[misc]  # stomp.py has no types
            def on_message(self, frame: object) -> None:
                """Note that the listener runs, and return only after the given seconds."""
                del frame
                begun.set()
                threading.Event().wait(seconds)

        self._connection.set_listener("busy", Listener())
        destination = f"/queue/{QUEUE}"
        try:
            self._connection.subscribe(destination, id="1", ack="auto")
            self._connection.send(destination, "busy")
        except StompException as error:
            raise ConnectionError(f"stomp.py cannot subscribe and send ({type(error).__name__})") from error
        return begun

    def close(self) -> None:
        """Disconnect, if the connection is still open."""
        from stomp.exception import StompException

        if self._connection is not None:
            with suppress(StompException, OSError):
                self._connection.disconnect()


OURS = "sdk"
SUBJECTS: Mapping[str, Callable[[Target, int, Conventions | None], Subject]] = {
    OURS: SdkSubject,
    "stomp.py": StompPySubject,
}
"""The clients by name."""
