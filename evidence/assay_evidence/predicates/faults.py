"""Predicates about the state of the broker after a fault: comes-back, queue-kept."""

from __future__ import annotations

from collections.abc import Iterator

from assay_evidence.errors import ClaimError
from assay_evidence.events import FATAL, Call, Claim, Event, RefusedInfo
from assay_evidence.history import Faulted, History, distance, follows
from assay_evidence.predicates.claims import Saying, reference
from assay_evidence.verdicts import Finding

_QUEUE = "queue://"
"""The begin of the address of a queue that lasts; a temporary queue's address begins with ``temporary-queue://``."""
_NOT_FOUND = "invalid-destination"
_UNKNOWN_OBJECT_NAME = 2085


def comes_back(claim: Claim, history: History) -> Finding:
    """Decide whether the broker came back from a fault.

    Only the end of the fault in the journal shows that the broker came back. The claim's reference `said` holds the
    broker's error.

    Raises:
        ClaimError: The claim's writer has noted no fault of this id.
    """
    name = reference(claim, "fault")
    own = (one for one in history.faults if one.begin.writer == claim.writer)
    fault = next((one for one in own if one.begin.id == name), None)
    if fault is None:
        raise ClaimError(f"The claim {claim.ref} names the fault {name}, which is not in the journal.")
    say = Saying(claim, f"{fault.begin.target} comes back from the {fault.begin.what} with its own files")
    if fault.end is not None:
        return say.passed("The broker came back.", f"back at {fault.end.ref}", certain=True)
    said = claim.of.get("said", "")
    return say.failed(f"The broker did not come back: {said}", said or "no end", by=[fault.begin], certain=True)


def queue_kept(claim: Claim, history: History) -> Finding:
    """Decide whether the broker kept a queue and its persistent message through a kill or restart.

    The claim's call attached to the queue after the fault.  A refusal breaks the rule only if the queue held a message
    that the broker had to keep, because a broker may delete an empty queue that its first use has created.
    """
    call = history.call(reference(claim, "call"))
    queue = call.destination or ""
    say = Saying(claim, f"{queue} is there after the fault, with its persistent message")
    answer = history.answer(call)
    if answer is None:
        return say.inconclusive("The call did not return.", "no answer")
    refusal = answer.refused
    if refusal is None:
        return say.passed("The queue is there.", "accepted", certain=True)
    observed = f"refused: {refusal.phrase}"
    if not queue.startswith(_QUEUE) or not _says_unknown(refusal):
        return say.not_demonstrated("The refusal does not say that a lasting queue is unknown.", observed)
    held = next(_held(queue, call, history), None)
    if held is None:
        return say.not_demonstrated("The queue held no message that the broker had to keep.", observed)
    send, fault = held
    if any(_names(queue, one.command) and follows(one, send) for one in history.admins):
        return say.inconclusive("An administrator's command named the queue after the send.", observed)
    key = send.msg.key if send.msg else ""
    lost = f"The broker lost the queue with the persistent message {key} in the {fault.begin.what}."
    return say.failed(lost, observed, by=[answer], certain=True)


def _says_unknown(refusal: RefusedInfo) -> bool:
    return refusal.mqrc == _UNKNOWN_OBJECT_NAME or (refusal.mqrc is None and refusal.kind == _NOT_FOUND)


def _names(queue: str, command: str) -> bool:
    return queue.removeprefix(_QUEUE) in command


def _held(queue: str, call: Call, history: History) -> Iterator[tuple[Call, Faulted]]:
    """Yield each send to the queue whose message the broker had to keep through a fault, with the fault.

    Such a message is persistent, has no delay and no time to live, and no consumer has seen it.  The broker confirmed
    it certainly before a fault, and the fault was over before the call.
    """
    for send in history.sent_to(queue):
        due = history.confirmed(send)
        if due is None or not _must_stay(send) or (send.msg and history.sightings({send.msg.key}, None)):
            continue
        for fault in history.faults:
            over = fault.end is not None and follows(call, fault.end)
            if fault.begin.what in FATAL and over and _certainly_before(due, fault.begin):
                yield send, fault


def _must_stay(send: Call) -> bool:
    args = send.args
    return args.get("mode") == "persistent" and not args.get("ttl_ms") and not args.get("delay_ms")


def _certainly_before(event: Event, later: Event) -> bool:
    """Return whether an event came before another; at equal times, as in virtual time, the journal's order decides."""
    apart = distance(later, event)
    in_order = apart.ns == apart.unc_ns == 0 and event.writer == later.writer and event.seq < later.seq
    return apart.ns > apart.unc_ns or in_order
