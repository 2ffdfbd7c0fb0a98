"""The time to parse a selector, and to match a message with it.

Run with the source roots on Python's path: ``python bench/selector.py``.
"""

from __future__ import annotations

import timeit

from assay_sdk.model.message import Message
from assay_sdk.model.selectors import Selector

ASKED = Message(
    message_id="ID:1",
    durable=True,
    priority=7,
    creation_ms=1_700_000_000_000,
    properties={"colour": "red", "weight": 2_600, "country": "Peru", "phone": "12993", "urgent": True},
)
SELECTORS = {
    "one comparison": "colour = 'red'",
    "header field": "JMSPriority >= 7",
    "two and": "colour = 'red' AND weight > 2500",
    "in": "country IN ('UK', 'US', 'Peru')",
    "like": "phone LIKE '12%3'",
    "arithmetic": "weight * 2 + 100 BETWEEN 5000 AND 5500",
    "all together": (
        "JMSDeliveryMode = 'PERSISTENT' AND (colour = 'blue' OR weight > 2500) AND country NOT IN ('UK', 'US') "
        "AND phone LIKE '12%3' AND NOT (gone IS NOT NULL) AND urgent"
    ),
    "400 terms": " OR ".join(f"weight = {number}" for number in range(400)),
}
ROUNDS = 5
LONG = 1_000
COUNTS = {False: (5_000, 100), True: (200, 5)}
"""The numbers of matches and of parses in a round; the key is whether the selector is longer than `LONG` characters."""


def _microseconds(text: str, asked: int, parsed: int) -> tuple[float, float]:
    selector = Selector.parse(text)
    ask = min(timeit.repeat(lambda: selector.matches(ASKED), number=asked, repeat=ROUNDS)) / asked
    parse = min(timeit.repeat(lambda: Selector.parse(text), number=parsed, repeat=ROUNDS)) / parsed
    return parse * 1e6, ask * 1e6


def main() -> None:
    """Print a table with the shortest times of five rounds, in microseconds."""
    first = timeit.timeit(lambda: Selector.parse("a = 1"), number=1)
    print(f"first selector (reads the grammar): {first * 1000:.0f} ms")
    print(f"{'selector':<16}{'parse µs':>10}{'match µs':>10}")
    for name, text in SELECTORS.items():
        parse, ask = _microseconds(text, *COUNTS[len(text) > LONG])
        print(f"{name:<16}{parse:>10.1f}{ask:>10.2f}")


if __name__ == "__main__":
    main()
