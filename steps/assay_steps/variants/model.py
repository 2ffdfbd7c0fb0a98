"""The type of a tolerated variant of the pair."""

from __future__ import annotations

from typing import Literal

from assay_steps.behaviour import Behaviour


class Variant(Behaviour, frozen=True, kw_only=True):
    """Another behaviour that keeps the rules; the scenarios of its rules must pass with it.

    Args:
        allowed_by: The place in a document that allows it, or leaves it open.
        part: The part of the pair that behaves otherwise. The run treats it as foreign: it is asked nothing that only
            the kit asks.
    """

    allowed_by: str
    part: Literal["client", "broker"] = "broker"
