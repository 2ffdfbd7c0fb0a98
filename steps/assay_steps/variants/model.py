"""The type of a tolerated variant of the pair."""

from __future__ import annotations

from typing import Literal

from assay_steps.behaviour import Behaviour


class Variant(Behaviour, frozen=True, kw_only=True):
    """A behaviour that differs from that of the reference pair, and keeps the rules.

    All scenarios of its rules must pass.

    Args:
        allowed_by: The place in a document that allows the behaviour, or leaves it open.
        parts: The parts of the pair that differ. The run treats them as foreign, so demands of the kit alone do not
            apply to them.
    """

    allowed_by: str
    parts: tuple[Literal["client", "broker"], ...] = ("broker",)
