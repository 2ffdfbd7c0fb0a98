"""Ways in which a proxy breaks a correct broker, with the rule that must convict each; also ways that break nothing."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from tests.wire import changes
from tests.wire.breaker import Connection


class Broken(Struct, frozen=True):
    """A proxy that breaks a rule.

    Args:
        kind: The connections of the proxy.
        rule: The rule that must convict it.
        scenario: A pattern for the scenario that shows it.
    """

    kind: type[Connection]
    rule: str
    scenario: str


_MATRIX = "persistence/matrix_queue.feature::"
_RECEIVING = "qos/receiving.feature::"

BROKEN: Mapping[str, Broken] = {
    "drops-acknowledgements": Broken(
        changes.DropsAcknowledgements,
        "QS-08",
        f"{_RECEIVING}An acknowledged message never comes again*[lost, the durable header true]",
    ),
    "acknowledges-earlier-messages": Broken(
        changes.AcknowledgesEarlier,
        "QS-14",
        f'{_RECEIVING}If only "*" of three messages is acknowledged, the other two come again[m2, *]',
    ),
    "settles-deliveries": Broken(
        changes.SettlesDeliveries,
        "QS-08",
        f"{_RECEIVING}An unacknowledged message comes again when the subscriber*[lost, the durable header true]",
    ),
    "delivers-twice": Broken(
        changes.DeliversTwice, "PD-20", f"{_MATRIX}A persistent message goes to a connected consumer"
    ),
    "reorders": Broken(
        changes.Reorders,
        "PD-15",
        "persistence/subscriptions.feature::Stored messages come in the order in which they were sent",
    ),
    "settles-early": Broken(
        changes.SettlesEarly,
        "PD-20",
        f"{_MATRIX}A kill right after the answer to a producer's third send loses none of the three messages",
    ),
    "loses-sends": Broken(
        changes.LosesSends, "PD-20", f"{_MATRIX}A persistent message waits for a consumer that connects later"
    ),
    "strips-durable": Broken(
        changes.StripsDurable,
        "PD-20",
        f"{_MATRIX}A persistent message without a consumer is there after the broker *[is restarted]",
    ),
    "strips-delay": Broken(
        changes.StripsDelay,
        "DD-02",
        "delay/early.feature::A waiting receiver does not see a message with a delay of *[500 ms]",
    ),
    "strips-time-to-live": Broken(
        changes.StripsTimeToLive,
        "DD-56",
        "delay/expiry.feature::The time to live of a * message does not start anew when the delay is over[persistent]",
    ),
    "alters-bodies": Broken(
        changes.AltersBodies, "QS-02", "qos/qualities.feature::A message with * arrives unaltered[a binary body]"
    ),
    "commits-rollbacks": Broken(
        changes.CommitsRollbacks,
        "BT-12",
        "batch/acknowledgement.feature::A second rollback returns all messages once more",
    ),
}
"""The broken proxies, by name."""


class PassesOn(Connection):
    """A proxy connection that changes nothing."""


RIGHT: Mapping[str, type[Connection]] = {
    "passes-on": PassesOn,
    "small-pieces": changes.SmallPieces,
    "delays-frames": changes.DelaysFrames,
    "adds-heartbeats": changes.AddsHeartbeats,
    "splits-transfers": changes.SplitsTransfers,
    "answers-late": changes.AnswersLate,
}
"""The proxies that break no rule, by name."""
QUICK = (
    BROKEN["delivers-twice"].scenario,
    BROKEN["strips-delay"].scenario,
    BROKEN["reorders"].scenario,
    BROKEN["alters-bodies"].scenario,
)
"""Scenarios without faults, with which the right proxies are tried on the server."""
