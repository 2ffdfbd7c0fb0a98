"""The base type of defects and tolerated variants: a named change of the reference broker or its client."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from assay_adapters.ports.client import Client
from assay_sdk.driver import Driver


class Behaviour(Struct, frozen=True, kw_only=True):
    """A named behaviour that a run can switch on: a defect, or a tolerated variant.

    Args:
        name: The name by which a run switches it on.
        rules: Ids of the rules that the behaviour concerns.
        text: One sentence that says how the behaviour differs from the reference pair.
        broker: The behaviour's name among the broker's defects or variants; None if it changes the client only.
        wire: Puts a filter between the SDK's engine and its driver; None for no filter.
        port: Puts a filter in front of the client port; None for no filter.
    """

    name: str
    rules: tuple[str, ...]
    text: str
    broker: str | None = None
    wire: Callable[[Driver], Driver] | None = None
    port: Callable[[Client], Client] | None = None
