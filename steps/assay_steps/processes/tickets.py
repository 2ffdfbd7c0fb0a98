"""A queue of scenarios that forked processes share."""

from __future__ import annotations

import os
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from typing import IO

_CODE = "I"
_OCTETS = array(_CODE).itemsize


class Tickets:
    """A queue of scenarios for the forked processes, in a file whose offset all processes share.

    Args:
        portions: The scenarios' indexes, in the portions that one process takes at a time.
    """

    def __init__(self, portions: Sequence[Sequence[int]]) -> None:
        self._portions = portions
        self._file: IO[bytes] = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - `close` closes it
        self._file.write(array(_CODE, range(len(portions))).tobytes())
        self._file.seek(0)

    def __iter__(self) -> Iterator[int]:
        """Take portions until none is left, and yield their scenarios; no two processes take the same portion."""
        while octets := self._file.read(_OCTETS):
            for number in self._portions[array(_CODE, octets)[0]]:
                if self._is_torn:
                    return
                yield number

    def rest_of(self, first: int | None) -> Sequence[int]:
        """Return the scenario `first` and the later ones of its portion; empty if it is None, or after `tear_up`."""
        for portion in () if self._is_torn else self._portions:
            if first in portion:
                return portion[portion.index(first) :]
        return ()

    def tear_up(self) -> None:
        """Empty the queue, so that no process takes another portion."""
        self._file.truncate(0)

    @property
    def _is_torn(self) -> bool:
        return os.fstat(self._file.fileno()).st_size == 0

    def close(self) -> None:
        """Close the file."""
        self._file.close()
