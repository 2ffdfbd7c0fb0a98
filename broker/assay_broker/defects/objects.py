"""What an administrator has said of the objects, as a defect sees it from the commands that pass."""

from __future__ import annotations

from collections.abc import Mapping

from assay_broker.core.administration.changes import AlterObject, Change, DefineObject
from assay_broker.core.objects.model import Value


class Objects:
    """What was said of each object since it was defined last."""

    def __init__(self) -> None:
        self._said: dict[str, dict[str, Value]] = {}

    def note(self, change: Change) -> None:
        """Take note of a change."""
        if isinstance(change, DefineObject):
            self._said[change.name] = dict(change.attributes)
        elif isinstance(change, AlterObject):
            self._said.setdefault(change.name, {}).update(change.attributes)

    def of(self, name: str) -> Mapping[str, Value]:
        """Everything that was said of an object, by keyword; nothing of one that nobody has spoken of."""
        return self._said.get(name, {})

    def said(self, name: str, keyword: str) -> Value | None:
        """What was said; None when nothing was."""
        return self.of(name).get(keyword)
