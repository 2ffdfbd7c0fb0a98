"""The observer of an MQ Light client, which passes the SDK's events on in the port's form, and what its frames say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from assay_adapters.clients.events import EventMaker, seen_of
from assay_adapters.clients.keys import key_of
from assay_adapters.ports.client import ClientEvent
from assay_sdk.driver import Disposition, Frame
from assay_sdk.engine.light.subscription import PRIVATE, SHARE
from assay_sdk.faces.mqlight.client import Subscription
from assay_sdk.observer import CallbackEnded, ConnectionLost, FrameSeen, Reconnected, SdkEvent, Settled
from assay_sdk.observer import Seen as SdkSeen


class LightTeller(EventMaker):
    """The observer of one client, which passes the SDK's events on in the port's form.

    A delivery's handle is its number in the client.
    """

    def __init__(self, tell: Callable[[ClientEvent], None], connection: str) -> None:
        super().__init__(tell, connection)
        self._attempt = 1
        self._subscribers: dict[str, str] = {}
        """Names of consumers in the scenario, by the names of their links."""

    def name_link(self, subscription: Subscription, actor: str) -> None:
        """Note the name in the scenario of a subscription's consumer, by which frames of its link are told."""
        share = subscription.share
        stem = PRIVATE if share is None else f"{SHARE}:{share}"
        self._subscribers[f"{stem}:{subscription.pattern}"] = actor

    def forget(self, subscription: int) -> None:
        """Note that a subscription was ended in order."""
        self._actors.pop(subscription, None)

    def __call__(self, event: SdkEvent) -> None:
        """Pass on one event."""
        match event:
            case SdkSeen(handed=handed):
                self._tell_message("seen", handed, seen_of(handed, handed.delivery))
            case Settled(handed=handed, outcome=outcome):
                self._tell_message("settle", handed, seen_of(handed, handed.delivery), outcome=outcome.value)
            case CallbackEnded():
                self._tell_callback(event)
            case ConnectionLost():
                self._tell_all("lost")
            case Reconnected():
                self._attempt += 1
                self._tell_all("back")
            case FrameSeen(frame=frame):
                self._tell_frame(frame)
            case _:
                pass  # MQ Light has no units of work

    def _tell_frame(self, frame: Frame) -> None:
        """Tell what a frame carries, and what it says of messages that came before."""
        told = (*((frame.transfer,) if frame.transfer else ()), *frame.dispositions)
        for one in told:
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
            self._tell(event)

    def _subscriber(self, link: str) -> str:
        """The consumer of a link, whose name may go on after the subscription's; else the connection."""
        found = (actor for name, actor in self._subscribers.items() if link == name or link.startswith(f"{name}|"))
        return next(found, self._connection)

    def _tell_all(self, what: Literal["lost", "back"]) -> None:
        for actor in tuple(self._actors.values()):
            self._tell(ClientEvent(what=what, actor=actor))

    def _link(self, consumer: int) -> str:
        return f"{self._actors[consumer]}/{self._connection}.{self._attempt}/{consumer}"
