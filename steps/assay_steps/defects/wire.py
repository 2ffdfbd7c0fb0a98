"""Defects that no backend in real time shows.

Their effect is too small or too long for a real clock, or does not reach the wire.
"""

from __future__ import annotations

from collections.abc import Mapping

_ANOTHER_PROCESS = (
    "It remembers what was before a restart; a server that starts again is another process, with its folder."
)
_EXACT = "Only a clock that is exact, and waits for nothing, tells the difference."

BEYOND_THE_WIRE: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "client-ids-taken-over-a-restart",
            "delay-anew-after-restart",
            "gone-back-at-second-restart",
            "lost-at-second-restart",
            "restart-replays-publication",
            "second-acknowledgement-unwritten",
            "shared-bound-at-restart",
            "staged-lost-at-second-restart",
            "subscriptions-lost-at-second-restart",
            "ttl-ignored-after-restart",
            "ttl-spent-after-restart",
            "unacknowledged-gone-at-restart",
            "unmarked-after-restart",
        ),
        _ANOTHER_PROCESS,
    ),
    **dict.fromkeys(("ttl-a-millisecond-long", "ttl-a-millisecond-short", "ttl-an-hour-at-most"), _EXACT),
    **dict.fromkeys(
        ("at-least-once-sent-settled", "at-most-once-sent-unsettled"),
        "The AMQP server settles each transfer as its link has agreed, whatever the queue manager says of the message.",
    ),
    "non-persistent-again-unmarked": "Over AMQP 1.0 a message has a count, from which the client makes the mark.",
    "ttl-in-seconds": "Over AMQP 1.0 a subscription's time to live is in whole seconds anyway.",
    "no-client-id-needed": "Over AMQP 1.0 no connection is without a client id.",
    "line-loss-consumes": (
        "The AMQP server gives back what a link held before it tells that the line was lost; `returned-consumed` is the"
        " defect of that."
    ),
}
"""By name, with the reason."""
