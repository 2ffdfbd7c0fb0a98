"""The observer of an MQ Light client, which reports the SDK's events and frames as events of the `Client` port."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from assay_adapters.clients.bodies import kind_of
from assay_adapters.clients.events import EventMaker, Fields, seen_of
from assay_adapters.clients.keys import key_of
from assay_adapters.ports.client import ClientEvent, Seen
from assay_sdk.driver import Disposition, Frame, Transfer
from assay_sdk.engine.light.subscription import PRIVATE, SHARE
from assay_sdk.faces.mqlight.client import Subscription
from assay_sdk.observer import CallbackEnded, ConnectionLost, FrameSeen, Reconnected, SdkEvent, SessionEnded, Settled
from assay_sdk.observer import Seen as SdkSeen


class LightTeller(EventMaker):
    """An observer of one MQ Light client, which reports the SDK's events as events of the `Client` port.

    The handle of a message is the number of its delivery in the client.
    """

    def __init__(self, tell: Callable[[ClientEvent], None], connection: str) -> None:
        super().__init__(tell, connection)
        self._attempt = 1
        self._subscribers: dict[str, str] = {}
        """The consumers' names in the scenario, by the name of their subscription's link."""

    def name_link(self, subscription: Subscription, actor: str) -> None:
        """Note the name that a subscription's consumer has in the scenario, for events about frames of its link."""
        share = subscription.share
        stem = PRIVATE if share is None else f"{SHARE}:{share}"
        self._subscribers[f"{stem}:{subscription.pattern}"] = actor

    def forget(self, subscription: int) -> None:
        """Forget a subscription that the client has ended, so that no later event names it."""
        self._actors.pop(subscription, None)

    def __call__(self, event: SdkEvent) -> None:
        """Convert one event of the SDK, and report it to the steps."""
        match event:
            case SdkSeen(handed=handed):
                self._tell_message("seen", handed, seen_of(handed, handed.delivery))
            case Settled(handed=handed, outcome=outcome):
                self._tell_message("settle", handed, seen_of(handed, handed.delivery), outcome=outcome.value)
            case CallbackEnded():
                self._tell_callback(event)
            case ConnectionLost():
                self._tell_all("lost")
            case SessionEnded():
                self._tell_session(event)
            case Reconnected():
                self._attempt += 1
                self._tell_all("back")
            case FrameSeen(frame=frame):
                self._tell_frame(frame)
            case _:
                pass  # MQ Light has no units of work

    def _tell_frame(self, frame: Frame) -> None:
        """Report the message in a frame, and the frame's outcomes and settlements of earlier messages."""
        carried = (*((frame.transfer,) if frame.transfer else ()), *frame.dispositions)
        for one in carried:
            key = key_of(one.message)
            if key is None:
                continue
            event = ClientEvent(
                what="transfer",
                actor=self._subscriber(one.link),
                key=key,
                settled=one.settled,
                direction=frame.direction,
            )
            if isinstance(one, Disposition):
                role: Literal["sender", "receiver"] = "receiver" if one.receiver else "sender"
                event = replace(event, what="disposition", outcome=one.outcome or "none", role=role)
            else:
                event = replace(event, seen=_carried(one, key))
            self._tell(event)

    def _subscriber(self, link: str) -> str:
        """Return the name of a link's consumer in the scenario; for other links, the connection's name.

        The link's name is the name of its subscription, or begins with that name and a ``|``.
        """
        found = (actor for name, actor in self._subscribers.items() if link == name or link.startswith(f"{name}|"))
        return next(found, self._connection)

    def _tell_all(self, what: Literal["lost", "back"]) -> None:
        for actor in tuple(self._actors.values()):
            self._tell(ClientEvent(what=what, actor=actor))

    def _link(self, consumer: int) -> str:
        return f"{self._actors[consumer]}/{self._connection}.{self._attempt}/{consumer}"


def _carried(transfer: Transfer, key: str) -> Seen:
    """Return the message that a frame has carried, in the form of the `Client` port."""
    message = transfer.message
    body = kind_of(message.body)
    fields: Fields = {"JMSMessageID": message.message_id, "body": body, "durable": message.durable}
    if transfer.target:
        fields["target"] = transfer.target
    return Seen(
        key=key,
        handle=0,
        body=message.body or "",
        message_id=message.message_id,
        count=0,
        redelivered=False,
        fields=fields,
    )
