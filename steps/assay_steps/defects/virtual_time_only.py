"""The defects that no backend in real time can show.

The effect of such a defect is too small or takes too long for a real clock, does not reach the wire, or needs facts
that a restarted server has lost.
"""

from __future__ import annotations

from collections.abc import Mapping

_ANOTHER_PROCESS = "The defect remembers facts from before a restart, and a restarted server is a new process."
_EXACT = "Only virtual time is exact enough to show the difference."

VIRTUAL_TIME_ONLY: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "delay-anew-after-restart",
            "gone-back-at-second-restart",
            "lost-at-second-restart",
            "second-acknowledgement-unwritten",
            "shared-bound-at-restart",
            "staged-lost-at-second-restart",
            "store-refused-after-restart",
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
        "The AMQP server settles each transfer as agreed for its link, whatever the queue manager asks for.",
    ),
    "non-persistent-again-unmarked": "Over AMQP 1.0, the client computes the redelivered mark from the delivery count.",
    "ttl-in-seconds": "Over AMQP 1.0, a subscription's time to live is in whole seconds.",
    "no-client-id-needed": "Over AMQP 1.0, each connection has a client id.",
    "subscribes-twice-in-one-call": "Its scenario runs in virtual time only, where no broker refuses a subscription.",
    "line-loss-consumes": (
        "The AMQP server returns a link's messages before it reports a lost connection (see `returned-consumed`)."
    ),
}
"""The defects that do not show on any backend in real time, each with the reason, by name."""
