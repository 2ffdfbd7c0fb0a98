"""The fields that all events have, and types that several kinds of events use."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

Scalar = str | int | bool | None
Phase = Literal["begin", "end"]


class MessageRef(Struct, frozen=True, omit_defaults=True, gc=False):
    """A message of the kit.

    Args:
        key: The kit's own id of the message, unique in the run; a property and the body of the message contain it. The
            field in the journal is ``kid``.
        sha256: The SHA-256 digest of the body's bytes, hexadecimal.
        bytes: The length of the body in bytes.
        broker_id: The message id that the broker or client gave (JMSMessageID).
        fields: The headers and properties that the client showed, by JMS name (``JMSPriority`` ...).
    """

    key: str = field(name="kid")
    sha256: str
    bytes: int
    broker_id: str | None = None
    fields: dict[str, Scalar] = {}


class Event(Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True, gc=False):
    """The fields that all events have.

    Args:
        v: The version of the schema.
        run: The run's id.
        writer: The writer's name, unique in the run.
        seq: The writer's counter, from 0 without gaps.
        boot: The id of the clock of `mono_ns`: one boot of a machine, or one virtual world.
        mono_ns: The monotonic time in nanoseconds.
        wall_ns: The wall-clock time in nanoseconds since the epoch.
        unc_ns: The uncertainty of both times, plus or minus, in nanoseconds.
        scenario: The scenario's id; None for an event outside scenarios.
    """

    v: int
    run: str
    writer: str
    seq: int
    boot: str
    mono_ns: int
    wall_ns: int
    unc_ns: int
    scenario: str | None = None

    @property
    def ref(self) -> str:
        """The reference to this event, as claims use it: ``writer:seq``."""
        return f"{self.writer}:{self.seq}"
