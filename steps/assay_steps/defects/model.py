"""What a defect is."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from assay_adapters.ports.client import Client
from assay_sdk.driver import Driver


class Defect(Struct, frozen=True, kw_only=True):
    """A named, switchable misbehaviour.

    Args:
        name: Its name.
        rules: Ids of the rules that it breaks.
        text: One sentence: what it does wrong.
        broker: Its name among the broker's defects.
        wire: Puts a filter between engine and driver.
        port: Puts a filter in front of the client port.
    """

    name: str
    rules: tuple[str, ...]
    text: str
    broker: str | None = None
    wire: Callable[[Driver], Driver] | None = None
    port: Callable[[Client], Client] | None = None
