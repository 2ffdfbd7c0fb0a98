"""The orders to a disk's process, and its answers: one JSON text a line, on its standard input and output."""

from __future__ import annotations

from msgspec import Struct


class Slow(Struct, frozen=True, tag="slow"):
    """The order to delay each write and each flush by this time, in milliseconds."""

    delay_ms: int


class CutPower(Struct, frozen=True, tag="cut-power"):
    """The order to make nothing durable any more, until `LosePower`."""


class LosePower(Struct, frozen=True, tag="lose-power"):
    """The order to undo everything that is not durable, and to work again."""


class Count(Struct, frozen=True, tag="count"):
    """The order to report the number of flushes."""


Order = Slow | CutPower | LosePower | Count


class Answer(Struct, frozen=True):
    """The answer to an order; the first answer reports that the file system is mounted.

    Args:
        flushes: The number of flushes until now.
        error: The reason why the process could not carry out the order; empty if it did.
    """

    flushes: int = 0
    error: str = ""
