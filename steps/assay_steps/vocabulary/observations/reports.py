"""Claims about report messages (exception, expiration, confirmation), as an administrator or a receiver sees them.

A report belongs to the message whose message id or correlation id it holds.  A step that expects a report waits
for it until the backend's time limit is over.
"""

from __future__ import annotations

import hashlib
import itertools

from pytest_bdd import then

from assay_adapters.ports.outcome import Ok
from assay_sdk.model.report_options import MQMT_REPORT
from assay_steps.cast.claims import Evidence, listed
from assay_steps.cast.queue_inspections import Found, Inspection, headers_of, ids_of, message_id_of
from assay_steps.cast.world import World
from assay_steps.vocabulary.observations.queue_inspections import (
    found_in,
    inspect,
    inspect_until,
    inspect_until_count,
    life_left,
)
from assay_steps.words.names import Place
from assay_steps.words.parsing import phrase

FIRST_BYTES = 100
"""The number of bytes of the body in a report with data."""


def _is_report(found: Found) -> bool:
    return found.message.descriptor.get("MsgType") == MQMT_REPORT


def _reports_on(world: World, seen: Inspection, label: str) -> list[Found]:
    sent = world.messages[label]
    texts = (sent.answer.needed().message_id, sent.draft.correlation_id)
    ids = {world.administrator.identify(text) for text in texts if text}
    return [found for found in seen.found if _is_report(found) and ids & ids_of(found)]


def _report(world: World, label: str, place: Place) -> str:
    """Browse a queue until the report on a message is there; return its event's reference.

    If no report comes within the time limit, return the reference of the last browse's event.
    """
    seen = inspect_until(world, place, lambda seen: bool(_reports_on(world, seen, label)))
    return next((found.ref for found in _reports_on(world, seen, label)), seen.ref)


@then(phrase("a report on {label:Name} with feedback {feedback:Feedback} is on {place:Place}"))
@then(phrase("a report on {label:Name} with feedback {feedback:Feedback} and {data:ReportData} is on {place:Place}"))
def _(world: World, evidence: Evidence, label: str, feedback: int, place: Place, data: str | None = None) -> None:
    fields = {"field.MsgType": str(MQMT_REPORT), "field.Feedback": str(feedback)}
    if data is not None:
        fields |= _carried(world, label, data)
    evidence.claim("equal-fields", {"at": _report(world, label, place)} | fields)


def _carried(world: World, label: str, data: str) -> dict[str, str]:
    """Return the length and digest of the body that a report on a message must have.

    Args:
        world: The scenario's world.
        label: The label of the message.
        data: The part of the message's body that the report must contain, in the step's words.
    """
    body = world.messages[label].octets
    carried = {"no data": b"", "the first 100 bytes of its body": body[:FIRST_BYTES]}.get(data, body)
    return {"field.bytes": str(len(carried)), "field.sha256": hashlib.sha256(carried).hexdigest()}


@then(phrase("{name:Name} receives a report on {label:Name} with feedback {feedback:Feedback} and {data:ReportData}"))
def _(world: World, evidence: Evidence, name: str, label: str, feedback: int, data: str) -> None:
    answer = world.consumers[name].receive(world.limits.expected_ms)
    came = isinstance(answer.outcome, Ok) and answer.outcome.value is not None
    event = next(one.ref for one in reversed(world.sightings.all) if one.actor == name) if came else answer.ref
    fields = {
        "field.JMS_IBM_MsgType": str(MQMT_REPORT),
        "field.JMS_IBM_Feedback": str(feedback),
        "field.JMSCorrelationID": str(world.messages[label].answer.needed().message_id),
    }
    evidence.claim("equal-fields", {"at": event} | fields | _carried(world, label, data))


@then(phrase("the report on {label:Name} on {place:Place} has {wanted:Ident} as its {which:IdField}"))
def _(world: World, evidence: Evidence, label: str, place: Place, wanted: str, which: str) -> None:
    sent, event = world.messages[label], _report(world, label, place)
    text = sent.draft.correlation_id if "correlation" in wanted else sent.answer.needed().message_id
    original = world.administrator.identify(text)
    if wanted == "a new id":
        evidence.claim("mentions", {"at": event, f"field.{which}": original}, {"absent": 1})
    else:
        evidence.claim("equal-fields", {"at": event, f"field.{which}": original})


