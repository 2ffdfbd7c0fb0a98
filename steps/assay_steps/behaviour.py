"""A named behaviour of broker or client other than that of the reference pair: a defect, or a tolerated variant."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from assay_adapters.ports.client import Client
from assay_sdk.driver import Driver


class Behaviour(Struct, frozen=True, kw_only=True):
    """A named, switchable behaviour.

    Args:
        name: Its name.
        rules: Ids of the rules that it is about.
        text: One sentence: what it does otherwise than the reference pair.
        broker: Its name among the broker's defects or variants.
        wire: Puts a filter between engine and driver.
        port: Puts a filter in front of the client port.
    """

    name: str
    rules: tuple[str, ...]
    text: str
    broker: str | None = None
    wire: Callable[[Driver], Driver] | None = None
    port: Callable[[Client], Client] | None = None
