"""The value of a selector for a message, in three-valued logic (Jakarta Messaging 3.1, 3.8.1.2)."""

from __future__ import annotations

from assay_sdk.model.message import Message
from assay_sdk.model.selectors import Limits
from assay_sdk.model.selectors._evaluate import condition
from assay_sdk.model.selectors._parse import parse

DEFAULT = Limits()


def truth_of(text: str, message: Message, limits: Limits = DEFAULT) -> bool | None:
    """Return True, False, or None for unknown; `Selector.matches` gives False for both of the last two."""
    return condition(parse(text, length=limits.length, depth=limits.depth))(message)
