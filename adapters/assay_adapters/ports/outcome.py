"""The result of a call: a value or a refusal. No exception crosses a port for the peer's fault (I-1)."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused

T_co = TypeVar("T_co", covariant=True)


class Ok(Struct, Generic[T_co], frozen=True):
    """The call was accepted and gave this value."""

    value: T_co


Outcome = Ok[T_co] | Refused

__all__ = ["JmsErrorKind", "Mqrc", "Ok", "Outcome", "Refused", "refused"]
