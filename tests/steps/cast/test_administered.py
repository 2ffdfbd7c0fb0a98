"""Tests of the administration steps on the reference broker: each claim can hold and can fail."""

from __future__ import annotations

import json

import pytest

pytest_plugins = ["pytester"]

PLUGINS = ("-p", "pytest_bdd.plugin", "-p", "assay_steps.entry", "-p", "no:cacheprovider", "--assert=plain")

STAGED = (
    'Given an empty queue|When message "m1" is sent to the queue with a delivery delay of 5 s, priority 7, '
    'property colour = "red" and correlation id "c"'
)
ARRIVED = f"{STAGED}|When 6 s pass"
TAKEN = f'{STAGED}|When the administrator takes "m1" off the staging queue by correlation id'
NATIVE = (
    "Given an empty queue|Given a receiver is waiting on the queue"
    '|When a native application puts "m1" on the queue and asks for a delay of 1 h'
)
AGED = (
    'Given an empty queue|When message "m1" is sent to the queue with a delivery delay of 5 s and a time to live of '
    '20 s|When 15 s have passed since "m1" was sent'
)
CONFIRMED = (
    'Given an empty queue|When message "m1" is sent to the queue with reply-to queue "replies", a body of 300 B, '
    'correlation id "c" and report options MQRO_COA_WITH_DATA and MQRO_PASS_CORREL_ID'
)
FULL = 'Given a queue with MAXDEPTH(0)|When message "m1" is sent to the queue with a delivery delay of 1 s'
DEAD = (
    'Given a queue "dlq" that is the dead-letter queue|Given a queue with MAXDEPTH(1)'
    '|When message "m1" is sent to the queue with a delivery delay of 1 s, reply-to queue "replies" and '
    'report option MQRO_EXCEPTION|When message "m2" is sent to the queue'
)
NOWHERE = (
    'Given a queue "replies" with PUT(DISABLED)|Given a queue "dlq" with MAXDEPTH(9)|Given a queue with MAXDEPTH(1)'
    '|When queue "dlq" becomes the dead-letter queue'
    '|When message "m1" is sent to the queue with a delivery delay of 1 s, reply-to queue "replies" and '
    'report option MQRO_EXCEPTION|When message "m2" is sent to the queue'
)
REFUSED = "When the staging queue is altered to MAXDEPTH(-1)"
DELETED = (
    "Given a queue with MAXDEPTH(5)|Given the queue manager is altered to CUSTOM('ONUSE(NO)')|When the queue is deleted"
)
SECURED = "Given a queue with MAXDEPTH(5)|Given ordinary users lose their authority for the queue"
POINTED = (
    'Given a queue with MAXDEPTH(5)|Given a queue "new" with MAXDEPTH(5)'
    '|Given an alias "front" for the queue with DEFPRTY(7)|Given receiver "r" on queue "new"'
    '|When message "m1" is sent to alias "front" with a delivery delay of 1 s and priority as the destination defines'
    '|When alias "front" is re-pointed to queue "new"'
)
SEND_AS_ALICE = 'When user "alice" sends message "m1" to the queue'
REPORT = 'the report on "m1" on queue "replies" has'

