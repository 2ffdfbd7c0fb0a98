"""Miniature scenarios, each with the subjects and outcomes that an invariant must find in it."""

from __future__ import annotations

from typing import Literal

from tests.pipeline.case import BROKEN, KEPT, UNDECIDED, Case
from tests.pipeline.miniatures import (
    at_least_once_cases,
    automatic_cases,
    batch_cases,
    batch_sizes,
    copy_cases,
    deliveries,
    lapse_cases,
    late_cases,
    open_subscriptions,
    publications,
    repeats,
    unit_cases,
    unsettled_cases,
)
from tests.pipeline.miniatures.original_cases import ORIGINALS
from tests.pipeline.tales import TOPIC, Tale, Telling

from assay_evidence import events as ev


def _delayed(seen_ms: int, *, seen_ns: int = 0, from_ms: int = 0, unc_ns: int = 0) -> Telling:
    def tell(tale: Tale) -> None:
        tale.unc_ns = unc_ns
        tale.consumes()
        tale.sends(delay_ms=500)
        watch = tale.at(from_ms).listens()
        tale.at(seen_ms, seen_ns).handed()
        tale.at(2_000).stops(watch)

    return tell


def _browsed(tale: Tale) -> None:
    tale.sends(delay_ms=500)
    tale.at(200).browses()
    tale.at(600).browses("m")


def _browsed_early(tale: Tale) -> None:
    tale.sends(delay_ms=500)
    tale.at(200).browses("m")


def _staged(tale: Tale) -> None:
    watch = tale.listens()
    tale.sends(delay_ms=500)
    tale.at(200).browses("m", of="queue://STAGING")
    tale.at(600).handed()
    tale.stops(watch)


def _sent_twice(tale: Tale) -> None:
    watch = tale.listens()
    tale.sends(delay_ms=500)
    tale.at(100).sends()
    tale.handed()
    tale.at(2_000).stops(watch)


def _unanswered(tale: Tale) -> None:
    tale.sends(delay_ms=500, answered=False)
    tale.at(100).handed()


def _refused_and_seen(tale: Tale) -> None:
    tale.sends(delay_ms=500, refused=True)
    tale.at(100).handed()


def _fault_in_the_watch(tale: Tale) -> None:
    watch = tale.listens()
    tale.sends(delay_ms=500)
    tale.suffers("cut", took_ms=300)
    tale.at(600).handed()
    tale.stops(watch)


def _two_boots(tale: Tale) -> None:
    tale.sends(delay_ms=500)
    tale.boot, tale.unc_ns = "other", 1_000
    tale.at(100).handed()


def _expiring(seen_ms: int | None, *, from_ms: int = 0, to_ms: int = 9_000, mode: str = "persistent") -> Telling:
    def tell(tale: Tale) -> None:
        tale.consumes()
        tale.sends(ttl_ms=1_000, mode=mode)
        watch = tale.at(from_ms).listens()
        if seen_ms is not None:
            tale.at(seen_ms).handed()
            tale.returns()
        tale.at(to_ms).stops(watch)

    return tell


def _redelivered_after_expiry(tale: Tale) -> None:
    tale.sends(ttl_ms=1_000)
    tale.at(500).handed()
    tale.at(5_000).handed()


def _one_copy_late(tale: Tale) -> None:
    for actor in ("a", "b"):
        tale.consumes(actor, TOPIC, name=f"sub-{actor}")
    tale.sends(to=TOPIC, ttl_ms=1_000)
    tale.at(500).handed(actor="a")
    tale.at(5_000).handed(actor="b")


def _at_the_limit(tale: Tale) -> None:
    tale.unc_ns = 1_000
    tale.sends(ttl_ms=1_000)
    tale.at(1_250, 500).handed()


def _rolled_back_mortal(tale: Tale) -> None:
    tale.consumes()
    tale.sends(ttl_ms=1_000, unit="u")
    tale.ends_unit("u", "rollback")
    watch = tale.at(5_000).listens()
    tale.at(9_000).stops(watch)


def _restarted_mortal(tale: Tale) -> None:
    tale.consumes()
    tale.sends(ttl_ms=1_000, mode="non-persistent")
    tale.suffers("restart")
    watch = tale.at(5_000).listens()
    tale.at(9_000).stops(watch)


