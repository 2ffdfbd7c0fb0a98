"""The base class of all parts of the faces that a ``with`` block closes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """A part of a face that a ``with`` block closes at its end."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Close this part, with everything that belongs to it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()
