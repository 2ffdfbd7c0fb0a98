"""The error for an unknown option or term in a step; it lists the known options or terms, and names the closest."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from assay_sdk.model.durations import DURATION
from assay_steps.words.handbook import Saying

ALIKE = 0.5
"""The least likeness, from 0 to 1, of a mistyped option and the option that the error proposes, both without values."""
_VALUE = re.compile(rf'"[^"]*"|{DURATION}\b|\d+(?: ?(?:B|KB|MB)\b)?|\b(?:persistent|non-persistent)\b')


class ChoiceError(ValueError):
    """A step names an option or term that does not exist; the text is one sentence for the feature's author."""


def unknown_choice(part: str, known: Sequence[Saying], what: str, reads: Callable[[str], bool]) -> ChoiceError:
    """Make the error for an option or term that does not exist.

    Args:
        part: The step's text for the option or term.
        known: The known options or terms, with examples.
        what: The kind of choice, such as ``option of a send``.
        reads: Returns whether a text is valid.
    """
    examples = [example for saying in known for example in saying.examples]
    meant = closest(part, examples, reads)
    hint = f"did you mean {meant!r}? Examples are" if meant else "examples are"
    return ChoiceError(f"{part!r} is not a valid {what}; {hint} {', '.join(saying.examples[0] for saying in known)}")


def closest(part: str, examples: Sequence[str], reads: Callable[[str], bool]) -> str | None:
    """Find the most similar option or term, and put the step's value into it if the result is valid.

    Args:
        part: The step's text for the option or term.
        examples: Examples of the known options or terms, with a value if they take one.
        reads: Returns whether a text is valid.

    Returns:
        The option or term; None if no option or term is similar.
    """
    likeness, best = max((_likeness(part, example), example) for example in examples)
    if likeness < ALIKE:
        return None
    given = _VALUE.search(part)
    filled = _VALUE.sub(given[0], best, count=1) if given else best
    return filled if reads(filled) else best


def _likeness(part: str, example: str) -> float:
    one, other = (_VALUE.sub("", text).split() for text in (part, example))
    by_words = SequenceMatcher(None, one, other).ratio()
    return max(by_words, SequenceMatcher(None, " ".join(one), " ".join(other)).ratio())
