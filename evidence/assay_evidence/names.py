"""The token in front of a scenario's names of destinations and messages, so that scenarios can share a broker.

The journal has the full names, as the broker knows them.  Reports show the names from the feature file.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

PREFIX = "assay"
_LENGTH = 8


@lru_cache(maxsize=4096)
def token_of(scenario: str) -> str:
    """Return the token of a scenario's names: eight hexadecimal digits.

    Args:
        scenario: The scenario's id.
    """
    return hashlib.sha256(scenario.encode(errors="surrogatepass")).hexdigest()[:_LENGTH]


def plain(text: str, scenario: str) -> str:
    """Shorten full names to the feature's names: ``assay.1d56b564.ORDERS`` to ``ORDERS``, ``1d56b564/m1`` to ``m1``.

    Args:
        text: Any text; only names with this scenario's token change.
        scenario: The scenario's id.
    """
    token = token_of(scenario)
    return _prefix(token).sub("", text) if token in text else text


@lru_cache(maxsize=256)
def _prefix(token: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{PREFIX}\.{token}\.|{PREFIX}-{token}-|{token}/)")
