"""The base class of all parts of the faces that a ``with`` block closes."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """A part of a face that a ``with`` block closes at its end."""

    __slots__ = ()

    def close(self) -> None:
        """Close it; a subclass defines how."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()
