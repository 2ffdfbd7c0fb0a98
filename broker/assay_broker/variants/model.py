"""The type of a tolerated variant of the broker."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.commands import Command, Put
from assay_broker.seams import Seams
from assay_sdk.model.message import Message


class Variant(Struct, frozen=True, kw_only=True):
    """Another behaviour of the broker that keeps the rules.

    Args:
        name: Its name.
        rules: Ids of the rules whose scenarios it must pass, and which can tell it from the reference broker.
        text: One sentence: what it does otherwise than the reference broker.
        allowed_by: The place in a document that allows it, or leaves it open.
        apply: Makes fresh filters; they keep the state of one queue manager only.
    """

    name: str
    rules: tuple[str, ...]
    text: str
    allowed_by: str
    apply: Callable[[], Seams]


def sends(rewrite: Callable[[Message], Message]) -> Seams:
    """Filters that rewrite each message that is sent."""

    def command(passing: Command, _now_ms: int) -> tuple[Command, ...]:
        return (replace(passing, message=rewrite(passing.message)) if isinstance(passing, Put) else passing,)

    return Seams(command=command)