CLAIMS = (
    (STAGED, "the staging queue holds 1 message", "the staging queue holds 2 messages"),
    (STAGED, "the queue is empty", "the staging queue is empty"),
    (STAGED, 'the staging queue holds "m1"', 'the staging queue holds 2 copies of "m1"'),
    (STAGED, 'the queue does not hold "m1"', 'the staging queue does not hold "m1"'),
    (
        STAGED,
        'inspecting or browsing the staging queue shows "m1"',
        'inspecting or browsing the staging queue does not show "m1"',
    ),
    (
        STAGED,
        'a header of "m1" on the staging queue shows its delay of 5 s or its delivery time',
        '"m1" on the staging queue has no MQ header',
    ),
    (STAGED, '"m1" on the staging queue has DDH.StagingQName "SYSTEM.DDELAY.LOCAL.QUEUE"', None),
    (STAGED, '"m1" on the staging queue has Priority "7"', '"m1" on the staging queue has no MQ header'),
    (ARRIVED, '"m1" on the queue has no MQ header', '"m1" on the queue has Priority "4"'),
    (ARRIVED, '"m1" on the queue is as it was sent', None),
    (
        STAGED,
        '"m1" on the staging queue has a new message id, and its original message id as its correlation id',
        '"m1" on the staging queue is as it was sent',
    ),
    (
        ARRIVED,
        '"m1" on the queue has exactly the report options MQRO_DEAD_LETTER_Q',
        '"m1" on the queue has a new message id, and its original message id as its correlation id',
    ),
    (ARRIVED, '"m1" on the queue is persistent', '"m1" on the queue is non-persistent'),
    (ARRIVED, '"m1" on the queue has colour "red"', '"m1" on the queue has exactly the report options MQRO_COA'),
    (
        f"{ARRIVED}|Given a receiver on the queue",
        'the receiver sees "m1" as it was sent',
        'the receiver never sees "m1"',
    ),
    (TAKEN, 'the administrator has taken "m1" off', "the administrator found no message"),
    (
        f'{TAKEN}|When the administrator takes "m1" off the staging queue by correlation id',
        "the administrator found no message",
        'the administrator has taken "m1" off',
    ),
    (NATIVE, 'putting "m1" is refused, or else the receiver sees it undelayed', 'sending "m1" is accepted'),
    (
        AGED,
        '"m1" on the queue has the remaining part of 20 s as its Expiry, in tenths of a second, to within a second',
        '"m1" on the queue has the remaining part of 40 s as its Expiry, in tenths of a second, to within a second',
    ),
    (
        CONFIRMED,
        'a report on "m1" with feedback MQFB_COA and the first 100 bytes of its body is on queue "replies"',
        'a report on "m1" with feedback MQFB_COA and no data is on queue "replies"',
    ),
    (CONFIRMED, 'queue "replies" holds 1 report', 'queue "replies" holds no report'),
    (CONFIRMED, 'the number of reports on queue "replies" is recorded', 'queue "replies" holds 2 reports'),
    (
        CONFIRMED,
        f"{REPORT} a new id as its message id",
        f"{REPORT} the message id of the original as its message id",
    ),
    (
        CONFIRMED,
        f"{REPORT} the correlation id of the original as its correlation id",
        f"{REPORT} the message id of the original as its correlation id",
    ),
    (CONFIRMED, f'{REPORT} MsgType "4"', f"{REPORT} exactly the report options MQRO_DISCARD_MSG"),
    (
        CONFIRMED,
        'queue "replies" holds 1 report',
        'queue "replies" holds a report on "m1" with reason MQRC_Q_FULL and destination queue "replies"',
    ),
    (FULL, "the refusal's text names the queue", "the refusal's text names the staging queue"),
    (
        FULL,
        "the refusal names the queue alone as the cause",
        "the refusal names the queue and the staging queue alone as the cause",
    ),
    (FULL, 'sending "m1" is refused with MQRC_Q_FULL', 'sending "m1" is refused with MQRC_PUT_INHIBITED'),
    (FULL, 'whether sending "m1" is accepted is recorded', None),
    (FULL, "the depth of the queue is 0", "the depth of the queue is 1"),
    (FULL, "the queue has MAXDEPTH(0) PUT(ENABLED)", "the queue has MAXDEPTH(1)"),
    (
        DEAD,
        'the dead-letter queue holds "m1" with reason MQRC_Q_FULL and destination the queue',
        'the dead-letter queue holds "m2" with reason MQRC_Q_FULL and destination the queue',
    ),
    (
        DEAD,
        'a report on "m1" with feedback MQRC_Q_FULL and no data is on queue "replies"',
        'a report on "m2" with feedback MQRC_Q_FULL is on queue "replies"',
    ),
    (
        NOWHERE,
        'the dead-letter queue holds a report on "m1" with reason MQRC_PUT_INHIBITED and destination queue "replies"',
        'the dead-letter queue holds a report on "m1" with reason MQRC_Q_FULL and destination queue "replies"',
    ),
    (
        f'{NOWHERE}|When the staging queue no longer holds "m1"',
        (
            'the dead-letter queue holds no report on "m1", or only reports with reason MQRC_PUT_INHIBITED'
            ' and destination queue "replies"'
        ),
        (
            'the dead-letter queue holds no report on "m1", or only reports with reason MQRC_Q_FULL'
            ' and destination queue "replies"'
        ),
    ),
    (
        f'{NOWHERE}|When the staging queue no longer holds "m1"',
        (
            'queue "replies" holds no report on "m1", or only reports with reason MQRC_Q_FULL'
            ' and destination queue "replies"'
        ),
        None,
    ),
    (REFUSED.replace("-1", "1"), "the command is accepted", "the command is refused"),
    (f"{REFUSED.replace('MAXDEPTH', 'WINGS')}", "the command is refused", "the command is accepted"),
    (f"{REFUSED.replace('MAXDEPTH', 'WINGS')}", 'the command\'s answer names "WINGS"', None),
    (DELETED, "the queue does not exist", "the queue exists"),
    (f"{DELETED}|When the queue is defined", "the queue exists", "the queue does not exist"),
    (f"{SECURED}|{SEND_AS_ALICE}", "it is refused with MQRC_NOT_AUTHORIZED", "it is accepted"),
    (f'{SECURED}|Given user "alice" may put to the queue|{SEND_AS_ALICE}', "it is accepted", "the queue is empty"),
    (
        (
            f'{SECURED}|Given user "alice" may put to the queue'
            f'|When user "alice" is no longer allowed to put to the queue|{SEND_AS_ALICE}'
        ),
        "it is refused to a user who lacks authority",
        "it is accepted",
    ),
    (
        'When user "alice" browses the staging queue',
        "it is refused with MQRC_NOT_AUTHORIZED",
        "it is accepted",
    ),
    (
        'When user "alice" asks for a message from the staging queue',
        "it is refused with MQRC_NOT_AUTHORIZED",
        "it is accepted",
    ),
    (POINTED, '"r" sees "m1" exactly once', 'message "m1" as seen by "r" shows JMSPriority "4"'),
)


