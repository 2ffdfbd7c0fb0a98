"""The result of a call of a port: a value or a refusal. A refusal by the client or broker is returned, not raised."""

from __future__ import annotations

from traceback import walk_tb
from typing import Generic, Literal, TypeVar

from msgspec import Struct

from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused

T_co = TypeVar("T_co", covariant=True)


class Ok(Struct, Generic[T_co], frozen=True):
    """The result of an accepted call, with the returned value."""

    value: T_co


class Raised(Refused, frozen=True):
    """An unexpected exception of the client; it counts as a refusal, because the call returned no value."""


class Stalled(Refused, frozen=True):
    """The outcome of a call that nothing could end, in virtual time; it counts as a refusal, as `Raised` does."""


Outcome = Ok[T_co] | Refused


def failure_of(refusal: Refused) -> Literal["", "raised", "stalled"]:
    """Return how a call failed without an answer of the client's API, as a journal names it; empty for a refusal."""
    match refusal:
        case Raised():
            return "raised"
        case Stalled():
            return "stalled"
        case _:
            return ""


def is_the_clients(error: Exception) -> bool:
    """Return whether code of the SDK raised an exception.

    The code of the SDK's runners does not count, because a runner also raises the exceptions of other parts' jobs.
    """
    *_, (innermost, _line) = walk_tb(error.__traceback__)
    module = str(innermost.f_globals.get("__name__", ""))
    return module.startswith("assay_sdk.") and not module.startswith("assay_sdk.runners.")


__all__ = [
    "JmsErrorKind",
    "Mqrc",
    "Ok",
    "Outcome",
    "Raised",
    "Refused",
    "Stalled",
    "failure_of",
    "is_the_clients",
    "refused",
]
