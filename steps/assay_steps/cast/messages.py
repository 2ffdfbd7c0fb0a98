"""The messages that the steps of a scenario send, and the messages that its actors receive."""

from __future__ import annotations

from msgspec import Struct

from assay_adapters.clients.bodies import kind_of, octets_of
from assay_adapters.ports.client import Draft, Seen, Sent
from assay_sdk.model.message import Address
from assay_steps.cast.recording import Answer

BODY = "{key} The quick brown fox jumps over the lazy dog."
EVERY_OCTET = bytes(range(256))
"""The end of a binary body: every octet once.  It is not valid UTF-8, so a pair that treats it as text alters it."""


class SentMessage(Struct, frozen=True):
    """A message that a step has sent, or tried to send.

    Args:
        label: The message's name in the scenario.
        draft: The message as the step gave it to the client.
        answer: The answer to the send.
        destination: The queue or topic to which the step sent it.
        delay_ms: The delivery delay that the step set, in milliseconds; 0 for none.
    """

    label: str
    draft: Draft
    answer: Answer[Sent]
    destination: Address
    delay_ms: int = 0

    @property
    def key(self) -> str:
        """The key by which the kit recognises the message."""
        return self.draft.key

    @property
    def octets(self) -> bytes:
        """The octets of the message's body."""
        return octets_of(self.draft.content)

    @property
    def kind(self) -> str:
        """The kind of the message's body: text or bytes."""
        return kind_of(self.draft.content)

    @property
    def call(self) -> str:
        """Reference of the send's ``call`` event."""
        return self.answer.ref


class Sighting(Struct, frozen=True):
    """The event that an actor received a message.

    Args:
        actor: The actor's name.
        key: The message's key.
        ref: Reference of the ``seen`` event.
        seen: The message as the client delivered it.
        batch: The number of the batch in which it came; None outside of batches.
    """

    actor: str
    key: str
    ref: str
    seen: Seen
    batch: int | None
