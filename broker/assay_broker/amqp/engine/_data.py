"""The exchange of values with proton: encoded AMQP values, error conditions, text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from cproton import ffi, lib

from assay_broker.amqp.conditions import Condition

fresh: Callable[[int], Any] = partial(ffi.new_allocator(should_clear_after_alloc=False), ffi.typeof("char[]"))
"""A function that allocates memory in C: as many octets as its argument says, with undefined contents."""


def set_data(data: object, encoded: bytes) -> None:
    lib.pn_data_clear(data)
    if encoded:
        lib.pn_data_decode(data, ffi.from_buffer(encoded), len(encoded))


def data(data: object) -> bytes:
    lib.pn_data_rewind(data)
    size = lib.pn_data_encoded_size(data)
    if size <= 0:
        return b""
    buffer = bytearray(size)
    written = lib.pn_data_encode(data, ffi.from_buffer(buffer), size)
    return bytes(buffer[:written]) if written > 0 else b""


def set_condition(condition: object, problem: Condition | None) -> None:
    if problem is None:
        return
    lib.pn_condition_set_name(condition, problem.name.encode())
    lib.pn_condition_set_description(condition, problem.description.replace("\0", "\N{REPLACEMENT CHARACTER}").encode())
    if problem.info:
        set_data(lib.pn_condition_info(condition), problem.info)


def text(pointer: object) -> str:
    """Return a C string as text, with octets that are not UTF-8 replaced; empty for a null pointer."""
    return "" if pointer == ffi.NULL else cast("bytes", ffi.string(pointer)).decode(errors="replace")
