"""Messages of a scenario: what a step sends, and what an actor was handed."""

from __future__ import annotations

from msgspec import Struct

from assay_adapters.ports.client import Draft, Seen, Sent
from assay_sdk.model.message import Address
from assay_steps.cast.recording import Answer

BODY = "{kid} The quick brown fox jumps over the lazy dog."


class SentMessage(Struct, frozen=True):
    """A message that a step has sent, or tried to send."""

    label: str
    draft: Draft
    answer: Answer[Sent]
    destination: Address

    @property
    def kid(self) -> str:
        """The kit's id of it."""
        return self.draft.kid

    @property
    def body(self) -> str:
        """What was in it."""
        return self.draft.text

    @property
    def call(self) -> str:
        """Reference of the send."""
        return self.answer.ref


class Sighting(Struct, frozen=True):
    """A message that an actor was handed."""

    actor: str
    kid: str
    ref: str
    seen: Seen
    batch: int | None


def kid_in(body: str) -> str:
    """The kit's id with which a body begins; nothing when it is not the kit's."""
    head, space, _ = body.partition(" ")
    return head if space and "/" in head else ""
