"""Tests of the verdicts on imported logs: the breaches that are found, and the columns that this needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Assay
from tests.cli.importing.logbook import MAPPING, Judged, Logbook, judged

from assay.exits import Exit
from assay.importing.needs import NEEDS

Importing = Callable[..., Judged]
TOPIC: dict[str, Any] = {"kind": "topic"}
DURABLE: dict[str, Any] = {"kind": "topic", "durable": True, "subscription": "s", "client_id": "c"}


@pytest.fixture
def verdicts(assay: Assay, tmp_path: Path) -> Importing:
    """Provide a function that imports a log and judges it."""

    def call(log: Logbook, mapping: str = MAPPING, *, without: str = "", code: Exit = Exit.AS_EXPECTED) -> Judged:
        (tmp_path / "mapping.toml").write_text(mapping)
        file = log.write(tmp_path, without=without)
        ended = assay("import", file, "--mapping", tmp_path / "mapping.toml", "--out", tmp_path / "run")
        assert ended.code is code, ended.out + ended.err
        return judged(tmp_path / "run")

    return call


def clean() -> Logbook:
    """Return a log in which every rule of `NEEDS` was tried and kept."""
    log = Logbook()
    # before the kill: parked messages, and a durable subscription that was opened once
    log.consumes(1, 5, "D", **DURABLE)
    log.sends("d-kept", 3, "D", kind="topic")
    log.receives("d-kept", 3.1, "D", kind="topic")
    for mode in ("persistent", "non-persistent"):
        log.sends(f"q-{mode}", 10, "KILLED", mode=mode)
    log.sends("d-killed", 11, "D", kind="topic")
    log.add("fault", 20, fault="kill", end=1_795_770_022)
    log.consumes(30, 40, "KILLED")
    for at, mode in ((31, "persistent"), (32, "non-persistent")):
        log.receives(f"q-{mode}", at, "KILLED")
    log.consumes(41, 48, "D", **DURABLE)
    log.receives("d-killed", 42, "D", kind="topic")
    # after the kill: queues
    for consumer, until in (("one", 70), ("two", 80)):
        log.consumes(50, until, "CROWD", by=consumer)
    log.sends("delayed", 52, "CROWD", delay=2_000)
    log.receives("delayed", 54.1, "CROWD", by="one")
    log.consumes(75, 85, "CROWD", by="three")
    log.consumes(50, 60, "LIGHT")
    log.sends("light", 52, "LIGHT", mode="non-persistent")
    log.receives("light", 52.1, "LIGHT")
    log.sends("parked", 50, "PARKED", mode="non-persistent")
    log.consumes(55, 60, "PARKED")
    log.receives("parked", 55.1, "PARKED")
    log.sends("mortal", 50, "EXPIRY", ttl=1_000)
    log.consumes(55, 60, "EXPIRY")
    # after the kill: topics
    log.consumes(50, 60, "T", **TOPIC)
    for at, mode in ((52, "persistent"), (53, "non-persistent")):
        log.sends(f"t-{mode}", at, "T", mode=mode, kind="topic")
        log.receives(f"t-{mode}", at + 0.1, "T", kind="topic")
    log.consumes(50, 55, "D", **DURABLE)
    log.sends("d-light", 52, "D", mode="non-persistent", kind="topic")
    log.receives("d-light", 52.1, "D", kind="topic")
    for mode in ("persistent", "non-persistent"):
        log.sends(f"d-missed-{mode}", 57, "D", mode=mode, kind="topic")
    log.consumes(60, 65, "D", **DURABLE)
    for at, mode in ((60.1, "persistent"), (60.2, "non-persistent")):
        log.receives(f"d-missed-{mode}", at, "D", kind="topic")
    return log


def test_a_clean_log_keeps_every_rule_that_a_log_can_decide(verdicts: Importing) -> None:
    found = verdicts(clean())
    assert {rule: found.verdict(rule) for rule in NEEDS} == dict.fromkeys(NEEDS, "pass")
    assert {found.verdict(rule) for rule in found.rules.keys() - NEEDS.keys()} == {"not-demonstrated"}
    assert "does not write" in found.rules["BT-08"].reason


def early() -> Logbook:
    """Return a log with a message that comes 3 s before its delay is over."""
    log = Logbook()
    log.consumes(1, 30)
    log.sends("early", 5, delay=5_000)
    log.sends("right", 5, delay=5_000)
    log.receives("early", 7)
    log.receives("right", 10.1)
    return log


def lost() -> Logbook:
    """Return a log with a persistent message that does not come after a kill."""
    log = Logbook()
    log.sends("lost", 1)
    log.sends("kept", 2)
    log.add("fault", 10, fault="kill", end=1_795_770_011)
    log.consumes(20, 40)
    log.receives("kept", 21)
    return log


def lost_by_subscription() -> Logbook:
    """Return a log with a persistent message that a durable subscription does not get."""
    log = Logbook()
    log.consumes(1, 5, "D", **DURABLE)
    log.sends("lost", 6, "D", kind="topic")
    log.consumes(10, 20, "D", **DURABLE)
    return log


def twice(*, marked: bool = False) -> Logbook:
    """Return a log with a message that two consumers of a queue get, although nothing permits it."""
    log = Logbook()
    for consumer in ("one", "two"):
        log.consumes(1, 30, by=consumer)
    log.sends("twice", 5)
    log.receives("twice", 5.1, by="one")
    log.receives("twice", 5.2, by="two", redelivered=marked)
    return log


@pytest.mark.parametrize(
    ("log", "rules"),
    [
        (early(), ["DD-02"]),
        (lost(), ["PD-20"]),
        (lost_by_subscription(), ["PD-13", "PD-25"]),
        (twice(), ["PD-18", "QS-08"]),
    ],
)
def test_a_breach_is_found_under_its_rules(verdicts: Importing, log: Logbook, rules: list[str]) -> None:
    assert verdicts(log).failed == rules


def test_a_breach_names_its_message(verdicts: Importing) -> None:
    (scenario,) = verdicts(early()).rules["DD-02"].scenarios
    assert [finding.observed for finding in scenario.findings if "before" in finding.observed] == [
        "early: 3 s before it was due"
    ]


@pytest.mark.parametrize(
    ("log", "rule", "column"),
    [
        (early(), "DD-02", "delay"),
        (lost(), "PD-20", "mode"),
        (lost(), "PD-20", "answered"),
        (twice(), "PD-18", "redelivered"),
        (twice(), "QS-08", "acknowledged"),
    ],
)
def test_a_missing_column_is_named_and_nothing_is_decided(
    verdicts: Importing, log: Logbook, rule: str, column: str
) -> None:
    found = verdicts(log, without=column)
    assert found.verdict(rule) == "not-demonstrated"
    assert f"the column {column}" in found.rules[rule].reason
    assert "pass" not in {found.verdict(rule) for rule, needs in NEEDS.items() if column in str(needs.decide)}


def test_rules_that_need_a_complete_log_are_not_judged_without_a_statement(verdicts: Importing) -> None:
    found = verdicts(lost(), MAPPING.replace('["consumers", "incidents"]', "[]"))
    assert found.failed == []
    assert 'complete = ["consumers"]' in found.rules["PD-20"].reason


def test_an_early_message_is_found_without_any_statement(verdicts: Importing) -> None:
    log = early()
    log.rows = [row for row in log.rows if row["event"] not in ("open", "close")]
    found = verdicts(log, MAPPING.replace('["consumers", "incidents"]', "[]"))
    assert found.failed == ["DD-02"]
    log.rows = [row for row in log.rows if row.get("message") != "early"]
    found = verdicts(log)
    assert (found.verdict("DD-02"), found.rules["DD-02"].reason) == ("not-demonstrated", "The log lacks rows open.")


def test_clocks_that_are_too_uncertain_decide_nothing(verdicts: Importing) -> None:
    found = verdicts(early(), MAPPING.replace("uncertainty_ms = 1", "uncertainty_ms = 2000"))
    assert found.verdict("DD-02") == "inconclusive"
    assert "uncertainty of the clocks" in verdicts(lost(), MAPPING.replace("= 1\n", "= 101\n")).rules["PD-20"].reason


def test_a_marked_duplicate_breaks_no_rule_about_marks(verdicts: Importing) -> None:
    assert "PD-18" not in verdicts(twice(marked=True)).failed


def test_a_lost_connection_permits_a_second_delivery(verdicts: Importing) -> None:
    log = twice()
    log.add("lost", 5.15, client="one")
    assert verdicts(log).failed == []


def test_a_receive_without_a_send_leaves_losses_undecided(verdicts: Importing) -> None:
    log = lost()
    log.receives("LOST", 22)
    found = verdicts(log)
    assert found.failed == []
    assert found.rules["PD-20"].reason == "The log lacks a send for every receive."


def test_a_line_that_is_left_out_makes_every_rule_inconclusive(verdicts: Importing) -> None:
    log = early()
    log.rows.append({"event": "receive", "client": "receiver"})
    found = verdicts(log, code=Exit.INCONCLUSIVE)
    assert {one.verdict.value for one in found.rules.values()} == {"inconclusive"}


@pytest.mark.parametrize(("end", "lost_ones"), [("commit", ["PD-20"]), ("rollback", [])])
def test_a_message_of_a_transaction_exists_after_its_commit(
    verdicts: Importing, end: str, lost_ones: list[str]
) -> None:
    log = lost()
    for row in log.rows:
        if row.get("message") == "lost":
            row["transaction"] = "t-1"
    log.add(end, 1.5, client="sender", transaction="t-1")
    assert verdicts(log).failed == lost_ones


def test_a_commit_acknowledges_what_its_transaction_received(verdicts: Importing) -> None:
    log = Logbook()
    log.consumes(1, 30, by="one")
    log.sends("twice", 5)
    log.receives("twice", 5.1, by="one", transaction="t-1", acknowledged=None)
    log.add("commit", 5.2, client="one", transaction="t-1")
    log.receives("twice", 20, by="one", transaction="t-2", acknowledged=None)
    assert verdicts(log).failed == ["QS-08"]
