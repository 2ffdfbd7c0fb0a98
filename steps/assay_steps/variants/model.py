"""The type of a tolerated variant of the pair."""

from __future__ import annotations

from typing import Literal

from assay_steps.behaviour import Behaviour


class Variant(Behaviour, frozen=True, kw_only=True):
    """Another behaviour that keeps the rules; the scenarios of its rules must pass with it.

    Args:
        allowed_by: The place in a document that allows it, or leaves it open.
        parts: The parts of the pair that behave otherwise. The run treats them as foreign: they are asked nothing that
            only the kit asks.
    """

    allowed_by: str
    parts: tuple[Literal["client", "broker"], ...] = ("broker",)
