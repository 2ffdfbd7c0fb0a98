"""Claims about messages on queues, as an administrator sees them: descriptors, headers and ids.

Steps with these expectations browse the queue until the expectation is met, or the backend's time limit is over:

- a message or a number of messages is on the queue
- messages have left it ("no longer holds", "has become empty")

A step that expects a queue to be empty, not to hold a message, or to hold at most a number of messages, browses the
queue once.
"""

from __future__ import annotations

import hashlib
import itertools

from pytest_bdd import then, when

from assay_sdk.model.capabilities import Capability
from assay_steps.cast.claims import Evidence, listed
from assay_steps.cast.messages import SentMessage
from assay_steps.cast.queue_inspections import Inspection, headers_of, message_id_of
from assay_steps.cast.recording import Answer
from assay_steps.cast.world import PLAIN, World
from assay_steps.vocabulary.clients.receiving import RECEIVER
from assay_steps.vocabulary.observations.queue_inspections import (
    delay_shown,
    event_of,
    found_in,
    header_fields,
    inspect,
    inspect_for,
    inspect_for_mortal,
    inspect_until,
    inspect_until_count,
    inspect_until_gone,
    inspect_until_in_one,
    lasts_ms,
    life_left,
)
from assay_steps.words.descriptor import names_of
from assay_steps.words.names import Place
from assay_steps.words.parsing import phrase
from assay_steps.words.send_options import SendOptions

PERSISTENCE = {"PERSISTENT": "1", "NON_PERSISTENT": "0"}
"""The value of MQMD's Persistence field for each of JMS's delivery modes."""

JMS_IDS = ("JMSMessageID", "JMSCorrelationID")
JMS_MOMENTS = ("JMSTimestamp", "JMSDeliveryTime", "JMSExpiration")
"""The JMS headers with times that the client sets at the send (JMS 2.0, 3.4.4, 3.4.9, 3.4.13)."""

BROKER_GIVES = ("JMSMessageID", "JMSTimestamp")
"""The headers that a broker without the capability message-id replaces."""

JMS_OTHERS = ("JMSDeliveryMode", "JMSPriority", "JMSReplyTo", "JMSType")


def _copies(world: World, evidence: Evidence, place: Place, labels: tuple[str, ...], count: int) -> None:
    keys = world.keys(labels)

    def complete(seen_keys: list[str]) -> bool:
        return all(seen_keys.count(key) >= count for key in keys)

    seen = inspect_until(world, place, lambda seen: complete([one.key for one in seen.found]))
    evidence.claim("equal-fields", {"at": seen.ref} | {f"field.copies of {key}": str(count) for key in keys})


@then(phrase("{place:Place} holds {labels:Names}"))
@then(phrase("{place:Place} holds 1 copy of {labels:Names}"))
@then(phrase("{place:Place} holds {count:Number} copies of {labels:Names}"))
def _(world: World, evidence: Evidence, place: Place, labels: tuple[str, ...], count: int = 1) -> None:
    _copies(world, evidence, place, labels, count)


@then(phrase("{place:Place} does not hold {labels:Names}"))
def _(world: World, evidence: Evidence, place: Place, labels: tuple[str, ...]) -> None:
    _copies(world, evidence, place, labels, 0)


@when(phrase("{place:Place} no longer holds {labels:Names}"))
def _(world: World, place: Place, labels: tuple[str, ...]) -> None:
    inspect_until_gone(world, place, labels)


@then(phrase("each of {labels:Names} is on exactly one of {places:Places}"))
def _(world: World, evidence: Evidence, places: tuple[Place, ...], labels: tuple[str, ...]) -> None:
    for key in world.keys(labels):
        inspect_until_in_one(world, places, key)
    inspections = [inspect(world, place) for place in places]
    for key in world.keys(labels):
        where = next((seen for seen in inspections if found_in(seen, key)), inspections[0])
        for seen in inspections:
            count = "1" if seen is where else "0"
            evidence.claim("equal-fields", {"at": seen.ref, f"field.copies of {key}": count})


@then(phrase("{place:Place} no longer holds {labels:Names}"))
def _(world: World, evidence: Evidence, place: Place, labels: tuple[str, ...]) -> None:
    seen = inspect_until_gone(world, place, labels)
    evidence.claim("equal-fields", {"at": seen.ref} | {f"field.copies of {key}": "0" for key in world.keys(labels)})


@then(phrase("{place:Place} has become empty"))
def _(world: World, evidence: Evidence, place: Place) -> None:
    seen = inspect_until(world, place, lambda seen: not seen.found)
    evidence.claim("equal-fields", {"at": seen.ref, "field.messages": "0"})


