"""Then-steps of a team's own, whose code checks by itself: the journal holds what they found as a claim."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from traceback import extract_tb
from typing import Final

from assay_evidence.judge import THEN
from assay_steps.cast.claims import Evidence

_KIT: Final = "assay_steps."
_MOST_CHARACTERS: Final = 1_000
"""The length of an assertion's text in the journal, which keeps the first line of pytest's explanation."""


def checks_itself(type_: str, step_func: Callable[..., object], evidence: Evidence) -> bool:
    """Whether a step of this type is a team's own Then-step that has made no claim."""
    return type_ == THEN and not step_func.__module__.startswith(_KIT) and not evidence.made


def claim_check(evidence: Evidence, failure: BaseException | None = None) -> None:
    """Claim what a step's own code found.

    Args:
        evidence: The scenario's claims.
        failure: The assertion that failed, or what `pytest.fail` raised; None if nothing did.
    """
    if failure is None:
        evidence.claim("own-check", {}, {"held": 1})
    else:
        said = next(iter(str(failure).splitlines()), "") or _source_of(failure)
        evidence.claim("own-check", {"said": said[:_MOST_CHARACTERS]}, {"held": 0})


def _source_of(failure: BaseException) -> str:
    """Return the line that raised an assertion without a text, with its place."""
    raised = extract_tb(failure.__traceback__)[-1]
    return f"{raised.line} ({Path(raised.filename).name}:{raised.lineno})"
