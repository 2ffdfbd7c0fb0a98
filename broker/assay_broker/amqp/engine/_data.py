"""Values in and out of proton: encoded AMQP values, error conditions, text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol, cast

from cproton import ffi, lib

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import frame

NO_OCTETS = b""
_CLOSE, _ERROR = 0x18, 0x1D
fresh: Callable[[int], Any] = partial(ffi.new_allocator(should_clear_after_alloc=False), ffi.typeof("char[]"))
"""Allocates octets without clearing them."""


class Problem(Protocol):
    """An error condition."""

    @property
    def name(self) -> str:
        """``amqp:not-found``."""
        ...

    @property
    def description(self) -> str:
        """A text for the user."""
        ...

    @property
    def info(self) -> bytes:
        """An encoded map with details; empty for none."""
        ...


def set_data(data: object, encoded: bytes) -> None:
    lib.pn_data_clear(data)
    if encoded:
        lib.pn_data_decode(data, ffi.from_buffer(encoded), len(encoded))


def data(data: object) -> bytes:
    lib.pn_data_rewind(data)
    size = lib.pn_data_encoded_size(data)
    if size <= 0:
        return NO_OCTETS
    buffer = bytearray(size)
    written = lib.pn_data_encode(data, ffi.from_buffer(buffer), size)
    return bytes(buffer[:written]) if written > 0 else NO_OCTETS


def set_condition(condition: object, problem: Problem) -> None:
    lib.pn_condition_set_name(condition, problem.name.encode())
    lib.pn_condition_set_description(condition, problem.description.replace("\0", "\N{REPLACEMENT CHARACTER}").encode())
    if problem.info:
        set_data(lib.pn_condition_info(condition), problem.info)


def text(pointer: object) -> str:
    """Read a C string of the client's; octets that are no UTF-8 are replaced."""
    return "" if pointer == ffi.NULL else cast("bytes", ffi.string(pointer)).decode(errors="replace")


def with_condition(frames: Iterable[bytes], error: tuple[str, str]) -> bytes:
    """Return frames with another condition and description in the close, if it is among them."""
    name, description = error
    fields = types.fields((types.symbol(name), types.string(description)))
    close = frame(types.described(_CLOSE, types.fields((types.described(_ERROR, fields),))))
    head = bytes((0, 0x53, _CLOSE))
    return b"".join(close if one.startswith(head, one[4] * 4) else one for one in frames)