@then(phrase("{place:Place} holds 1 message"))
@then(phrase("{place:Place} holds {count:Number} messages"))
def _(world: World, evidence: Evidence, place: Place, count: int = 1) -> None:
    seen = inspect_until_count(world, place, count, lambda seen: len(seen.found))
    evidence.claim("equal-fields", {"at": seen.ref, "field.messages": str(count)})


@then(phrase("{place:Place} holds at most 1 message"))
@then(phrase("{place:Place} holds at most {count:Number} messages"))
def _(world: World, evidence: Evidence, place: Place, count: int = 1) -> None:
    evidence.claim("in-range", {"at": inspect(world, place).ref, "field": "messages"}, {"most": count})


@then(phrase("{place:Place} is empty"))
def _(world: World, evidence: Evidence, place: Place) -> None:
    evidence.claim("equal-fields", {"at": inspect(world, place).ref, "field.messages": "0"})


# descriptors and headers -------------------------------------------------------------------------------------------


@then(phrase("{label:Name} on {place:Place} has {field} {value:Name}"))
def _(world: World, evidence: Evidence, label: str, place: Place, field: str, value: str) -> None:
    evidence.claim("equal-fields", {"at": inspect_for(world, place, label), f"field.{field}": value})


@then(phrase("{label:Name} on {place:Place} is {persistence:Persistence}"))
def _(world: World, evidence: Evidence, label: str, place: Place, persistence: int) -> None:
    evidence.claim("equal-fields", {"at": inspect_for(world, place, label), "field.Persistence": str(persistence)})


@then(phrase("{label:Name} on {place:Place} has dead-letter reason {reason:Feedback}"))
def _(world: World, evidence: Evidence, label: str, place: Place, reason: int) -> None:
    evidence.claim("equal-fields", {"at": inspect_for(world, place, label), "field.DLH.Reason": str(reason)})


@then(phrase("{label:Name} on {place:Place} has exactly the report options {options:Report}"))
def _(world: World, evidence: Evidence, label: str, place: Place, options: int) -> None:
    evidence.claim("equal-fields", {"at": inspect_for(world, place, label), "field.Report": str(options)})


@then(phrase("{label:Name} on {place:Place} still has the report options {options:Report}"))
def _(world: World, evidence: Evidence, label: str, place: Place, options: int) -> None:
    named = listed(f"{name};" for name in names_of(options))
    evidence.claim("mentions", {"at": inspect_for(world, place, label), "field.report options": named})


@then(phrase("{label:Name} on {place:Place} has a new message id, and its original message id as its correlation id"))
def _(world: World, evidence: Evidence, label: str, place: Place) -> None:
    event = event_of(inspect(world, place), world.key(label))
    original = _message_id(world, label)
    evidence.claim("mentions", {"at": event, "field.MsgId": original}, {"absent": 1})
    evidence.claim("equal-fields", {"at": event, "field.CorrelId": original})


@then(
    phrase(
        "user {user:Name} finds {label:Name} by browsing {place:Place}, with a new message id, and"
        " its original message id as correlation id"
    )
)
def _(world: World, evidence: Evidence, user: str, label: str, place: Place) -> None:
    key = world.key(label)
    session = world.session(f"user {user}", user=user, member=place.member)
    answer = session.browse(world.address(place), headers=JMS_IDS)
    original = str(world.messages[label].answer.needed().fields["JMSMessageID"])
    evidence.claim("found-by-browse", {"call": answer.ref, "kids": key}, {"count": 1})
    evidence.claim("mentions", {"at": answer.ref, f"field.JMSMessageID of {key}": original}, {"absent": 1})
    evidence.claim("equal-fields", {"at": answer.ref, f"field.JMSCorrelationID of {key}": original})


@then(phrase("{labels:Names} on {place:Place} have different message ids"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...], place: Place) -> None:
    _different(world, evidence, place, labels, 1)


@then(phrase("the {count:Number} copies of {label:Name} on {place:Place} have different message ids"))
def _(world: World, evidence: Evidence, count: int, label: str, place: Place) -> None:
    _different(world, evidence, place, (label,), count)


def _different(world: World, evidence: Evidence, place: Place, labels: tuple[str, ...], count: int) -> None:
    keys = set(world.keys(labels))
    seen = inspect_until_count(world, place, count * len(keys), lambda seen: sum(one.key in keys for one in seen.found))
    evidence.claim("equal-fields", {"at": seen.ref} | {f"field.copies of {key}": str(count) for key in keys})
    found = [one for one in seen.found if one.key in keys]
    for earlier, later in itertools.combinations(found, 2):
        evidence.claim("mentions", {"at": later.ref, "field.MsgId": message_id_of(earlier)}, {"absent": 1})


