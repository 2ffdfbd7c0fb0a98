"""What is wrong with a selector, and where."""

from __future__ import annotations

from assay_sdk.model.reasons import Mqrc

SHOWN = 40
"""How many characters of the selector a sentence shows around the fault."""


class SelectorError(ValueError):
    """A text is no message selector (Jakarta Messaging 3.1, 3.8.1, 10.3: InvalidSelectorException).

    Attributes:
        problem: What is wrong, as a clause.
        position: Offset of the fault in `text`, in characters from 0; ``len(text)`` when the text ends too early.
        expected: What could have stood there, in words; empty when nothing in its place would help.
        text: The whole selector.
        reason: The MQRC that a refusal carries.
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
