"""Claims about answers to calls: accepted, refused with a reason, and the fields that a call shows."""

from __future__ import annotations

from pytest_bdd import then

from assay_adapters.ports.client import Setting
from assay_adapters.ports.outcome import Refused
from assay_sdk.model.reasons import JmsErrorKind, Mqrc
from assay_steps.cast.claims import Evidence, listed
from assay_steps.cast.world import World
from assay_steps.words.mistakes import MistakeError
from assay_steps.words.names import Place
from assay_steps.words.parsing import phrase

GIVEN_UP_MS = 5_000
"""The least duration, in milliseconds, of a call that loses its connection but counts as a wait without a message."""

CHECKED = {"checked": 1, "runtime": 0}

END_FIELDS = {Setting.DELAY: "JMSDeliveryTime", Setting.TTL: "JMSExpiration"}
"""The message header that shows the end of a delay or of a time to live, by the producer's setting."""

STAMPS_APART_MS = 200
"""The allowed difference, in milliseconds, between times of one message that come from two readings of the clock."""

SAYINGS = {
    "that a queue is full": (
        *("full", "2053", "capacity", "depth", "limit", "quota", "exceed", "space"),
        *("max", "room", "overflow", "another message", "more message"),
    ),
    "that puts are disabled": ("inhibit", "2051", "disabled", "not allowed", "blocked", "stopped"),
    "that the message is too long": (
        *("big", "2030", "2031", "long", "large", "size", "length", "limit", "exceed"),
        *("max", "byte", "octet"),
    ),
}
"""For each reason that a step can name: words and reason codes, of which the refusal's text must contain one.

They are in lower case.
"""


@then("it is accepted")
def _(evidence: Evidence, world: World) -> None:
    evidence.claim("accepted", {"call": world.last.ref})


@then(phrase("sending {label:Name} is accepted"))
def _(evidence: Evidence, world: World, label: str) -> None:
    evidence.claim("accepted", {"call": world.messages[label].call})


@then(phrase("whether sending {label:Name} is accepted is recorded"))
def _(evidence: Evidence, world: World, label: str) -> None:
    call = world.messages[label].call
    evidence.claim("one-of", {"option.accepted": f"accepted {call}", "option.refused": f"refused {call}"})


@then(phrase("sending {label:Name} is refused"))
@then(phrase("sending {label:Name} is refused with {mqrc:Mqrc}"))
def _(evidence: Evidence, world: World, label: str, mqrc: Mqrc | None = None) -> None:
    reason = {} if mqrc is None else {"mqrc": int(mqrc)}
    evidence.claim("refused-with", {"call": world.messages[label].call}, reason)


@then(phrase("after its send, {label:Name} has a {setting:Setting} of {span:Duration}, to within 200 ms"))
def _(evidence: Evidence, world: World, label: str, setting: Setting, span: int) -> None:
    sent = world.messages[label]
    stamp = sent.answer.needed().fields["JMSTimestamp"]
    end = (stamp if isinstance(stamp, int) else 0) + span
    of = {"at": world.recorder.returned(sent.call), "field": END_FIELDS[setting]}
    evidence.claim("in-range", of, {"least": end - STAMPS_APART_MS, "most": end + STAMPS_APART_MS})


@then(phrase("the producer shows a {setting:Setting} of {span:Duration}"))
def _(evidence: Evidence, world: World, setting: Setting, span: int) -> None:
    answer = world.producers["sender"].get(setting)
    evidence.claim("equal-fields", {"at": answer.ref, f"field.{setting.value}": str(span)})


@then(phrase("the refusal's text names {places:Places}"))
def _(evidence: Evidence, world: World, places: tuple[Place, ...]) -> None:
    names = listed(world.address(place).name for place in places)
    evidence.claim("mentions", {"at": world.last.ref, "field.text": names})


@then(phrase("the refusal's text names {mqrc:Mqrc}"))
def _(evidence: Evidence, world: World, mqrc: Mqrc) -> None:
    evidence.claim("mentions", {"at": world.last.ref, "field.text": f"MQRC_{mqrc.name}"})


@then(phrase("which of {places:Places} the refusal's text names is recorded"))
def _(evidence: Evidence, world: World, places: tuple[Place, ...]) -> None:
    names = listed(world.address(place).name for place in places)
    evidence.claim("mentions", {"at": world.last.ref, "field.text": names}, {"recorded": 1})