@then(phrase("a header of {label:Name} on {place:Place} names {target:Place}"))
def _(world: World, evidence: Evidence, label: str, place: Place, target: Place) -> None:
    found = found_in(inspect_until(world, place, lambda seen: _shows(world, seen, label)), world.key(label))
    field = next((name for name, value in header_fields(found) if world.address(target).name in str(value)), "header")
    at = found.ref if found else inspect(world, place).ref
    evidence.claim("mentions", {"at": at, f"field.{field}": world.address(target).name})


@then(phrase("a header of {label:Name} on {place:Place} shows its delay of {delay:Duration} or its delivery time"))
def _(world: World, evidence: Evidence, label: str, place: Place, delay: int) -> None:
    found = found_in(inspect_until(world, place, lambda seen: _shows(world, seen, label)), world.key(label))
    sent = world.messages[label].answer.needed()
    field, bounds = delay_shown(header_fields(found), delay, sent.delivery_time_ms)
    evidence.claim("in-range", {"at": found.ref if found else inspect(world, place).ref, "field": field}, bounds)


def _shows(world: World, seen: Inspection, label: str) -> bool:
    return any(one.key == world.key(label) for one in seen.found)


@then(phrase("{label:Name} on {place:Place} has no MQ header"))
def _(world: World, evidence: Evidence, label: str, place: Place) -> None:
    evidence.claim("equal-fields", {"at": inspect_for(world, place, label), "field.headers": ""})


@then(phrase("{label:Name} on {place:Place} and the undelayed {plain:Name} have the same kinds of MQ header"))
def _(world: World, evidence: Evidence, label: str, place: Place, plain: str) -> None:
    usual = found_in(inspect_until(world, place, lambda seen: _shows(world, seen, plain)), world.key(plain))
    headers = "a message without a delay" if usual is None else headers_of(usual)
    evidence.claim("equal-fields", {"at": inspect_for(world, place, label), "field.headers": headers})


@then(phrase("{label:Name} on {place:Place} is as it was sent"))
def _(world: World, evidence: Evidence, label: str, place: Place) -> None:
    sent = world.messages[label]
    shown = sent.answer.needed().fields
    descriptor = {
        "MsgId": _message_id(world, label),
        "Priority": str(shown["JMSPriority"]),
        "Persistence": PERSISTENCE[str(shown["JMSDeliveryMode"])],
        "headers": "",
        "sha256": hashlib.sha256(sent.octets).hexdigest(),
    }
    if sent.draft.reply_to is not None:
        descriptor["ReplyToQ"] = sent.draft.reply_to.name
    if sent.draft.correlation_id is not None:
        descriptor["CorrelId"] = world.administrator.identify(sent.draft.correlation_id)
    fields = {f"field.{name}": value for name, value in (descriptor | _own_properties(sent)).items()}
    evidence.claim("equal-fields", {"at": inspect_for(world, place, label)} | fields)


@then(phrase("{label:Name} on {place:Place} has the ids that it was sent with"))
def _(world: World, evidence: Evidence, label: str, place: Place) -> None:
    correlation_id = world.administrator.identify(world.messages[label].draft.correlation_id)
    same = {"field.MsgId": _message_id(world, label), "field.CorrelId": correlation_id}
    evidence.claim("equal-fields", {"at": inspect_for(world, place, label)} | same)


@then(phrase("the receiver sees {label:Name} as it was sent"))
@then(phrase("{name:Name} sees {label:Name} as it was sent"))
def _(world: World, evidence: Evidence, label: str, name: str = RECEIVER) -> None:
    sent = world.messages[label]
    same = _shown(world, sent, *JMS_IDS, *JMS_MOMENTS, *JMS_OTHERS) | _own_properties(sent)
    world.observe((name,), (sent.key,))
    fields = {f"field.{header}": value for header, value in same.items()}
    body = {"field.sha256": "sent", "field.body": sent.kind}
    evidence.claim("equal-fields", {"kid": sent.key, "actor": name} | body | fields)


@then(phrase("the receiver sees {label:Name} with the ids that it was sent with"))
@then(phrase("{name:Name} sees {label:Name} with the ids that it was sent with"))
def _(world: World, evidence: Evidence, label: str, name: str = RECEIVER) -> None:
    sent = world.messages[label]
    world.observe((name,), (sent.key,))
    fields = {f"field.{header}": value for header, value in _shown(world, sent, *JMS_IDS).items()}
    evidence.claim("equal-fields", {"kid": sent.key, "actor": name} | fields)


