"""Then-steps in a user's own code: the plugin records the result of their checks as a claim."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from traceback import extract_tb
from typing import Final

from assay_evidence.judge import THEN
from assay_steps.cast.claims import Evidence

_KIT: Final = "assay_steps."
MOST_CHARACTERS: Final = 1_000
"""The largest number of characters of an assertion's text in the journal."""


def checks_itself(type_: str, step_func: Callable[..., object], evidence: Evidence) -> bool:
    """Return whether a step is a user's own Then-step that has made no claim.

    Args:
        type_: The step's type, such as ``then``.
        step_func: The step's function.
        evidence: The scenario's claims.
    """
    return type_ == THEN and not step_func.__module__.startswith(_KIT) and not evidence.made


def claim_check(evidence: Evidence, failure: BaseException | None = None) -> None:
    """Record the result of a step's own check as a claim.

    Args:
        evidence: The scenario's claims.
        failure: The failed assertion, or the exception of `pytest.fail`; None if the check passed.
    """
    if failure is None:
        evidence.claim("own-check", {}, {"held": 1})
    else:
        said = next(iter(str(failure).splitlines()), "") or _source_of(failure)
        evidence.claim("own-check", {"said": said[:MOST_CHARACTERS]}, {"held": 0})


def _source_of(failure: BaseException) -> str:
    """Return the source line of an assertion without a text, and the place of this line."""
    raised = extract_tb(failure.__traceback__)[-1]
    return f"{raised.line} ({Path(raised.filename).name}:{raised.lineno})"
