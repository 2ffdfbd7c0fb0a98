"""The orders to a disk's process, and its answers: one JSON text a line, on its standard input and output."""

from __future__ import annotations

from msgspec import Struct


class Slow(Struct, frozen=True, tag="slow"):
    """The order to delay each write and each flush by this time, in milliseconds."""

    delay_ms: int


class Stop(Struct, frozen=True, tag="stop"):
    """The order to let each change and each flush fail, until `GoOn` or `LosePower`."""


class GoOn(Struct, frozen=True, tag="go-on"):
    """The order to work again after the end of the broker, and to undo nothing."""


class LosePower(Struct, frozen=True, tag="lose-power"):
    """The order to undo everything that is not durable, and to work again."""


class Sync(Struct, frozen=True, tag="sync"):
    """The order to make everything durable."""


class Report(Struct, frozen=True, tag="report"):
    """The order to do nothing; each answer reports the state of the disk."""


Order = Slow | Stop | GoOn | LosePower | Sync | Report


class Answer(Struct, frozen=True):
    """The answer to an order; the first answer reports that the file system is mounted.

    Args:
        rest_ms: The time since the last change or flush, in milliseconds.
        error: The reason why the process could not carry out the order; empty if it did.
    """

    rest_ms: float = 0
    error: str = ""
