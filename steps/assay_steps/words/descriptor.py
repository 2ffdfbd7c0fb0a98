"""The fields of IBM MQ's message descriptor that steps write by name: report options and feedback."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from functools import reduce
from operator import or_

from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.report_options import REPORT_PROPERTIES, WHOLE_REPORT, Mqfb, Mqro
from assay_steps.words.mistakes import MistakeError, nearest

DEFAULT_OPTIONS = ("NEW_MSG_ID", "COPY_MSG_ID_TO_CORREL_ID", "DEAD_LETTER_Q")
"""The names of report options whose value is 0, the default of their group."""


def report_of(names: Iterable[str]) -> int:
    """Compute the value of the Report field for report options.

    Args:
        names: The options' names, with the prefix: ``MQRO_EXCEPTION``.

    Raises:
        ValueError: An option is unknown; the error names the known options.
    """
    return reduce(or_, map(_option, names), 0)


def names_of(options: int) -> tuple[str, ...]:
    """Return the names of the report options whose bits are all set, each with the prefix ``MQRO_``."""
    return tuple(f"MQRO_{one.name}" for one in Mqro.__members__.values() if one and one in Mqro(options))


def _option(name: str) -> int:
    short = name.removeprefix("MQRO_")
    if short in DEFAULT_OPTIONS:
        return 0
    if short not in Mqro.__members__:
        known = ", ".join((*Mqro.__members__, *DEFAULT_OPTIONS))
        raise ValueError(f"{name} is no report option; after MQRO_, write one of {known}.")
    return Mqro[short]


def report_properties(names: Iterable[str]) -> dict[str, int]:
    """Return the JMS properties that request report options.

    Args:
        names: The options' names, with the prefix ``MQRO_``.

    Raises:
        ValueError: An option is unknown.
    """
    wanted = [Mqro(_option(name)) for name in names]
    found = {name: option for option in wanted for name, group in REPORT_PROPERTIES.items() if option in group}
    if any(option and option not in found.values() for option in wanted):
        return {WHOLE_REPORT: int(reduce(or_, wanted, 0))}
    return {name: int(option) for name, option in found.items()}


def feedback(name: str) -> int:
    """Return the number of a feedback code, by its ``MQRC_`` or ``MQFB_`` name.

    Raises:
        MistakeError: No feedback code has this name.
    """
    prefix, _, short = name.partition("_")
    known: type[IntEnum] = Mqrc if prefix == "MQRC" else Mqfb
    if short not in known.__members__:
        hint = nearest(name, (f"{prefix}_{member}" for member in known.__members__))
        raise MistakeError(f"there is no feedback {name}; {hint}see docs/reasons.md")
    return int(known[short])