@then(phrase("the refusal names {places:Places} alone as the cause"))
def _(evidence: Evidence, world: World, places: tuple[Place, ...]) -> None:
    names = listed(world.address(place).name for place in places)
    evidence.claim("mentions", {"at": world.last.ref, "field.objects": names}, {"exactly": 1})


@then(phrase("the refusal says {why}"))
def _(evidence: Evidence, world: World, why: str) -> None:
    if why not in SAYINGS:
        raise MistakeError(f"no refusal says {why!r}; this step knows {', '.join(SAYINGS)}")
    evidence.claim("mentions", {"at": world.last.ref, "field.says": listed(SAYINGS[why])}, {"any": 1})


@then("it is refused")
@then(phrase("it is refused as a {exception} exception"))
def _(evidence: Evidence, world: World, exception: str | None = None) -> None:
    checked = {} if exception is None else {"checked": CHECKED[exception]}
    evidence.claim("refused-with", {"call": world.last.ref}, checked)


@then("it is refused to a user who lacks authority")
def _(evidence: Evidence, world: World) -> None:
    evidence.claim("refused-with", {"call": world.last.ref}, {"authority": 1})


@then(phrase("it is refused with {mqrc:Mqrc}"))
@then(phrase("it is refused with {mqrc:Mqrc} as a {exception} exception"))
def _(evidence: Evidence, world: World, mqrc: Mqrc, exception: str | None = None) -> None:
    checked = {} if exception is None else {"checked": CHECKED[exception]}
    evidence.claim("refused-with", {"call": world.last.ref}, {"mqrc": int(mqrc)} | checked)


@then(phrase("it is refused as an {kind} error"))
@then(phrase("it is refused as a {kind} error"))
def _(evidence: Evidence, world: World, kind: str) -> None:
    word = kind.replace(" ", "-")
    if word not in set(JmsErrorKind):
        known = ", ".join(one.value.replace("-", " ") for one in JmsErrorKind)
        raise MistakeError(f"{kind!r} is no kind of error; the kinds are {known}")
    evidence.claim("refused-with", {"call": world.last.ref, "kind": word})


@then(phrase("the message shows {field} {value:Name} after the send"))
@then(phrase("message {label:Name} shows {field} {value:Name} after the send"))
def _(evidence: Evidence, world: World, field: str, value: str, label: str = "message") -> None:
    evidence.claim("equal-fields", {"at": world.recorder.returned(world.messages[label].call), f"field.{field}": value})


@then("the call is refused or returns no message")
def _(evidence: Evidence, world: World) -> None:
    options = {"option.refused": f"refused {world.last.ref}", "option.waited": f"given-up {world.last.ref}"}
    evidence.claim("one-of", options, {"given_up_ms": GIVEN_UP_MS})


@then(phrase("the setting or the send is refused with {mqrc:Mqrc}"))
def _(evidence: Evidence, world: World, mqrc: Mqrc) -> None:
    options = {f"option.refused at the {tried}": f"refused {answer.ref}" for tried, answer in world.tries.items()}
    evidence.claim("one-of", options, {"mqrc": int(mqrc)})


@then(phrase("the setting or the send is refused with {mqrc:Mqrc} as a {exception} exception"))
def _(evidence: Evidence, world: World, mqrc: Mqrc, exception: str) -> None:
    tried = list(world.tries.values())[-1]  # the last answer: the step sends only if the setting is accepted
    evidence.claim("refused-with", {"call": tried.ref}, {"mqrc": int(mqrc), "checked": CHECKED[exception]})


@then("the setting and the send are accepted")
def _(evidence: Evidence, world: World) -> None:
    for answer in world.tries.values():
        evidence.claim("accepted", {"call": answer.ref})


@then(phrase("both are refused with {mqrc:Mqrc}"))
def _(evidence: Evidence, world: World, mqrc: Mqrc) -> None:
    for answer in world.tries.values():
        evidence.claim("refused-with", {"call": answer.ref}, {"mqrc": int(mqrc)})


@then(phrase("both are refused with {mqrc:Mqrc} and the same text"))
def _(evidence: Evidence, world: World, mqrc: Mqrc) -> None:
    first, second = world.tries.values()
    evidence.claim("refused-with", {"call": first.ref}, {"mqrc": int(mqrc)})
    if isinstance(first.outcome, Refused):
        words = {"field.mqrc": str(first.outcome.mqrc), "field.text": first.outcome.text}
        evidence.claim("equal-fields", {"at": world.recorder.returned(second.ref)} | words)
