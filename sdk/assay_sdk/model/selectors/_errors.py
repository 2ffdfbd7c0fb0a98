"""The error for an invalid selector, with the position of the fault."""

from __future__ import annotations

from assay_sdk.model.reasons import Mqrc

SHOWN = 40
"""Number of characters of the selector that the error shows around the fault."""


class SelectorError(ValueError):
    """The error for an invalid message selector (Jakarta Messaging 3.1, 3.8.1; InvalidSelectorException in 10.3).

    Attributes:
        problem: The fault, as a clause.
        position: Offset of the fault in `text`, in characters from 0; ``len(text)`` if the text ends too early.
        expected: Words for the constructs that would be valid at the position; empty if none is known.
        text: The whole selector.
        reason: MQRC code of the refusal.
    """

    reason = Mqrc.SELECTOR_SYNTAX_ERROR

    def __init__(self, problem: str, *, text: str, position: int, expected: tuple[str, ...] = ()) -> None:
        self.problem = problem
        self.position = position
        self.expected = expected
        self.text = text
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        wanted = f"; expected {_listed(self.expected)}" if self.expected else ""
        return f"Invalid selector at character {self.position + 1}: {self.problem}{wanted}{self._excerpt()}."

    def _excerpt(self) -> str:
        start = max(0, self.position - SHOWN // 2)
        cut = self.text[start : start + SHOWN]
        if not cut:
            return ""
        return f" (near {'…' if start else ''}{cut!r}{'…' if start + SHOWN < len(self.text) else ''})"


def _listed(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
