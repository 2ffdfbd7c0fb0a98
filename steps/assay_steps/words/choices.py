"""The error for an unknown option or term in a step; it lists the known ones and the closest."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from assay_sdk.model.durations import DURATION
from assay_steps.words.handbook import Saying

ALIKE = 0.5
"""The least likeness, from 0 to 1 and without values, with which an option counts as the one that was meant."""
_VALUE = re.compile(rf'"[^"]*"|{DURATION}\b|\d+(?: ?(?:B|KB|MB)\b)?|\b(?:persistent|non-persistent)\b')


class ChoiceError(ValueError):
    """A step names an option that does not exist; the text is one sentence for its writer."""


def unknown_choice(part: str, known: Sequence[Saying], what: str, reads: Callable[[str], bool]) -> ChoiceError:
    """The error for an option that does not exist.

    Args:
        part: The option as the step has it.
        known: Those that exist, with examples.
        what: What it is no instance of, such as ``option of a send``.
        reads: Whether a text is one that exists.
    """
    examples = [example for saying in known for example in saying.examples]
    meant = closest(part, examples, reads)
    hint = f"did you mean {meant!r}? There are" if meant else "there are"
    return ChoiceError(f"{part!r} is no {what}; {hint} {', '.join(saying.examples[0] for saying in known)}")


def closest(part: str, examples: Sequence[str], reads: Callable[[str], bool]) -> str | None:
    """The option that was most likely meant, with the value that was given; None if none is similar.

    Args:
        part: The option as the step has it.
        examples: Those that exist, each with a value where it takes one.
        reads: Whether a text is one that exists.
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
