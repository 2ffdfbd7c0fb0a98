"""The token in all names that a scenario uses on the broker, so that scenarios can share a broker.

The journal has the full names, as the broker knows them.  Reports show the names from the feature file.
"""

from __future__ import annotations

import hashlib
import re
from fnmatch import fnmatchcase
from functools import lru_cache

PREFIX = "assay"
_LENGTH, _RUN_LENGTH = 8, 4


@lru_cache(maxsize=4096)
def token_of(scenario: str) -> str:
    """Return the token of a scenario's names: eight hexadecimal digits.

    Args:
        scenario: The scenario's id.
    """
    return _digits(scenario, _LENGTH)


def token_in_run(scenario: str, run: str) -> str:
    """Return the token of a scenario's names in one run: `token_of` the scenario and four digits for the run.

    A broker may still hold messages and objects of earlier runs, so the names of two runs must differ.

    Args:
        scenario: The scenario's id.
        run: The run's id.
    """
    return token_of(scenario) + _digits(run, _RUN_LENGTH)


def _digits(text: str, length: int) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:length]


def matches(pattern: str, scenario: str) -> bool:
    """Return whether a pattern matches a scenario's id.

    Args:
        pattern: The pattern, with ``*`` and ``?``; brackets stand for themselves, because ids have them.
        scenario: The scenario's id.
    """
    return fnmatchcase(scenario, pattern.replace("[", "[[]"))


def plain(text: str, scenario: str) -> str:
    """Shorten full names to the feature's names: ``assay.1d56b564.ORDERS`` to ``ORDERS``, ``1d56b564/m1`` to ``m1``.

    The function also removes the four digits for the run.

    Args:
        text: Any text; only names with this scenario's token change.
        scenario: The scenario's id.
    """
    token = token_of(scenario)
    return _prefix(token).sub("", text) if token in text else text


@lru_cache(maxsize=256)
def _prefix(token: str) -> re.Pattern[str]:
    full = f"{token}(?:[0-9a-f]{{{_RUN_LENGTH}}})?"
    return re.compile(rf"\b(?:{PREFIX}\.{full}\.|{PREFIX}-{full}-|{full}/)")