def scenario(name: str, steps: str, claim: str) -> str:
    lines = "\n".join(f"      {step}" for step in steps.split("|"))
    return f"    Scenario: {name}\n{lines}\n      Then {claim}\n"


def test_what_is_claimed_of_an_administered_broker_can_hold_and_can_fail(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run tests all claims: each has a scenario that passes and one that fails."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    written = "Feature: Own\n  @DD-05 @needs-admin\n  Rule: Own\n"
    expected: dict[str, str] = {}
    for number, (steps, holds, fails) in enumerate(CLAIMS):
        expected[f"{number} {holds}"] = "pass"
        written += scenario(f"{number} {holds}", steps, holds)
        if fails is not None:
            expected[f"{number} {fails}"] = "fail"
            written += scenario(f"{number} {fails}", steps, fails)
    pytester.makefile(".feature", own=written)
    pytester.makepyfile(test_own="from pytest_bdd import scenarios\n\nscenarios('own.feature')\n")
    pytester.runpytest_inprocess(*PLUGINS, "--assay-out=out")
    verdicts = json.loads((pytester.path / "out" / "verdicts.json").read_text())
    found = {one["scenario"].partition("::")[2]: one["verdict"] for one in verdicts["foreign"]}
    assert found == expected


MORTAL = """\
Feature: Own
  @DD-55 @needs-admin
  Rule: Own
    Scenario: {name}
      Given an empty queue
      And message "m1" is sent to the queue with a delivery delay of 2 s and a time to live of 30 s
      {steps}
      Then "m1" on the queue has the remaining part of 30 s as its Expiry, in tenths of a second, to within a second
"""


TAKEN = """When receiver "r" starts to wait on the queue
      And "r" has seen "m1"
      And "r" is closed"""


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        ('When 40 s have passed since "m1" was sent', "inconclusive"),
        (TAKEN, "fail"),
        (f"{TAKEN}\n      And 20 s pass", "fail"),
    ],
)
def test_a_message_is_missed_only_while_it_must_exist(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, steps: str, verdict: str
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makefile(".feature", own=MORTAL.format(name="It", steps=steps))
    pytester.makepyfile(test_own="from pytest_bdd import scenarios\n\nscenarios('own.feature')\n")
    pytester.runpytest_inprocess(*PLUGINS, "--assay-out=out")
    verdicts = json.loads((pytester.path / "out" / "verdicts.json").read_text())
    assert [one["verdict"] for one in verdicts["foreign"]] == [verdict]
