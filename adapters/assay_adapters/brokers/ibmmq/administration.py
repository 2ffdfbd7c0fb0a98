"""Administration of IBM MQ: MQSC over its administrative REST interface, messages over its messaging REST interface.

The two interfaces have different users: in IBM's image for developers, `admin` may send commands but has no role for
messages, and `app` has only the role for messages.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from assay_adapters.brokers.mq_rest.administration import RestAdmin, is_unknown
from assay_adapters.brokers.mq_rest.client import Command, MqRest
from assay_adapters.brokers.mq_rest.messages import Messaging
from assay_adapters.containers.host_ports import LOOPBACK
from assay_adapters.ports.administration import Change, ObjectKind, RawMessage, Scalar, Start, Stop
from assay_adapters.ports.client import Endpoint, Source
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability

_ALL = ("ALL",)


class IbmMqAdmin(RestAdmin):
    """An administrator of one queue manager, without the extensions of the reference broker.

    Args:
        rest: The REST interface with the login of an administrator.
        messaging: The client for messages, with the login of an application.
        lacks: The missing capabilities, each with the reason.
    """

    def __init__(self, rest: MqRest, messaging: Messaging, lacks: Mapping[Capability, Source]) -> None:
        super().__init__(rest, on_use=False)
        self._messaging = messaging
        self._lacks = lacks

    def execute(self, change: Change, member: str | None = None) -> Outcome[None]:
        """Carry out a change by an MQSC command; refuse to start or stop the queue manager."""
        if isinstance(change, Start | Stop):
            text = f"IBM MQ over REST cannot start or stop the {change.what}; the kit stops its container instead."
            return Refused(JmsErrorKind.UNSUPPORTED, text)
        return super().execute(change, member)

    def subscriptions(self, topic: str, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Return all subscriptions to a topic string, in the order of their ids."""
        del member
        parameters: dict[str, str | int | list[str]] = {"SUBTYPE": "ALL"}
        asked = Command(command="DISPLAY", qualifier="SUB", name="*", parameters=parameters, response_parameters=_ALL)
        shown = self.all(asked)
        if isinstance(shown, Refused):
            return shown
        matching = (row for row in shown.value if row.get("TOPICSTR") == topic)
        return Ok(tuple(sorted(matching, key=lambda row: str(row.get("SUBID", "")))))

    def units(self, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Refuse, because the kit has no client for global units of work over AMQP."""
        del member
        return self._lack(Capability.XA)

    def browse(self, queue: str, member: str | None = None) -> Outcome[tuple[RawMessage, ...]]:
        """Return the messages of a queue, none if it does not exist.

        Refuse if the REST interface shows another number of messages than the queue's CURDEPTH.
        """
        del member
        browsed = self._messaging.browse(queue)
        if isinstance(browsed, Refused):
            return Ok(()) if is_unknown(browsed) else browsed
        shown = self.inspect(ObjectKind.QUEUE, queue)
        if isinstance(shown, Refused):
            return Ok(()) if is_unknown(shown) else shown
        # IBM MQ lists no messages of a queue with GET(DISABLED), and no messages that are delivered and not settled.
        if (depth := shown.value.get("CURDEPTH")) != len(browsed.value):
            text = f"IBM MQ counts {depth} messages on {queue}, and its REST interface shows {len(browsed.value)}"
            return Refused(JmsErrorKind.UNSUPPORTED, text, objects=(queue,))
        return browsed

    def take(self, queue: str, *, correlation_id: bytes, member: str | None = None) -> Outcome[RawMessage | None]:
        """Remove and return the first message with this correlation id; None if the queue has no such message."""
        del member
        return self._messaging.take(queue, correlation_id)

    def put_native(self, queue: str, message: RawMessage, *, delay_ms: int | None = None) -> Outcome[None]:
        """Refuse: a put over REST has only some fields of a descriptor, and ignores the queue's DEFPSIST."""
        del queue, message, delay_ms
        return self._lack(Capability.NATIVE_PUT)

    def _lack(self, capability: Capability) -> Refused:
        return Refused(JmsErrorKind.UNSUPPORTED, f"{capability.value}: {self._lacks[capability].text}")


class MqManagement(Struct, frozen=True, kw_only=True):
    """The REST interface of IBM MQ, over HTTPS.

    Args:
        port: The port inside the container.
        queue_manager: The queue manager's name.
        administrator: The login for commands.
        application: The login for messages.
    """

    port: int = 9443
    queue_manager: str
    administrator: Login
    application: Login

    def endpoint(self, port: int, login: Login) -> Endpoint:
        """Return the endpoint of the interface at a port of the loopback address."""
        del login  # clients log in as the application
        return Endpoint(f"https://{LOOPBACK}:{port}", self.administrator)

    def admin(
        self, title: str, at: Endpoint, has: Mapping[Capability, Source], lacks: Mapping[Capability, Source]
    ) -> IbmMqAdmin:
        """Return the administrator of the queue manager at an endpoint."""
        del title, has
        return IbmMqAdmin(self.rest(at, at.login), Messaging(self.rest(at, self.application)), lacks)

    def answers(self, at: Endpoint) -> bool:
        """Return whether the queue manager answers a command; the web server may start later than the AMQP channel."""
        asked = Command(command="DISPLAY", qualifier="QMGR", response_parameters=_ALL)
        return isinstance(self.rest(at, at.login).run(asked), Ok)

    def rest(self, at: Endpoint, login: Login | None) -> MqRest:
        """Return the REST interface at an endpoint.

        Raises:
            ValueError: The endpoint's URL has no host or port.
        """
        url = urlsplit(at.url)
        port = url.port
        if url.hostname is None or port is None:
            raise ValueError(f"The administrator's URL {at.url} has no host or no port.")
        tls = _tls(url.hostname) if url.scheme == "https" else None
        return MqRest(url.hostname, lambda: port, self.queue_manager, login, tls)


def _tls(host: str) -> ssl.SSLContext:
    """Return the settings of TLS.

    The kit does not check the certificate of a container that it has started itself on the loopback address: IBM's
    image makes a self-signed certificate at its start.
    """
    context = ssl.create_default_context()
    if host == LOOPBACK:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
