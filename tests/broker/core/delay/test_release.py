"""Tests of the release of messages whose delay is over (DD-56, DD-57, DD-70 to DD-77, DD-83, DD-85).

The result of every combination of obstacles is compared with `expected`, which computes it from lines 64, 74 and 76 of
the document DELAY, and not from the core's table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest
from msgspec import Struct
from tests.broker.core.harness import T0, Bench, Traced, limited, message, queue

from assay_broker.core import commands
from assay_broker.core.administration.changes import NativeTake
from assay_broker.core.delay.internal_puts import Puts
from assay_broker.core.objects.factory import DEAD_LETTER_QUEUE, STAGING_QUEUE
from assay_broker.core.objects.model import Value
from assay_broker.core.states.processor import PROCESSOR
from assay_broker.core.states.release import RELEASE
from assay_broker.core.states.tables import Tables
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.report_options import Mqro

pytestmark = pytest.mark.exhaustive

REPLY = Address(AddressKind.QUEUE, "REPLY")
DEAD = Address(AddressKind.QUEUE, DEAD_LETTER_QUEUE)
TARGET = Address(AddressKind.QUEUE, "TARGET")
TOPIC = Address(AddressKind.TOPIC, "T")
BODY = "0123456789" * 20
DUE = T0 + 100
LATER = 10_000

REPORTS = {
    "none": 0,
    "plain": Mqro.EXCEPTION | Mqro.EXPIRATION,
    "with data": Mqro.EXCEPTION_WITH_DATA | Mqro.EXPIRATION_WITH_DATA,
    "with full data": Mqro.EXCEPTION_WITH_FULL_DATA | Mqro.EXPIRATION_WITH_FULL_DATA,
}
DATA = {"plain": None, "with data": BODY[:100], "with full data": BODY}
TARGETS = {
    "free": None,
    "full": Mqrc.Q_FULL,
    "disabled": Mqrc.PUT_INHIBITED,
    "too small": Mqrc.MSG_TOO_BIG_FOR_Q,
    "gone": Mqrc.UNKNOWN_OBJECT_NAME,
    "expired": None,
}
OBSTRUCTED: dict[str, dict[str, Value]] = {
    "full": {"MAXDEPTH": 0},
    "disabled": {"PUT": "DISABLED"},
    "one place": {"MAXDEPTH": 1},
    "too small": {"MAXMSGL": 90},
}
DEAD_LETTER_QUEUES = ("free", "full", "disabled", "too small", "missing", "undefined", "one place")
REPLY_QUEUES = ("free", "full", "gone")


class Case(Struct, frozen=True, kw_only=True):
    kind: str
    durable: bool
    report: str
    target: str
    discard: bool = False
    dead: str = "free"
    reply: str = "free"

    @property
    def options(self) -> int:
        return int(REPORTS[self.report]) | (int(Mqro.DISCARD_MSG) if self.discard else 0)


class Expected(Struct, frozen=True, kw_only=True):
    """The number of copies in each place; the reason is None without a dead-letter header."""

    target: int = 0
    dead: int = 0
    reports: int = 0
    dead_reports: int = 0
    kept: bool = False


def expected(case: Case) -> Expected:
    """Return the result that lines 64, 74 and 76 of the document DELAY demand."""
    if case.target == "free":
        return Expected(target=1)
    # A report has 0, 100 or all 200 bytes of the body; a dead-letter queue with MAXMSGL(110) takes only the first kind.
    places = {"free": 9, "one place": 1, "too small": 9}.get(case.dead, 0)
    dead, given_up = 0, False
    gone = case.target == "expired" or (case.target == "gone" and case.kind == "publication")
    if not gone and not case.discard:
        if places and case.dead != "too small":
            places, dead = places - 1, 1
        elif case.kind == "queue":
            return Expected(kept=True)  # line 74: the processor tries again later
        else:
            given_up = True  # line 76: the publication is discarded, even if its report cannot be put
    if case.report == "none":
        return Expected(dead=dead)
    if case.reply == "free":
        return Expected(dead=dead, reports=1)
    if places and (case.dead != "too small" or case.report == "plain"):
        return Expected(dead=dead, dead_reports=1)
    return Expected(kept=True) if case.durable and not given_up else Expected(dead=dead)


def bench_for(case: Case, tables: Tables | None = None) -> Bench:
    """Return a queue manager with a staged message and the obstacles of a case."""
    bench = Bench(limited(), tables=tables or Tables())
    bench.define(queue("ASIDE"), queue(TARGET.name), queue(REPLY.name))
    bench.alter("ASSAY", CUSTOM="")  # a deleted queue is not created again on use
    bench.connect(1, "client")
    to = TARGET if case.kind == "queue" else TOPIC
    if case.kind == "publication":
        bench.receiver(1, 2, TOPIC, durable="d", credit=0)
        bench.handle(commands.Detach(1, None, 2))
    bench.sender(1, 1, to)
    token = bench.put(1, 1, sent(case))
    assert bench.answers[token].refused is None
    bench.handle(commands.Detach(1, None, 1))
    obstruct(bench, case)
    return bench


def sent(case: Case) -> Message:
    return Message(
        message_id="ID:sent",
        correlation_id="ID:other",
        body=BODY,
        durable=case.durable,
        priority=7,
        reply_to=REPLY,
        delivery_time_ms=DUE,
        expiry_ms=DUE + 50 if case.target == "expired" else None,
        properties={"JMS_IBM_MQMD_Report": case.options},
    )


def obstruct(bench: Bench, case: Case) -> None:
    if case.target == "expired":
        bench.alter(STAGING_QUEUE, GET="DISABLED")  # keeps messages from moving before the expiry
    elif case.kind == "publication":
        _obstruct_subscription(bench, case.target)
    elif case.target == "gone":
        bench.delete(TARGET.name)
    else:
        bench.alter(TARGET.name, **OBSTRUCTED.get(case.target, {}))
    if case.dead == "missing":
        bench.alter("ASSAY", DEADQ="")
    elif case.dead == "undefined":
        bench.delete(DEAD_LETTER_QUEUE)
    else:
        bench.alter(
            DEAD_LETTER_QUEUE, **({"MAXDEPTH": 1} if case.dead == "one place" else OBSTRUCTED.get(case.dead, {}))
        )
    if case.reply == "gone":
        bench.delete(REPLY.name)
    else:
        bench.alter(REPLY.name, **OBSTRUCTED.get(case.reply, {}))


def _obstruct_subscription(bench: Bench, target: str) -> None:
    """Set the attributes of a subscription's queue, which no administrator's command reaches."""
    if target == "gone":
        bench.handle(commands.Unsubscribe(1, None, "d"))
        return
    (subscription,) = bench.core._state.subscriptions
    definition = subscription.queue.definition
    subscription.queue.definition = queue(
        definition.name, **{**definition.attributes, "DEFTYPE": "", **OBSTRUCTED.get(target, {})}
    )


def mend(bench: Bench) -> None:
    for name in (TARGET.name, REPLY.name, DEAD_LETTER_QUEUE):
        bench.define(queue(name))
    bench.alter("ASSAY", DEADQ=DEAD_LETTER_QUEUE)
    for subscription in bench.core._state.subscriptions:
        attributes = {**subscription.queue.definition.attributes}
        subscription.queue.definition = queue(
            subscription.queue.name, **{**attributes, "MAXDEPTH": 5000, "PUT": "ENABLED", "MAXMSGL": 5000}
        )


def seen(bench: Bench, case: Case) -> Expected:
    """Return the number of copies in each place."""
    if case.kind == "queue":
        at_target = len(standing(bench, TARGET.name))
    else:
        at_target = sum(len(one.queue.entries) for one in bench.core._state.subscriptions)
    dead = standing(bench, DEAD_LETTER_QUEUE)
    return Expected(
        target=at_target,
        dead=sum(one.message_id == "ID:sent" for one in dead),
        reports=len(standing(bench, REPLY.name)),
        dead_reports=sum(one.message_id != "ID:sent" for one in dead),
        kept=len(bench.core._state.staging) == 1,
    )


def standing(bench: Bench, name: str) -> list[Message]:
    found = bench.core._state.queues.find(f"queue://{name}")
    return [] if found is None else [entry.message for entry in found.waiting()]


def happen(bench: Bench, case: Case) -> None:
    bench.tick(DUE - 1)
    assert seen(bench, case) == Expected(kept=True), "early"
    bench.tick(DUE)
    if case.target == "expired":
        assert seen(bench, case) == Expected(kept=True), "it moved although its queue is closed"
        bench.tick(DUE + 50)


def settled_later(case: Case, wanted: Expected) -> Expected:
    """Return the expected result of a kept message after the obstacles are removed."""
    if not wanted.kept:
        return wanted
    if case.target == "expired" or (case.kind == "publication" and case.target == "gone"):
        return Expected(reports=1)
    return Expected(target=1)


CASES = [
    Case(kind=kind, durable=durable, report=report, target=target)
    for kind, durable, report, target in product(("queue", "publication"), (True, False), REPORTS, TARGETS)
]


def every(case: Case) -> Iterator[Case]:
    for discard, dead, reply in product((False, True), DEAD_LETTER_QUEUES, REPLY_QUEUES):
        yield Case(
            kind=case.kind,
            durable=case.durable,
            report=case.report,
            target=case.target,
            discard=discard,
            dead=dead,
            reply=reply,
        )


def name_of(case: Case) -> str:
    mode = "persistent" if case.durable else "non-persistent"
    return f"{mode} for a {case.kind}, target {case.target}, report {case.report}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_message_whose_delay_is_over_ends_as_its_report_options_and_the_queues_say(case: Case) -> None:
    for one in every(case):
        bench = bench_for(one)
        happen(bench, one)
        wanted = expected(one)
        assert seen(bench, one) == wanted, one
        bench.tick(DUE + 3 * bench.settings.retry_ms)
        assert seen(bench, one) == wanted, f"{one} changed with a try that failed again"
        check_contents(bench, one)
        mend(bench)
        bench.alter(STAGING_QUEUE, GET="ENABLED")
        bench.tick(DUE + LATER)
        assert seen(bench, one) == settled_later(one, wanted), f"{one}, after everything was mended"
        bench.at_rest()


@pytest.mark.parametrize("case", [case for case in CASES if case.report in ("none", "plain")], ids=name_of)
def test_a_kill_between_any_two_steps_neither_loses_nor_doubles_a_persistent_message(case: Case) -> None:
    for one in every(case):
        bench = bench_for(one)
        if one.kind == "publication" and one.target not in ("free", "gone", "expired"):
            continue  # a subscription's obstacle would not survive the kill
        wanted = expected(one) if one.durable else Expected()
        restart(bench)
        assert seen(bench, one) == Expected(kept=one.durable)
        bench.tick(DUE)
        restart(bench)
        if one.target == "expired":
            bench.tick(DUE + 50)
            restart(bench)
        assert seen(bench, one) == wanted, one
        bench.tick(DUE + 3 * bench.settings.retry_ms)
        restart(bench)
        assert seen(bench, one) == wanted, one
        mend(bench)
        bench.alter(STAGING_QUEUE, GET="ENABLED")
        bench.tick(DUE + LATER)
        restart(bench)
        assert seen(bench, one) == settled_later(one, wanted), f"{one}, after everything was mended"
        bench.at_rest()


def restart(bench: Bench) -> None:
    bench.restart()
    bench.connect(1, "client")


@pytest.mark.parametrize("case", [case for case in CASES if case.report in ("none", "plain")], ids=name_of)
def test_a_release_that_the_store_refuses_is_tried_again_and_happens_once(case: Case) -> None:
    for one in every(case):
        bench = bench_for(one)
        bench.tick(DUE - 1)
        bench.auto = False
        happened = DUE + (50 if one.target == "expired" else 0)
        bench.tick(happened)
        failed = bool(bench.buffer)
        bench.fail()
        bench.auto = True
        wanted = expected(one)
        if failed:
            assert seen(bench, one) == Expected(kept=True), f"{one}: something of a failed release is left"
        bench.tick(happened + 1 + bench.settings.retry_ms)
        assert seen(bench, one) == wanted, one
        bench.tick(happened + 5 * bench.settings.retry_ms)
        assert seen(bench, one) == wanted, one
        bench.at_rest()


def check_contents(bench: Bench, case: Case) -> None:
    """Check the contents: the message, with a header on the dead-letter queue, and the report by its options."""
    manager = bench.core._state.settings.name
    feedback = 258 if case.target == "expired" else int(TARGETS[case.target] or 0)
    if case.kind == "publication" and case.target == "gone":
        feedback = int(Mqrc.NO_SUBSCRIPTION)
    for name in (TARGET.name, REPLY.name, DEAD_LETTER_QUEUE):
        if bench.core._state.objects.queue(name) is None:
            continue
        for one in bench.shown(name):
            header = one.headers[0] if one.headers else None
            assert (header is not None) == (name == DEAD_LETTER_QUEUE)
            if one.message.message_id == "ID:sent":
                assert one.message == sent(case)
                if header is not None:
                    named = TARGET.name if case.kind == "queue" else "d"
                    assert (header["Reason"], header["DestQName"]) == (feedback, named)
                    assert (header["DestQMgrName"], one.descriptor["Format"]) == (manager, "MQDEAD")
                continue
            fields = one.descriptor
            assert (fields["MsgType"], fields["Feedback"]) == (4, feedback)
            assert (fields["Priority"], fields["Persistence"]) == (7, int(case.durable))
            assert one.message.correlation_id == "ID:sent"
            assert one.message.message_id not in ("ID:sent", "ID:other", None)
            assert one.message.body == DATA[case.report]
            if header is not None:
                reason = Mqrc.Q_FULL if case.reply == "full" else Mqrc.UNKNOWN_OBJECT_NAME
                assert (header["Reason"], header["DestQName"]) == (int(reason), REPLY.name)


def test_these_cases_reach_every_cell_of_the_table() -> None:
    traced = Traced(RELEASE)
    tables = Tables(processor=PROCESSOR, release=traced)
    tried = Counter[bool]()
    for case in CASES:
        if case.report in ("none", "plain"):
            for one in every(case):
                happen(bench_for(one, tables), one)
                tried[one.durable] += 1
    print(f"\n{len(traced.reached)} of {len(traced)} cells of the release table reached in {tried.total()} cases")  # noqa: T201 - the count is asked for
    assert not traced.missed


def test_a_kept_message_can_be_taken_back_by_an_administrator() -> None:
    case = Case(kind="queue", durable=True, report="plain", target="full", dead="full")
    bench = bench_for(case)
    happen(bench, case)
    (shown,) = bench.shown(STAGING_QUEUE)
    correlation = bytes.fromhex(str(shown.descriptor["CorrelId"]))
    assert len(bench.administer(NativeTake(STAGING_QUEUE, correlation)).value or ()) == 1
    mend(bench)
    bench.tick(DUE + LATER)
    assert seen(bench, case) == Expected()
    bench.at_rest()


def test_a_kept_message_that_expires_is_reported_and_not_delivered() -> None:
    bench = Bench(limited())
    bench.connect(1)
    bench.define(queue("Q"), queue(REPLY.name))
    bench.sender(1, 1)
    properties = {"JMS_IBM_Report_Expiration": int(Mqro.EXPIRATION)}
    bench.put(1, 1, message("a", delivery_time_ms=DUE, ttl_ms=5_000, reply_to=REPLY, properties=properties))
    bench.alter("Q", MAXDEPTH=0)
    bench.alter(DEAD_LETTER_QUEUE, MAXDEPTH=0)
    bench.tick(T0 + 4_999)
    assert (bench.browse(REPLY), len(bench.shown(STAGING_QUEUE))) == ([], 1)
    bench.tick(T0 + 5_000)
    (report,) = bench.shown(REPLY.name)
    assert (report.descriptor["Feedback"], report.message.correlation_id) == (258, "a")
    assert (bench.browse(), bench.browse(DEAD), bench.shown(STAGING_QUEUE)) == ([], [], [])
    bench.at_rest()


def test_puts_that_were_backed_out_take_no_place() -> None:
    bench = Bench(limited())
    bench.define(queue("Q", MAXDEPTH=1))
    puts = Puts(bench.core._state, T0)
    assert puts.to_queue("Q", message("a"), None) is None
    assert puts.to_queue("Q", message("b"), None) == Mqrc.Q_FULL
    puts.back_out()
    assert puts.to_queue("Q", message("b"), None) is None
