"""The type of a defect of the reference pair, and functions that make defects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from assay_adapters.ports.client import Client
from assay_sdk.driver import Driver
from assay_steps.behaviour import Behaviour

M = TypeVar("M", bound=Callable[..., object])


class Defect(Behaviour, frozen=True, kw_only=True):
    """A named, switchable misbehaviour; at least one scenario of each of its rules must fail with it."""


def at_port(shape: Callable[[M], Callable[[Client], Client]], wrong: M, name: str, *rules: str) -> Defect:
    """Make a defect in front of the client port.

    Args:
        shape: Makes a filter from the function or class that misbehaves.
        wrong: The function or class that misbehaves; its docstring's first line is the defect's text.
        name: The defect's name.
        rules: The ids of the rules that the defect breaks.
    """
    return Defect(name=name, rules=rules, text=_text(wrong), port=shape(wrong))


def on_wire(shape: Callable[[M], Callable[[Driver], Driver]], wrong: M, name: str, *rules: str) -> Defect:
    """Make a defect that is a filter between the SDK's engine and its driver; it has the arguments of `at_port`."""
    return Defect(name=name, rules=rules, text=_text(wrong), wire=shape(wrong))


def _text(wrong: Callable[..., object]) -> str:
    return (wrong.__doc__ or "").partition("\n")[0]
