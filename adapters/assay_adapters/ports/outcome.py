"""The result of a call: a value or a refusal. No exception crosses a port for the peer's fault (I-1)."""

from __future__ import annotations

from traceback import walk_tb
from typing import Generic, TypeVar

from msgspec import Struct

from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused

T_co = TypeVar("T_co", covariant=True)


class Ok(Struct, Generic[T_co], frozen=True):
    """The call was accepted and gave this value."""

    value: T_co


class Raised(Refused, frozen=True):
    """The client raised an error of its own; it counts as a refusal, because the call returned nothing."""


Outcome = Ok[T_co] | Refused


def is_the_clients(error: Exception) -> bool:
    """Whether the SDK raised an exception, and not its runner, which also raises those of other parts."""
    *_, (innermost, _line) = walk_tb(error.__traceback__)
    module = str(innermost.f_globals.get("__name__", ""))
    return module.startswith("assay_sdk.") and not module.startswith("assay_sdk.runners.")


__all__ = ["JmsErrorKind", "Mqrc", "Ok", "Outcome", "Raised", "Refused", "is_the_clients", "refused"]