def _shown(world: World, sent: SentMessage, *headers: str) -> dict[str, str]:
    """Return headers of a message, as the sender saw them after the send, for a claim.

    Headers that the broker replaces are left out.
    """
    shown = sent.answer.needed().fields
    unknown = BROKER_GIVES if Capability.MESSAGE_ID in world.lacks else ()
    return {
        header: "none" if shown[header] is None else str(shown[header]) for header in headers if header not in unknown
    }


@then(
    phrase(
        "{label:Name} on {place:Place} has the remaining part of {ttl:Duration} as its Expiry, in"
        " tenths of a second, to within a second"
    )
)
def _(world: World, evidence: Evidence, label: str, place: Place, ttl: int) -> None:
    event = inspect_for_mortal(world, place, label, ttl)
    of = {"at": event, "field": "Expiry", "call": world.messages[label].call}
    evidence.claim("in-range", of, {"lasts_ms": lasts_ms(ttl), **life_left(world, label, ttl, event)})


@then(phrase("{place:Place} holds {label:Name} with reason {reason:Feedback} and destination {target:Place}"))
def _(world: World, evidence: Evidence, place: Place, label: str, reason: int, target: Place) -> None:
    says = {"field.DLH.Reason": str(reason), "field.DLH.DestQName": world.address(target).name}
    evidence.claim("equal-fields", {"at": inspect_for(world, place, label)} | says)


def _message_id(world: World, label: str) -> str:
    """Return the message id that the sender saw after the send, as hexadecimal digits."""
    return world.administrator.identify(world.messages[label].answer.needed().message_id)


def _own_properties(sent: SentMessage) -> dict[str, str]:
    own = {name: value for name, value in sent.draft.properties.items() if not name.startswith(("JMS_IBM_", "JMSX"))}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in own.items()}


# taking and putting ------------------------------------------------------------------------------------------------


@when(phrase("the administrator takes {labels:Names} off {place:Place} by correlation id"))
def _(world: World, labels: tuple[str, ...], place: Place) -> None:
    for label in labels:
        answer = world.administrator.take(place, bytes.fromhex(_message_id(world, label)))
        world.administrator.last = Answer(answer.ref, answer.outcome)
        answer.needed()


@when(phrase("the administrator tries to take {label:Name} off {place:Place} by correlation id"))
def _(world: World, label: str, place: Place) -> None:
    answer = world.administrator.take(place, bytes.fromhex(_message_id(world, label)))
    world.administrator.last = Answer(answer.ref, answer.outcome)


@then(phrase("the administrator has taken {label:Name} off"))
def _(world: World, evidence: Evidence, label: str) -> None:
    evidence.claim("equal-fields", {"at": _taken(world), "field.kid": world.key(label)})


@then(phrase("the administrator found no message"))
def _(world: World, evidence: Evidence) -> None:
    evidence.claim("equal-fields", {"at": _taken(world), "field.found": "false"})


def _taken(world: World) -> str:
    if world.administrator.last is None:
        raise LookupError("No earlier step has taken a message.")
    return world.administrator.last.ref


@when(phrase("a native application puts {label:Name} on {place:Place}"))
@when(phrase("a native application puts {label:Name} on {place:Place} and asks for a delay of {delay:Duration}"))
@when(phrase("a native application puts {label:Name} on {place:Place} with {options:Options}"))
def _(world: World, label: str, place: Place, delay: int | None = None, options: SendOptions = PLAIN) -> None:
    draft = world.draft(label, options)
    answer = world.administrator.put(place, draft, delay)
    world.note_sent(label, draft, answer, world.address(place))
    world.last = Answer(answer.ref, answer.outcome)


@then(phrase("putting {label:Name} is accepted"))
def _(world: World, evidence: Evidence, label: str) -> None:
    evidence.claim("accepted", {"call": world.messages[label].call})


@then(phrase("putting {label:Name} is refused, or else the receiver sees it undelayed"))
def _(world: World, evidence: Evidence, label: str) -> None:
    sent = world.messages[label]
    world.observe((RECEIVER,), ())
    options = {"option.refused": f"refused {sent.call}", "option.undelayed": f"seen {sent.key}"}
    evidence.claim("one-of", {"actors": RECEIVER} | options, {"within_ms": 2 * world.limits.at_once_ms})
