"""Tests of the traits across which each rule is tried, and of the reasons for the untried ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from assay_features import load_catalogue
from assay_features.dimensions import DIMENSIONS, Cell, Reasons, State, Untried, load_reasons, table_of
from assay_features.dimensions._texts import ScenarioText, scenario_texts
from assay_features.dimensions._traits import traits_of

CATALOGUE = load_catalogue()
TABLES = {rule.id: table_of(rule) for rule in CATALOGUE.rules}
TRAITS = {trait.name: trait for dimension in DIMENSIONS for trait in dimension.traits}

SEEN = {
    "second message": ('messages "1" to "2" are sent to the queue', 'message "2" is sent to the queue'),
    "second use of an object": ('subscriber "a" comes back',),
    "override for one send": ('the producer sends message "m" with priority 7 for this send only',),
    "zero": ("the producer's delivery delay is 0 ms",),
    "queue": ("an empty queue",),
    "topic": ("a topic",),
    "durable subscription": ('a durable subscriber "a" on the topic',),
    "shared subscription": ('subscriber "a" shares non-durable subscription "s" on the topic',),
    "shared durable subscription": ('subscriber "a" shares durable subscription "s" on the topic',),
    "topic pattern": ('a non-durable subscriber "a" on topic "Sport/#"',),
    "selector": ("a durable subscriber \"a\" on the topic for messages with colour = 'red'",),
    "persistent": ('message "m" is sent to the queue',),
    "non-persistent": ('message "m" is sent to the queue with delivery mode non-persistent',),
    "empty body": ('message "m" is sent to the queue with an empty body',),
    "large body": ('message "m" is sent to the queue with a body of 4 MB',),
    "non-ASCII body": ('message "m" is sent to the queue with a body of non-ASCII characters',),
    "binary body": ('message "m" is sent to the queue with a binary body',),
    "other session mode": ('session "s" in client mode',),
    "local unit of work": ('session "s" in transacted mode',),
    "global unit of work": ('session "s" in xa mode',),
    "rolled back": ('session "s" is rolled back',),
    "restart": ("the broker is restarted",),
    "kill": ("the broker is killed and comes back",),
    "message listener": ('a message listener is set on "receiver"',),
    "listener replaced": (
        'a batch listener of size 3 and timeout 500 ms is set on "r"',
        'a message listener is set on "r"',
    ),
    "buffer not empty": ('a durable subscriber "a" on the topic that does not receive yet',),
    "batch partly full": ("the receiver takes batches of at most 10 within 500 ms",),
    "closing": ('subscriber "a" goes away',),
    "two producers of one session": (
        'a producer "a" of session "s" on the queue',
        'a producer "b" of session "s" on the queue',
    ),
    "two sharers": (
        'subscriber "a" shares durable subscription "s" on the topic',
        'subscriber "b" shares durable subscription "s" on the topic',
    ),
    "two clients": ('a durable subscriber "a" on the topic', 'a durable subscriber "b" on the topic'),
    "two options together": (
        'message "m" is sent to the queue with a delivery delay of 5 s and a time to live of 9 s',
    ),
    "two queue managers": ('message "m" is sent to the queue at queue manager "QM2"',),
}
"""The steps of a scenario that tries a trait, by trait."""


def scenario(*steps: str) -> ScenarioText:
    return ScenarioText("a scenario", frozenset({"DD-02"}), steps)


@pytest.mark.parametrize("rule", TABLES)
def test_each_cell_is_tried_or_explained(rule: str) -> None:
    left = [cell.trait for cell in TABLES[rule] if cell.state is State.UNEXPLAINED]
    assert left == [], f"{rule}: write a scenario that tries it, or a reason in untried.toml"


def test_each_reason_explains_a_cell_and_names_what_exists() -> None:
    reasons = load_reasons()
    used: Counter[str] = Counter(cell.why for cells in TABLES.values() for cell in cells)
    assert [reason.why for reason in reasons.untried if not used[reason.why]] == []
    ids, profiles = {rule.id for rule in CATALOGUE.rules}, {rule.profile.value for rule in CATALOGUE.rules}
    assert {rule for group in reasons.groups.values() for rule in group} <= ids
    assert {name for reason in reasons.untried for name in reason.rules} <= ids | profiles | reasons.groups.keys()
    known = TRAITS.keys() | {dimension.name for dimension in DIMENSIONS}
    assert {trait for reason in reasons.untried for trait in reason.traits} <= known


def test_each_trait_is_seen_in_a_scenario_that_tries_it() -> None:
    assert SEEN.keys() == TRAITS.keys()
    assert [name for name, steps in SEEN.items() if TRAITS[name] not in traits_of(scenario(*steps))] == []


@pytest.mark.parametrize(
    "step",
    [
        'subscriber "a" on the topic with shared subscription "s" and a durable subscription',
        'subscriber "a" on the topic with shared subscription "s" and a subscription that lives for 4 s',
        'subscriber "a" joins shared durable subscription "s" on the topic',
    ],
)
def test_each_wording_of_a_shared_durable_subscription_counts(step: str) -> None:
    assert TRAITS["shared durable subscription"] in traits_of(scenario(step))
    assert TRAITS["two sharers"] in traits_of(scenario(step, step))


def test_no_trait_is_seen_in_a_scenario_that_does_nothing_of_the_kind() -> None:
    silent = scenario("nothing of it", "nobody does anything")
    assert traits_of(silent) == frozenset()


@pytest.mark.parametrize(
    ("trait", "steps"),
    [
        ("queue", ("the staging queue is empty", "the dead-letter queue is empty")),
        ("durable subscription", ('a non-durable subscriber "a" on the topic',)),
        ("durable subscription", ('subscriber "a" shares durable subscription "s" on the topic',)),
        ("shared subscription", ('subscriber "a" shares durable subscription "s" on the topic',)),
        (
            "shared subscription",
            ('subscriber "a" on the topic with shared subscription "s" and a durable subscription',),
        ),
        ("shared durable subscription", ('subscriber "a" on the topic with shared subscription "s"',)),
        ("topic pattern", ('a non-durable subscriber "a" on topic "Sport/Football"',)),
        ("persistent", ('message "m" is sent to the queue with delivery mode non-persistent',)),
        ("large body", ('message "m" is sent to the queue with a body of 10 B',)),
        ("zero", ("the producer's delivery delay is 10 s",)),
        ("second message", ('message "m" is sent to the queue',)),
        ("two options together", ('message "m" is sent to the queue with a delivery delay of 5 s',)),
        ("two sharers", ('subscriber "a" shares durable subscription "s" on the topic',)),
    ],
)
def test_words_that_only_look_like_it_do_not_count(trait: str, steps: tuple[str, ...]) -> None:
    assert TRAITS[trait] not in traits_of(scenario(*steps))


def test_values_of_rows_and_steps_of_backgrounds_count(tmp_path: Path) -> None:
    (tmp_path / "some.feature").write_text(
        "Feature: f\n  @DD-02\n  Rule: r\n    Background:\n      Given an empty queue\n"
        '    Scenario Outline: s\n      When session "s" in <mode> mode\n'
        "      Examples:\n        | mode |\n        | xa |\n        | client |\n"
    )
    cells = {cell.trait: cell for cell in table_of(CATALOGUE.rule("DD-02"), scenario_texts(tmp_path), Reasons())}
    assert cells["queue"] == Cell("destination", "queue", State.TRIED, 2)
    assert cells["global unit of work"].scenarios == 1
    assert cells["local unit of work"].state is State.UNEXPLAINED


def test_the_first_reason_counts_and_a_scenario_counts_more() -> None:
    reasons = Reasons(
        (
            Untried(("kill",), ("DD-02",), "first"),
            Untried(("failure",), ("delay",), "second", open=True),
            Untried(("destination",), ("all",), "third"),
        ),
        {"all": ("DD-02",)},
    )
    own = (scenario("an empty queue"),)
    cells = {cell.trait: cell for cell in table_of(CATALOGUE.rule("DD-02"), own, reasons)}
    assert (cells["kill"].state, cells["kill"].why) == (State.APART, "first")
    assert (cells["restart"].state, cells["restart"].why) == (State.OPEN, "second")
    assert (cells["topic"].state, cells["topic"].why) == (State.APART, "third")
    assert cells["queue"].state is State.TRIED


def test_a_rule_that_cannot_be_observed_has_no_table() -> None:
    assert TABLES["DD-42"] == ()