def _killed(
    after: str = "",
    *,
    before: str = "",
    to_ms: int = 5_000,
    what: str = "kill",
    mode: str = "persistent",
    delay_ms: int = 0,
    member: str | None = None,
    admin: str | None = None,
) -> Telling:
    def tell(tale: Tale) -> None:
        if admin is not None:
            tale.tell(ev.Admin, call="c", command=admin)
        if member is not None:
            tale.connects("receiver", member=member)
        tale.sends(mode=mode, delay_ms=delay_ms)
        for key in before:
            tale.handed(key)
        tale.suffers(what, took_ms=0)
        tale.consumes()
        watch = tale.listens()
        for key in after:
            tale.handed(key)
            tale.returns()
        tale.at(to_ms).stops(watch)

    return tell


def _found_by_browse(tale: Tale) -> None:
    tale.sends()
    tale.suffers()
    tale.at(50).browses("m")


def _uncommitted(tale: Tale) -> None:
    tale.sends(unit="u")
    tale.suffers()
    tale.consumes()
    watch = tale.listens()
    tale.at(5_000).stops(watch)


def _in_doubt(*ops: Literal["recover", "commit", "rollback"], seen: bool = False, to_ms: int = 9_000) -> Telling:
    """Return a scenario of a message sent in a branch that was prepared when the broker was killed."""

    def tell(tale: Tale) -> None:
        tale.sends(unit="xa")
        tale.ends_unit("xa", "prepare")
        tale.suffers()
        tale.consumes()
        watch = tale.listens()
        for op in ops:
            tale.at(5_000).ends_unit("xa", op)
        if seen:
            tale.at(5_100).handed()
        tale.at(to_ms).stops(watch)

    return tell


def _another_consumer(tale: Tale) -> None:
    tale.sends()
    tale.suffers()
    tale.consumes("idle")
    tale.consumes()
    watch = tale.listens()
    tale.at(5_000).stops(watch)


def _cleared(tale: Tale) -> None:
    tale.sends()
    tale.tell(ev.Admin, call="c", command="CLEAR QLOCAL(Q)")
    tale.suffers()
    tale.consumes()
    watch = tale.listens()
    tale.at(5_000).stops(watch)


def _fault_before_the_send(tale: Tale) -> None:
    tale.suffers(took_ms=0)
    tale.sends()
    tale.consumes()
    watch = tale.listens()
    tale.at(5_000).stops(watch)


