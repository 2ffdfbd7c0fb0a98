"""Links on which the client receives: what consumers and browsers have in common."""

from __future__ import annotations

from assay_broker.amqp.engine import EngineLink, SettleMode
from assay_broker.amqp.frames import attach_encoding, attaches
from assay_broker.amqp.frames.attaches import Attach, AttachReply, Terminus
from assay_broker.amqp.frames.peer_properties import properties
from assay_broker.amqp.links import termini
from assay_broker.amqp.links.link import LinkContext, LinkEnd
from assay_broker.amqp.links.termini import Reception
from assay_broker.core.effects import Answer
from assay_sdk.amqp import types
from assay_sdk.amqp.terms import SHARED_SUBSCRIPTIONS

_OFFERED = types.symbols((SHARED_SUBSCRIPTIONS,))


class ReceiverEnd(LinkEnd):
    """A link on which the client receives.

    Args:
        context: What the links of its connection share.
        engine: The engine's link.
        attach: The fields of the client's attach.
        plan: The destination and options of its source.
    """

    def __init__(self, context: LinkContext, engine: EngineLink, attach: Attach, plan: Reception) -> None:
        super().__init__(context, engine, attach)
        self.plan = plan
        self.settled = attach.snd_settle_mode == SettleMode.SETTLED
        """Whether deliveries are sent settled."""

    def end(self, answer: Answer) -> AttachReply:
        """Return the source as the server understands it, with properties of the queue."""
        return receiving_end(self.attach, self.plan.source, properties(answer.properties))

    def opened(self) -> None:
        """Use credit that arrived with the attach."""
        self.flow()

    def resume(self) -> None:
        """Go on sending."""
        self.flow()

    @property
    def is_full(self) -> bool:
        """Whether so much output waits for the client or its session's window that no more is written."""
        return self.context.congested or self.engine.session.unsent > self.context.limits.unsent

    @property
    def wants_drain(self) -> bool:
        """Whether the client drains its credit and has not been answered."""
        return self.attach.unreported.drain and self.engine.draining

    def end_drain(self) -> bool:
        """Answer a drain. Return False while messages of it wait for the session's window.

        The engine would postpone its answer, but never send it.
        """
        if self.engine.queued > 0:
            return False
        if self.wants_drain:
            self.attach.unreported.drain = self.attach.unreported.echo = False
            self.engine.drained()
        return True


def receiving_end(attach: Attach, source: Terminus, told: bytes = b"") -> AttachReply:
    """Return our attach for a link on which the client receives.

    Args:
        attach: The client's.
        source: The source as the server understands it.
        told: Properties, an encoded map; empty for none.
    """
    target, mode = attach.target, attach.snd_settle_mode
    return AttachReply(
        name=attach.name,
        source=attach_encoding.encode_terminus(source, attaches.SOURCE, termini.OUTCOMES),
        target=attach_encoding.encode_terminus(target, attaches.TARGET) if isinstance(target, Terminus) else b"",
        offered=_OFFERED,
        properties=told,
        snd_settle_mode=SettleMode.SETTLED if mode == SettleMode.SETTLED else SettleMode.UNSETTLED,
        rcv_settle_mode=attach.rcv_settle_mode,
    )
