"""A plain broker on proton's `Container`, as in proton's documentation.

Run as ``python plain.py PORT``.  The queues are in memory.  The broker does not write to disk, enforces no rule, and
forgets a message after sending it to a consumer.
"""

from __future__ import annotations

import collections
import sys
from typing import Any

from proton import Endpoint, Link, Message, Sender
from proton.handlers import MessagingHandler
from proton.reactor import Container


class Queue:
    """The waiting messages and the consumers of a queue."""

    def __init__(self) -> None:
        self._messages: collections.deque[Message] = collections.deque()
        self._consumers: list[Sender] = []

    def subscribe(self, consumer: Sender) -> None:
        """Add a consumer."""
        self._consumers.append(consumer)

    def unsubscribe(self, consumer: Sender) -> None:
        """Remove a consumer."""
        if consumer in self._consumers:
            self._consumers.remove(consumer)

    def publish(self, message: Message) -> None:
        """Add a message, and send it to a consumer if possible."""
        self._messages.append(message)
        self.dispatch()

    def dispatch(self) -> None:
        """Send waiting messages to the consumers in turn."""
        while self._messages:
            ready = [consumer for consumer in self._consumers if consumer.credit]
            if not ready:
                return
            for consumer in ready:
                if self._messages:
                    consumer.send(self._messages.popleft())


class Broker(MessagingHandler):
    """A broker that creates a queue when a client first uses the queue's name.

    The events have type `Any`: in proton's types the link of an event may be missing, but these events have one.

    Args:
        url: The address on which the broker listens.
    """

    def __init__(self, url: str) -> None:
        super().__init__(prefetch=500, auto_accept=True)
        self._url = url
        self._queues: dict[str, Queue] = {}

    def on_start(self, event: Any) -> None:
        """Listen on the address."""
        event.container.listen(self._url)

    def on_link_opening(self, event: Any) -> None:
        """Accept a link; add its consumer to the queue."""
        link = event.link
        if link.is_sender:
            link.source.address = link.remote_source.address
            self._queue(link.source.address).subscribe(link)
        else:
            link.target.address = link.remote_target.address

    def on_link_closing(self, event: Any) -> None:
        """Remove the consumer of a closed link."""
        self._forget(event.link)

    def on_disconnected(self, event: Any) -> None:
        """Remove the consumers of a lost connection."""
        link = event.connection.link_head(Endpoint.REMOTE_ACTIVE)
        while link is not None:
            self._forget(link)
            link = link.next(Endpoint.REMOTE_ACTIVE)

    def on_connection_closing(self, event: Any) -> None:
        """Remove the consumers of a closing connection."""
        self.on_disconnected(event)

    def on_sendable(self, event: Any) -> None:
        """Deliver to consumers with credit."""
        self._queue(event.link.source.address).dispatch()

    def on_message(self, event: Any) -> None:
        """Add a message to its queue."""
        self._queue(event.link.target.address).publish(event.message)

    def _queue(self, name: str) -> Queue:
        return self._queues.setdefault(name, Queue())

    def _forget(self, link: Link) -> None:
        if isinstance(link, Sender) and link.source.address:
            self._queue(link.source.address).unsubscribe(link)


if __name__ == "__main__":
    Container(Broker(f"127.0.0.1:{sys.argv[1]}")).run()