CASES = (
    Case("DD-02", "a waiting receiver sees it when it is due", _delayed(500), {"m": KEPT}),
    Case("DD-02", "a waiting receiver sees it a nanosecond early", _delayed(499, seen_ns=999_999), {"m": BROKEN}),
    Case("DD-02", "early within the uncertainty", _delayed(499, seen_ns=999_999, unc_ns=10), {"m": UNDECIDED}),
    Case("DD-02", "early beyond the uncertainty", _delayed(499, unc_ns=10), {"m": BROKEN}),
    Case("DD-02", "just due with an uncertain clock", _delayed(500, unc_ns=10), {"m": UNDECIDED}),
    Case("DD-02", "a receiver that watched half of the delay", _delayed(600, from_ms=250), {"m": KEPT}),
    Case("DD-02", "a receiver that came late", _delayed(600, from_ms=251), {}),
    Case("DD-02", "a browse during the delay finds nothing", _browsed, {"m": KEPT}),
    Case("DD-02", "a browse during the delay finds it", _browsed_early, {"m": BROKEN}),
    Case("DD-02", "a browse of another queue finds it staged", _staged, {"m": KEPT}),
    Case("DD-02", "a message sent twice says nothing", _sent_twice, {}),
    Case("DD-02", "an unanswered send that is seen early", _unanswered, {"m": BROKEN}),
    Case("DD-02", "a refused send is no subject", _refused_and_seen, {}),
    Case("DD-02", "a fault leaves too little of the watch", _fault_in_the_watch, {}),
    Case("DD-02", "another boot's clock is compared by the wall", _two_boots, {"m": BROKEN}),
    *ORIGINALS,
    *repeats.REPEATS,
    *deliveries.DELIVERIES,
    *publications.PUBLICATIONS,
    *copy_cases.COPIES,
    *automatic_cases.AUTOMATIC,
    Case("DD-56", "nobody is handed an expired message", _expiring(None, from_ms=3_000), {"m": KEPT}),
    Case("DD-56", "an expired message is handed over", _expiring(1_500, from_ms=1_500), {"m": BROKEN}),
    Case("DD-56", "handed over late but within the limit", _expiring(1_250, from_ms=1_100), {}),
    Case("DD-56", "handed over in time", _expiring(999), {}),
    Case("DD-56", "nobody waited after the expiry", _expiring(None, from_ms=500, to_ms=1_500), {}),
    Case("DD-56", "a watch from before the expiry proves no expiry", _expiring(None), {}),
    Case("DD-56", "it comes again after its expiry", _redelivered_after_expiry, {}),
    Case("DD-56", "one subscription gets its copy too late", _one_copy_late, {"m>sub-b": BROKEN}),
    Case("DD-56", "at the limit with an uncertain clock", _at_the_limit, {"m": UNDECIDED}),
    Case("DD-56", "a rolled back send is not expiry", _rolled_back_mortal, {}),
    Case("DD-56", "a restart may lose a non-persistent message", _restarted_mortal, {}),
    *open_subscriptions.COPIES,
    Case("PD-20", "it is there after the kill", _killed("m"), {"m": KEPT}),
    Case("PD-20", "it is lost by the kill", _killed(), {"m": BROKEN}),
    Case("PD-20", "it is lost by the restart", _killed(what="restart"), {"m": BROKEN}),
    Case("PD-20", "a cut line is no restart", _killed(what="cut"), {}),
    Case("PD-20", "a non-persistent message may go", _killed(mode="non-persistent"), {}),
    Case("PD-20", "nobody drained the queue", _killed(to_ms=900), {}),
    Case("PD-20", "it was seen before the kill only", _killed(before="m"), {}),
    Case("PD-20", "it was seen before and after", _killed("m", before="m"), {"m": KEPT}),
    Case("PD-20", "a browse finds it after the kill", _found_by_browse, {"m": KEPT}),
    Case("PD-20", "a unit that never ended may go", _uncommitted, {}),
    Case("PD-20", "a branch in doubt may keep it", _in_doubt("recover"), {}),
    Case("PD-20", "a branch that was in doubt and is rolled back may go", _in_doubt("recover", "rollback"), {}),
    Case("PD-20", "a branch that was in doubt and is committed has it", _in_doubt("commit", seen=True), {"m": KEPT}),
    Case("PD-20", "a branch that was in doubt and is committed has lost it", _in_doubt("commit"), {"m": BROKEN}),
    Case("PD-20", "silence in doubt says nothing of what is committed", _in_doubt("commit", to_ms=5_050), {}),
    Case("PD-20", "another consumer may hold it", _another_consumer, {}),
    Case("PD-20", "an administrator may have taken it", _cleared, {}),
    Case(
        "PD-20", "an administrator may have closed the queue before", _killed(admin="ALTER QLOCAL(Q) GET(DISABLED)"), {}
    ),
    Case("PD-20", "a delayed message may be late", _killed(delay_ms=2_000), {}),
    Case("PD-20", "a delayed message is lost", _killed(delay_ms=500, to_ms=6_000), {"m": BROKEN}),
    Case("PD-20", "it may be on another queue manager", _killed(member="B"), {}),
    Case("PD-20", "a queue may have been full", _killed(admin="DEFINE QLOCAL(Q) MAXDEPTH(1)"), {}),
    Case("PD-20", "a fault before the send proves nothing", _fault_before_the_send, {}),
    *batch_sizes.SIZES,
    *repeats.CONTESTED,
    *deliveries.CONTESTED,
    *publications.CONTESTED,
    *copy_cases.CONTESTED,
    *automatic_cases.CONTESTED,
    *late_cases.LATE,
    *unit_cases.UNITS,
    *unsettled_cases.UNSETTLED,
    *at_least_once_cases.AT_LEAST_ONCE,
    *lapse_cases.LAPSES,
    *batch_cases.BATCHES,
    *late_cases.MORE,
    *at_least_once_cases.MORE,
    *deliveries.DEPARTED,
    *copy_cases.WITHOUT_POWER,
    *late_cases.WITHOUT_POWER,
)
"""All miniature scenarios.  The random histories have their seeds from the numbers of the cases, so add cases last."""
