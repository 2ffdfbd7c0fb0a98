"""Tests of one connection to a scripted peer: every command gets an answer."""

from __future__ import annotations

from tests.sdk.drivers.amqp.exchanges import HELLO, QUEUE
from tests.sdk.drivers.amqp.peer import Bench

from assay_sdk.driver import (
    Begin,
    Browse,
    Cancel,
    Closed,
    CloseLink,
    CloseSession,
    Commit,
    CommitXa,
    Credit,
    Done,
    Drain,
    EndXa,
    Failed,
    ForgetXa,
    OpenReceiver,
    OpenSender,
    OpenSession,
    Prepare,
    RecoverXa,
    RollbackXa,
    Send,
    Unsubscribe,
)
from assay_sdk.model.reasons import JmsErrorKind
from assay_sdk.model.xa import XaEnd


def test_what_amqp_cannot_say_is_unsupported(opened: Bench) -> None:
    xa = (
        (EndXa, (b"x", XaEnd.SUCCESS)),
        (RecoverXa, ()),
        *((one, (b"x",)) for one in (Prepare, CommitXa, RollbackXa, ForgetXa)),
    )
    for make, args in (*xa, (Cancel, (1, "ID:1"))):
        assert opened.refused(make, *args).kind is JmsErrorKind.UNSUPPORTED
    assert opened.refused(Begin, 1, 1, b"xid").kind is JmsErrorKind.UNSUPPORTED


def test_commands_about_what_is_not_there_are_illegal_states(opened: Bench) -> None:
    for make, args in (
        (OpenSender, (9, 1, QUEUE)),
        (Send, (9, HELLO)),
        (Credit, (9, 1)),
        (Commit, (9,)),
        (Browse, (9, QUEUE)),
        (CloseSession, (9,)),
    ):
        assert opened.refused(make, *args).kind is JmsErrorKind.ILLEGAL_STATE


def test_every_command_is_answered_once_when_the_line_drops_in_the_middle(opened: Bench) -> None:
    opened.peer.silent = True
    tokens = [
        opened.submit(OpenSession, 2),
        opened.submit(OpenSender, 1, 1, QUEUE),
        opened.submit(OpenReceiver, session=1, link=2, address=QUEUE),
        opened.submit(Send, 1, HELLO),
        opened.submit(Drain, 2),
        opened.submit(Begin, 1, 7),
        opened.submit(Commit, 7),
        opened.submit(Browse, 1, QUEUE),
        opened.submit(Unsubscribe, 1, "s"),
        opened.submit(CloseLink, 2),
        opened.submit(CloseSession, 1),
    ]
    opened.peer.do(opened.peer.drop)
    opened.expect(Closed)
    answered = [event.token for event in opened.said if isinstance(event, Done | Failed) and event.token in tokens]
    assert sorted(answered) == sorted(tokens)
