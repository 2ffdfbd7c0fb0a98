"""What a defect is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

from assay_adapters.ports.client import Client
from assay_sdk.driver import Driver

M = TypeVar("M", bound=Callable[..., object])


class Defect(Struct, frozen=True, kw_only=True):
    """A named, switchable misbehaviour.

    Args:
        name: Its name.
        rules: Ids of the rules that it breaks.
        text: One sentence: what it does wrong.
        broker: Its name among the broker's defects.
        wire: Puts a filter between engine and driver.
        port: Puts a filter in front of the client port.
    """

    name: str
    rules: tuple[str, ...]
    text: str
    broker: str | None = None
    wire: Callable[[Driver], Driver] | None = None
    port: Callable[[Client], Client] | None = None


def at_port(shape: Callable[[M], Callable[[Client], Client]], wrong: M, name: str, *rules: str) -> Defect:
    """Make a defect in front of the client port.

    Args:
        shape: Makes a filter of what misbehaves.
        wrong: The function or class that misbehaves; its docstring's first line is the defect's text.
        name: Its name.
        rules: Ids of the rules that it breaks.
    """
    return Defect(name=name, rules=rules, text=_text(wrong), port=shape(wrong))


def on_wire(shape: Callable[[M], Callable[[Driver], Driver]], wrong: M, name: str, *rules: str) -> Defect:
    """Make a defect between engine and driver; the arguments are those of `at_port`."""
    return Defect(name=name, rules=rules, text=_text(wrong), wire=shape(wrong))


def _text(wrong: Callable[..., object]) -> str:
    return (wrong.__doc__ or "").partition("\n")[0]
