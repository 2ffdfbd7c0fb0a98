"""The common base of the links on which the client receives: consumers and browsers."""

from __future__ import annotations

from assay_broker.amqp.engine import EngineLink, SettleMode
from assay_broker.amqp.frames import attach_encoding, attaches
from assay_broker.amqp.frames.attaches import AttachFrame, AttachReply, Terminus
from assay_broker.amqp.frames.peer_properties import properties
from assay_broker.amqp.links import termini
from assay_broker.amqp.links.link import LinkContext, LinkEnd
from assay_broker.amqp.links.termini import Reception
from assay_broker.core.effects import Answer
from assay_sdk.amqp import types
from assay_sdk.amqp.terms import SHARED_SUBSCRIPTIONS

_OFFERED = types.symbols((SHARED_SUBSCRIPTIONS,))


class ReceiverEnd(LinkEnd):
    """The server's end of a link on which the client receives: the base of consumers' and browsers' links.

    Args:
        context: The context that the connection's links share.
        engine: The engine's link.
        attach: The fields of the client's attach.
        plan: The destination and the options in the client's source.
    """

    def __init__(self, context: LinkContext, engine: EngineLink, attach: AttachFrame, plan: Reception) -> None:
        super().__init__(context, engine, attach)
        self.plan = plan
        self.settled = attach.snd_settle_mode == SettleMode.SETTLED
        """Whether the server sends deliveries settled."""

    def end(self, answer: Answer) -> AttachReply:
        """Return the server's attach, with the source as the server applies it and the destination's properties."""
        return receiving_end(self.attach, self.plan.source, properties(answer.properties))

    def opened(self) -> None:
        """Use the credit that arrived together with the attach."""
        self.flow()

    def resume(self) -> None:
        """Continue to send, after the client has read output."""
        self.flow()

    @property
    def is_full(self) -> bool:
        """Whether too much output waits for the client to read, or for the session's window."""
        return self.context.congested or self.engine.session.unsent > self.context.limits.unsent

    @property
    def wants_drain(self) -> bool:
        """Whether the client has asked for a drain that the server has not answered yet."""
        return self.attach.unreported.drain and self.engine.draining

    def end_drain(self) -> bool:
        """Answer a drain; if messages still wait for the session's window, only return False.

        While messages wait, the engine would postpone the answer and then never send it.
        """
        if self.engine.queued > 0:
            return False
        if self.wants_drain:
            self.attach.unreported.drain = self.attach.unreported.echo = False
            self.engine.drained()
        return True


def receiving_end(attach: AttachFrame, source: Terminus, told: bytes = b"") -> AttachReply:
    """Return the server's attach for a link on which the client receives.

    Args:
        attach: The client's attach.
        source: The source as the server applies it.
        told: The link's properties, as an encoded map; empty for no properties.
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