@then(phrase("the reports on {labels:Names} on {place:Place} have different message ids"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...], place: Place) -> None:
    seen = inspect_until(world, place, lambda seen: all(_reports_on(world, seen, label) for label in labels))
    found = [one for label in labels for one in _reports_on(world, seen, label)]
    evidence.claim("in-range", {"at": seen.ref, "field": "reports"}, {"least": len(labels)})
    for earlier, later in itertools.combinations(found, 2):
        evidence.claim("mentions", {"at": later.ref, "field.MsgId": message_id_of(earlier)}, {"absent": 1})


@then(phrase("the report on {label:Name} on {place:Place} has {field} {value:Name}"))
def _(world: World, evidence: Evidence, label: str, place: Place, field: str, value: str) -> None:
    evidence.claim("equal-fields", {"at": _report(world, label, place), f"field.{field}": value})


@then(
    phrase(
        "the report on {label:Name} on {place:Place} has the remaining part of {ttl:Duration} as its Expiry,"
        " in tenths of a second, to within a second"
    )
)
def _(world: World, evidence: Evidence, label: str, place: Place, ttl: int) -> None:
    event = _report(world, label, place)
    evidence.claim("in-range", {"at": event, "field": "Expiry"}, life_left(world, label, ttl, event))


@then(phrase("the report on {label:Name} on {place:Place} has exactly the report options {options:Report}"))
def _(world: World, evidence: Evidence, label: str, place: Place, options: int) -> None:
    evidence.claim("equal-fields", {"at": _report(world, label, place), "field.Report": str(options)})


@then(
    phrase(
        "the report on {label:Name} on {place:Place} has no header of the staged message "
        "that the undelayed {plain:Name} on {where:Place} lacks"
    )
)
def _(world: World, evidence: Evidence, label: str, place: Place, plain: str, where: Place) -> None:
    event, staged = _report(world, label, place), world.administrator.staged_headers(world.key(label))
    usual = found_in(inspect(world, where), world.key(plain))
    of_staging = [kind for kind in staged.split("|") if usual is None or kind not in headers_of(usual).split("|")]
    if any(of_staging):
        evidence.claim("mentions", {"at": event, "field.headers": listed(of_staging)}, {"absent": 1})
    else:
        evidence.claim("equal-fields", {"at": event, "field.headers": "" if usual is None else headers_of(usual)})


@then(
    phrase("{place:Place} holds a report on {label:Name} with reason {reason:Feedback} and destination {target:Place}")
)
def _(world: World, evidence: Evidence, place: Place, label: str, reason: int, target: Place) -> None:
    says = {"field.DLH.Reason": str(reason), "field.DLH.DestQName": world.address(target).name}
    evidence.claim("equal-fields", {"at": _report(world, label, place), "field.MsgType": str(MQMT_REPORT)} | says)


@then(
    phrase(
        "{place:Place} holds no report on {label:Name}, "
        "or only reports with reason {reason:Feedback} and destination {target:Place}"
    )
)
def _(world: World, evidence: Evidence, place: Place, label: str, reason: int, target: Place) -> None:
    seen = inspect(world, place)
    found = _reports_on(world, seen, label)
    if not found:
        evidence.claim("equal-fields", {"at": seen.ref, "field.reports": "0"})
    says = {"field.DLH.Reason": str(reason), "field.DLH.DestQName": world.address(target).name}
    for one in found:
        evidence.claim("equal-fields", {"at": one.ref, "field.MsgType": str(MQMT_REPORT)} | says)


@then(phrase("{place:Place} holds no report"))
def _(world: World, evidence: Evidence, place: Place) -> None:
    evidence.claim("equal-fields", {"at": inspect(world, place).ref, "field.reports": "0"})


@then(phrase("{place:Place} holds 1 report"))
@then(phrase("{place:Place} holds {count:Number} reports"))
def _(world: World, evidence: Evidence, place: Place, count: int = 1) -> None:
    seen = inspect_until_count(world, place, count, lambda seen: sum(map(_is_report, seen.found)))
    evidence.claim("equal-fields", {"at": seen.ref, "field.reports": str(count)})


@then(phrase("the number of reports on {place:Place} is recorded"))
def _(world: World, evidence: Evidence, place: Place) -> None:
    evidence.claim("in-range", {"at": inspect(world, place).ref, "field": "reports"})
