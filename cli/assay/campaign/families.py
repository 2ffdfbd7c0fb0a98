"""The families, or kinds of load, with their rules, scenarios and destinations."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from assay_evidence.events import PlannedScenario
from assay_sdk.model.message import Address, AddressKind

LONGEST_DELAY_MS = 900
SHORTEST_DELAY_MS = 500
SUBSCRIPTIONS = ("active", "away")
"""The two durable subscriptions: `active` always has a subscriber, `away` only when a round begins and ends."""


class Family(StrEnum):
    """A kind of load; in each round, every family is one scenario."""

    QUEUE = "queue"
    PASSING = "passing"
    DELAYED = "delayed"
    UNITS = "units"
    TOPIC = "topic"
    BRANCHES = "branches"


class Trial(Struct, frozen=True, kw_only=True):
    """The scenario of a family.

    Args:
        title: The scenario's name.
        rules: The ids of the rules that it tests.
        strength: must or may.
        judged: The judged part of the pair, or ``client+broker``.
    """

    title: str
    rules: tuple[str, ...]
    strength: str = "must"
    judged: str = "broker"


TRIALS: dict[Family, Trial] = {
    Family.QUEUE: Trial(title="persistent messages on a queue, acknowledged one by one", rules=("PD-20", "QS-08")),
    Family.PASSING: Trial(title="non-persistent messages on a queue", rules=("PD-22",), strength="may"),
    Family.DELAYED: Trial(title="persistent messages with a delivery delay", rules=("DD-02", "DD-03")),
    Family.UNITS: Trial(
        title="units of work that receive from one queue and send to another",
        rules=("PD-20", "BT-12"),
        judged="client+broker",
    ),
    Family.BRANCHES: Trial(
        title="branches of global units of work, prepared and then committed or rolled back",
        rules=("BT-13",),
        judged="client+broker",
    ),
    Family.TOPIC: Trial(title="publications for durable subscriptions", rules=("PD-23", "PD-25", "DD-51")),
}


def scenario_id(family: Family, number: int) -> str:
    """Return the id of a family's scenario in a round; rounds count from 1."""
    return f"campaign/crash::{TRIALS[family].title}[round {number}]"


def planned(family: Family, number: int) -> PlannedScenario:
    """Return the entry of a family's scenario in the journal's plan."""
    trial = TRIALS[family]
    return PlannedScenario(scenario_id(family, number), trial.rules, trial.strength, trial.judged)


def place(family: Family, number: int, name: str = "") -> Address:
    """Return a queue or topic of a family in a round."""
    kind = AddressKind.TOPIC if family is Family.TOPIC else AddressKind.QUEUE
    return Address(kind, f"CRASH.{number}.{family.value.upper()}{'.' + name if name else ''}")
