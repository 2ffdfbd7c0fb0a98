"""The tolerated variants of the staging queue: headers, ids, limits, order and time of release, and expiry."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject
from assay_broker.core.commands import Administer, Command, Put
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.descriptor import ID_BYTES, Described
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Kind, Value
from assay_broker.core.states.processor import ProcessorAction, ProcessorInput, ProcessorState
from assay_broker.core.states.tables import Tables
from assay_broker.defects.delay.staging.processor_filters import with_cells
from assay_broker.defects.sends import asks_for_reports, is_delayed, is_topic, left_ms, resent
from assay_broker.defects.shapes import Commands, delayed_puts, filters, puts, replies, reshown, shown
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_broker.variants.model import Variant
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc, refused

_DELAY_HEADER = "DDH"
_HEADER_BYTES = 400
_SECOND_MS = 1_000
_TENTHS = 10
_NEXT_TRY_MS = 900
"""The milliseconds after the end of a delay from which a delivery counts as the result of a further try."""
_KEPT = "variant_kept"

_S, _I, _A = ProcessorState, ProcessorInput, ProcessorAction


def _with_headers(rewrite: Callable[[dict[str, Value]], dict[str, Value]]) -> Seams:
    """Return filters that change the header of staged messages, as administrators see it."""

    def other(row: Described) -> Described:
        return replace(
            row, headers=tuple(rewrite(one) if one["StrucId"] == _DELAY_HEADER else one for one in row.headers)
        )

    return shown(other)


def _in_seconds(header: dict[str, Value]) -> dict[str, Value]:
    delay = header["DeliveryDelay"]
    seconds = delay // _SECOND_MS if isinstance(delay, int) else 0
    return {"StrucId": "DLYH", "Length": 64, "Destination": header["DestQName"], "Seconds": seconds}


def _with_due_time(header: dict[str, Value]) -> dict[str, Value]:
    return {"StrucId": "WAIT", "To": f"queue:{header['DestQName']}@QM1", "At": header["DeliveryTime"]}


def _with_jms_header(row: Described) -> Described:
    """Return a browsed message with one more header, an MQRFH2, which IBM MQ puts before the body of JMS messages."""
    return replace(row, headers=(*row.headers, {"StrucId": "RFH2", "Version": 2, "NameValueData": "<jms></jms>"}))


def _under_hashed_id(row: Described) -> Described:
    """Return a browsed message with a hash as its message id, if the message is staged."""
    if not any(header["StrucId"] == _DELAY_HEADER for header in row.headers):
        return row
    other = sha256(str(row.descriptor["MsgId"]).encode()).digest()[:ID_BYTES].hex()
    return replace(row, descriptor={**row.descriptor, "MsgId": other})


def _life_in_seconds(row: Described) -> Described:
    """Return a browsed message with its Expiry rounded up to whole seconds."""
    expiry = row.descriptor["Expiry"]
    if not isinstance(expiry, int) or expiry < 0:
        return row
    return replace(row, descriptor={**row.descriptor, "Expiry": -(-expiry // _TENTHS) * _TENTHS})


def _moved_to(put: Put, due_ms: int) -> Commands | None:
    """Return a send whose delay ends at a later time; None if the message would expire before that time."""
    if put.message.expiry_ms is not None and due_ms > put.message.expiry_ms:
        return None
    return resent(put, delivery_time_ms=due_ms)


def _later(due: Callable[[Sent], int]) -> Seams:
    """Return filters that end delays later; the messages still show the delay with which they were sent.

    Args:
        due: Returns the later end of the delay of a send, in milliseconds since the epoch.
    """
    asked: dict[str | None, int] = {}

    def rewrite(sent: Sent) -> Commands | None:
        asked[sent.message.message_id] = sent.due_ms
        return _moved_to(sent.put, due(sent))

    def as_sent(row: Described) -> Described:
        due_ms = asked.get(row.message.message_id)
        if due_ms is None:
            return row
        later_ms = (row.message.delivery_time_ms or due_ms) - due_ms
        headers = tuple(_shortened(one, later_ms) for one in row.headers)
        return replace(row, headers=headers, message=replace(row.message, delivery_time_ms=due_ms))

    def answer(answered: Answer, _asked: Command, _now_ms: int, _view: View) -> Answer:
        return reshown(answered, as_sent)

    def delivery(delivered: Deliver, _view: View) -> Deliver:
        due_ms = asked.get(delivered.message.message_id)
        if due_ms is None:
            return delivered
        return replace(delivered, message=replace(delivered.message, delivery_time_ms=due_ms))

    def command(passing: Command, now_ms: int, view: View) -> Commands | None:
        sent = view.sent(passing, now_ms)
        return None if sent is None or not sent.delayed else rewrite(sent)

    return filters(command, answer=answer, delivery=delivery)


def _shortened(header: dict[str, Value], by_ms: int) -> dict[str, Value]:
    """Return the header of a staged message with a shorter delay and an earlier delivery time."""
    times = {
        name: value - by_ms for name in ("DeliveryDelay", "DeliveryTime") if isinstance(value := header.get(name), int)
    }
    return {**header, **times}


def _whole_seconds(sent: Sent) -> int:
    return -(-sent.due_ms // _SECOND_MS) * _SECOND_MS


def _equals_backwards() -> Seams:
    """Return filters that release messages for queues with the same due time in another order than that of their sends.

    Publications keep their order, because the filters of another queue manager do not know the delivery time of the
    send, and so could not restore it.
    """
    sends = 0

    def due(sent: Sent) -> int:
        nonlocal sends
        sends += 1
        return sent.due_ms if is_topic(sent.target) else sent.due_ms + 50 - sends % 50

    return _later(due)


def _expires_later(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """Return a send of a delayed message in which the message expires a second later."""
    if not put.message.expiry_ms or left_ms(put.message, now_ms) == 0:
        return None
    return resent(put, expiry_ms=put.message.expiry_ms + _SECOND_MS)


def _other_code(answer: Answer, _asked: Command, _now_ms: int, view: View) -> Answer:
    """Return the refusal of a delayed send with another code, if only the staging queue has no room for the message."""
    told = answer.refused
    _, sent = view.asked(answer)
    if told is None or sent is None or not sent.delayed or tuple(told.objects) != (STAGING_QUEUE,):
        return answer
    if told.mqrc not in {Mqrc.Q_FULL, Mqrc.MSG_TOO_BIG_FOR_Q}:
        return answer
    return replace(answer, refused=refused(Mqrc.RESOURCE_PROBLEM, f"No room: {told.text}", *told.objects))


def _header_counts(put: Put, _sent: Sent, view: View) -> Commands | None:
    """Lower MAXMSGL of the staging queue by the length of a header during each delayed send, so the header counts."""
    limit = view.said(STAGING_QUEUE).get("MAXMSGL")
    if not isinstance(limit, int):
        return None

    def altered(longest: int) -> Command:
        return Administer(put.connection, None, AlterObject(Kind.QLOCAL, STAGING_QUEUE, {"MAXMSGL": longest}))

    return (altered(max(0, limit - _HEADER_BYTES)), put, altered(limit))


def _marks_tried_again(delivered: Deliver, view: View) -> Deliver:
    """Mark a delayed message as redelivered if it comes 0.9 s or more after its delay, as after a further try."""
    due_ms = delivered.message.delivery_time_ms
    if due_ms is None or view.last_ms < due_ms + _NEXT_TRY_MS:
        return delivered
    return replace(delivered, redelivered=True, count=max(1, delivered.count))


def _keeps_delayed() -> Seams:
    """Return filters that keep non-persistent delayed messages through a restart.

    The filters make the messages persistent inside the broker.  They skip messages for which persistence has other
    effects: publications (PMSGDLV and NPMSGDLV, DD-82), and messages that ask for reports (DD-75).
    """

    def rewrite(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
        if put.message.durable is not False or not is_delayed(put, now_ms):
            return None
        if is_topic(target) or asks_for_reports(put.message):
            return None
        return resent(put, durable=True, properties={**put.message.properties, _KEPT: True})

    def unmarked(row: Described) -> Described:
        if _KEPT not in row.message.properties:
            return row
        own = {name: value for name, value in row.message.properties.items() if name != _KEPT}
        return replace(
            row,
            descriptor={**row.descriptor, "Persistence": 0},
            message=replace(row.message, durable=False, properties=own),
        )

    def answer(answered: Answer, _asked: Command, _now_ms: int, _view: View) -> Answer:
        return reshown(answered, unmarked)

    def delivery(delivered: Deliver, _view: View) -> Deliver:
        if _KEPT not in delivered.message.properties:
            return delivered
        own = {name: value for name, value in delivered.message.properties.items() if name != _KEPT}
        return replace(delivered, message=replace(delivered.message, durable=False, properties=own))

    def command(passing: Command, now_ms: int, view: View) -> Commands | None:
        target = view.target(passing)
        return rewrite(passing, target, now_ms, view) if isinstance(passing, Put) and target is not None else None

    return filters(command, answer=answer, delivery=delivery)


def _heeds_no_gets(tables: Tables) -> Tables:
    cells = {
        (_S.WATCHING, _I.UNAVAILABLE): (_S.WATCHING, _A.STAY),
        (_S.DOWN, _I.UNAVAILABLE): (_S.WATCHING, _A.OPEN),
    }
    return with_cells(tables, "distributed", cells)


def _heeds_puts(tables: Tables) -> Tables:
    cells = {
        (_S.WATCHING, _I.PUT_DISABLED): (_S.CLOSED, _A.REST),
        (_S.DOWN, _I.PUT_DISABLED): (_S.CLOSED, _A.REST),
        (_S.CLOSED, _I.PUT_DISABLED): (_S.CLOSED, _A.STAY),
        (_S.FAILED, _I.PUT_DISABLED): (_S.CLOSED, _A.REST),
    }
    return with_cells(tables, "distributed", cells)


STAGING_VARIANTS = (
    Variant(
        name="staging-header-in-seconds",
        rules=("DD-05", "DD-06", "DD-39", "DD-57"),
        text="The header of a staged message has other fields, and the delay in seconds.",
        allowed_by="DELAY:7 asks for a header with delay and target, and gives no layout.",
        apply=lambda: _with_headers(_in_seconds),
    ),
    Variant(
        name="staging-header-with-due-time",
        rules=("DD-05", "DD-06", "DD-39", "DD-57"),
        text="The header of a staged message has the delivery time, and the target in the form of an address.",
        allowed_by="DELAY:7 asks for a header with delay and target, and gives no layout.",
        apply=lambda: _with_headers(_with_due_time),
    ),
    Variant(
        name="jms-header-on-all",
        rules=("DD-05", "DD-06", "DD-39", "DD-57"),
        text="Every message, staged or not, has one more header.",
        allowed_by="DELAY:64 says that the header with the delay is removed, and says nothing about other headers.",
        apply=lambda: shown(_with_jms_header),
    ),
    Variant(
        name="staged-under-hashed-ids",
        rules=("DD-37", "DD-38"),
        text="The new message id of a staged message is a hash.",
        allowed_by="DELAY:35 says only that the id is new.",
        apply=lambda: shown(_under_hashed_id),
    ),
    Variant(
        name="released-at-whole-seconds",
        rules=("DD-02", "DD-03", "DD-06", "DD-38"),
        text="Delays end at the next whole second.",
        allowed_by="DELAY:5 gives the earliest time; JMS 2.0, 7.8 leaves open how exactly time is kept.",
        apply=lambda: _later(_whole_seconds),
    ),
    Variant(
        name="released-in-another-order",
        rules=("DD-03", "DD-06", "DD-38"),
        text="Messages to queues are not released in the order of their sends if their delays end in the same moment.",
        allowed_by="DELAY:7 says nothing about an order.",
        apply=_equals_backwards,
    ),
    Variant(
        name="expiry-shown-in-seconds",
        rules=("DD-55", "DD-85"),
        text="The Expiry field shows whole seconds.",
        allowed_by='DELAY:62 says "approximately".',
        apply=lambda: shown(_life_in_seconds),
    ),
    Variant(
        name="delayed-lives-a-second-longer",
        rules=("DD-55", "DD-56", "DD-57"),
        text="The time to live of a delayed message ends a second late.",
        allowed_by="JMS 2.0, 3.4.9 and 7.8 leave the exact moment open.",
        apply=lambda: puts(_expires_later),
    ),
    Variant(
        name="staging-refusals-by-resource",
        rules=("DD-36",),
        text="A send that the staging queue cannot take is refused with MQRC_RESOURCE_PROBLEM.",
        allowed_by="DELAY:19 asks for a suitable message, and names no code.",
        apply=lambda: replies(_other_code),
    ),
    Variant(
        name="staging-header-counts",
        rules=("DD-36",),
        text="The 400 bytes of a staged message's header count towards MAXMSGL of the staging queue.",
        allowed_by="DELAY:30 does not say whether a header counts.",
        apply=lambda: delayed_puts(_header_counts),
    ),
    Variant(
        name="tried-again-marked-redelivered",
        rules=("DD-71", "DD-74"),
        text="A message whose put was tried more than once is marked as redelivered.",
        allowed_by='DELAY:74 speaks of a message that is "redelivered later".',
        apply=lambda: filters(delivery=_marks_tried_again),
    ),
    Variant(
        name="delayed-non-persistent-kept-through-restart",
        rules=("DD-47", "DD-48"),
        text="Delayed non-persistent messages for queues survive a restart, unless they ask for a report.",
        allowed_by="DELAY:50 says only that such messages are more likely to be lost.",
        apply=_keeps_delayed,
    ),
    Variant(
        name="distributed-ignores-get-disabled",
        rules=("DD-65",),
        text="On distributed platforms the delay processor keeps running while the staging queue is disabled for gets.",
        allowed_by="DELAY:68 says that the processor shuts down on z/OS; line 70 does not mention this.",
        apply=lambda: Seams(tables=_heeds_no_gets),
    ),
    Variant(
        name="distributed-stops-at-put-disabled",
        rules=("DD-65",),
        text="On distributed platforms, too, disabling the staging queue for puts stops the delay processor.",
        allowed_by="DELAY:68 says that the processor stops on z/OS; line 70 does not exclude this on other platforms.",
        apply=lambda: Seams(tables=_heeds_puts),
    ),
)
"""The variants of rules DD-02, 03, 05, 06, 36 to 39, 47, 48, 55 to 57, 65, 71, 74 and 85."""
