"""The type of a tolerated variant of the broker."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.commands import Command, Put
from assay_broker.seams import Seams
from assay_sdk.model.message import Message


class Variant(Struct, frozen=True, kw_only=True):
    """A tolerated variant: a behaviour other than the reference broker's that also keeps the rules.

    Args:
        name: The variant's name.
        rules: The ids of the rules whose scenarios show the difference; the variant must pass these scenarios.
        text: A sentence that describes the difference from the reference broker.
        allowed_by: The place in a document that allows the behaviour, or leaves it open.
        apply: Makes new filters for one queue manager, because filters keep state.
    """

    name: str
    rules: tuple[str, ...]
    text: str
    allowed_by: str
    apply: Callable[[], Seams]


def sends(rewrite: Callable[[Message], Message]) -> Seams:
    """Return filters that replace each message that a client sends."""

    def command(passing: Command, _now_ms: int) -> tuple[Command, ...]:
        return (replace(passing, message=rewrite(passing.message)) if isinstance(passing, Put) else passing,)

    return Seams(command=command)
