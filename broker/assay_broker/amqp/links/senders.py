"""The common base of the links on which the client sends: messages and requests."""

from __future__ import annotations

from assay_broker.amqp.conditions import BAD_FIELD, TRANSFER_LIMIT, Condition
from assay_broker.amqp.engine import Delivery, reject, tag_of
from assay_broker.amqp.frames.attaches import AttachReply
from assay_broker.amqp.links import termini
from assay_broker.amqp.links.link import LinkEnd
from assay_broker.amqp.links.states import LinkEndState

_REJECTED = "amqp:rejected:list"


class SenderEnd(LinkEnd):
    """The server's end of a link on which the client sends: the base of links for messages and for requests."""

    def reply(self, target: bytes, *, offered: bytes = b"", properties: bytes = b"", most: int = 0) -> AttachReply:
        """Return the server's attach.

        Args:
            target: The target, encoded.
            offered: The offered capabilities, as an encoded array of symbols; empty for none.
            properties: The link's properties, as an encoded map; empty for none.
            most: The most octets of a message; 0 for no limit.
        """
        return AttachReply(
            name=self.attach.name,
            source=termini.senders(self.attach.source),
            target=target,
            offered=offered,
            properties=properties,
            snd_settle_mode=self.attach.snd_settle_mode,
            max_message_size=most,
        )

    def opened(self) -> None:
        """Give the client credit, or detach the link if the client has sent without credit."""
        if self.engine.overdrawn:
            self.expel_overdrawn()
        else:
            self.catch_up()

    def expel_overdrawn(self) -> None:
        """Detach the link, because the client has sent without credit."""
        self.expel(Condition(TRANSFER_LIMIT, "The client has sent without credit: wait for a flow."))

    @property
    def takes_rejected(self) -> bool:
        """Whether the client supports the outcome *rejected*."""
        source = self.attach.source
        return source is None or not source.outcomes or _REJECTED in source.outcomes

    def reject(self, delivery: Delivery, why: Condition) -> None:
        """Reject a delivery, or detach the link if the client does not support *rejected* (AMQP 1.0, 4.3)."""
        if not self.takes_rejected:
            self.expel(why)
        elif self.engine.alive:
            reject(delivery, why)

    def is_flawed(self, delivery: Delivery) -> bool:
        """Detach the link and return True if a delivery's transfers lack or contradict a field (AMQP 1.0, 2.7.5)."""
        flaw = self.attach.unreported.marked.get(tag_of(delivery))
        if flaw is None:
            return False
        if self.state is not LinkEndState.EXPELLED:
            self.expel(Condition(BAD_FIELD, flaw))
        return True
