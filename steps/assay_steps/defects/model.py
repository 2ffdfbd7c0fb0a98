"""The type of a defect of the reference pair, and functions that make defects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from assay_adapters.ports.client import Client
from assay_sdk.driver import Driver
from assay_steps.behaviour import Behaviour

M = TypeVar("M", bound=Callable[..., object])


class Defect(Behaviour, frozen=True, kw_only=True):
    """A named, switchable misbehaviour; at least one scenario of each of its rules must fail with it."""


def at_port(shape: Callable[[M], Callable[[Client], Client]], wrong: M, name: str, *rules: str) -> Defect:
    """Make a defect that is a filter between the steps and the client (in front of the client port).

    Args:
        shape: Puts a filter in front of a client; the filter changes calls or answers by means of `wrong`.
        wrong: The function or class that misbehaves; its docstring's first line is the defect's text.
        name: The defect's name.
        rules: The ids of the rules that the defect breaks.
    """
    return Defect(name=name, rules=rules, text=_text(wrong), port=shape(wrong))


def on_wire(shape: Callable[[M], Callable[[Driver], Driver]], wrong: M, name: str, *rules: str) -> Defect:
    """Make a defect that is a filter between the SDK's engine and its driver.  The arguments are those of `at_port`."""
    return Defect(name=name, rules=rules, text=_text(wrong), wire=shape(wrong))


class InTwoPlaces(Protocol):
    """A misbehaviour with a filter in front of the client port and a filter on the wire; the two share their state."""

    def port(self, client: Client) -> Client:
        """Put a filter in front of the client port."""
        ...

    def wire(self, driver: Driver) -> Driver:
        """Put a filter between the SDK's engine and its driver."""
        ...


def in_both(wrong: InTwoPlaces, name: str, *rules: str, text: str | None = None) -> Defect:
    """Make a defect with a filter at the port and one on the wire.

    Args:
        wrong: The object that makes the two filters.
        name: The defect's name.
        rules: The ids of the rules that the defect breaks.
        text: The defect's text; None for the first line of the object's docstring.
    """
    return Defect(name=name, rules=rules, text=text or _text(wrong), port=wrong.port, wire=wrong.wire)


def _text(wrong: object) -> str:
    return (wrong.__doc__ or "").partition("\n")[0]
