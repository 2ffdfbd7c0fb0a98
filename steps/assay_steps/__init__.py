"""The suite: pytest plugin, step vocabulary, scenario modules, client defects.

`ReferenceBroker` is the type of the pytest fixture ``reference_broker``, for the annotations of users' tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay_steps.plugin.reference_broker import ReferenceBroker

__all__ = ["ReferenceBroker"]


def __getattr__(name: str) -> object:
    """Import `ReferenceBroker` on its first use, so that pytest runs without Assay do not import the broker."""
    if name != "ReferenceBroker":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from assay_steps.plugin.reference_broker import ReferenceBroker

    return ReferenceBroker
