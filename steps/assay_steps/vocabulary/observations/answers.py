"""Claims about answers: accepted, refused and why, what a call showed."""

from __future__ import annotations

from pytest_bdd import then

from assay_adapters.ports.outcome import Refused
from assay_sdk.model.reasons import JmsErrorKind, Mqrc
from assay_steps.cast.claims import Evidence, listed
from assay_steps.cast.world import World
from assay_steps.words.mistakes import MistakeError
from assay_steps.words.names import Place
from assay_steps.words.parsing import phrase

GIVEN_UP_MS = 5_000
"""A call that came back in vain only after this long had been waiting, and was not turned away."""

CHECKED = {"checked": 1, "runtime": 0}


@then("it is accepted")
def _(evidence: Evidence, world: World) -> None:
    evidence.claim("accepted", {"call": world.last.ref})


@then(phrase("sending {label:Name} is accepted"))
def _(evidence: Evidence, world: World, label: str) -> None:
    evidence.claim("accepted", {"call": world.messages[label].call})


@then(phrase("sending {label:Name} is accepted or refused, which is recorded"))
def _(evidence: Evidence, world: World, label: str) -> None:
    call = world.messages[label].call
    evidence.claim("one-of", {"option.accepted": f"accepted {call}", "option.refused": f"refused {call}"})


@then(phrase("sending {label:Name} is refused"))
def _(evidence: Evidence, world: World, label: str) -> None:
    evidence.claim("refused-with", {"call": world.messages[label].call})


@then(phrase("sending {label:Name} is refused with {mqrc:Mqrc}"))
def _(evidence: Evidence, world: World, label: str, mqrc: Mqrc) -> None:
    evidence.claim("refused-with", {"call": world.messages[label].call}, {"mqrc": int(mqrc)})


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


@then("it is refused")
def _(evidence: Evidence, world: World) -> None:
    evidence.claim("refused-with", {"call": world.last.ref})


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
        raise MistakeError(f"there is no {kind} error; there are {known}")
    evidence.claim("refused-with", {"call": world.last.ref, "kind": word})


@then(phrase("the message shows {field} {value:Name} after the send"))
@then(phrase("message {label:Name} shows {field} {value:Name} after the send"))
def _(evidence: Evidence, world: World, field: str, value: str, label: str = "message") -> None:
    evidence.claim("equal-fields", {"at": world.recorder.returned(world.messages[label].call), f"field.{field}": value})


@then("it is refused, or receives no message")
def _(evidence: Evidence, world: World) -> None:
    options = {"option.refused": f"refused {world.last.ref}", "option.waited": f"given-up {world.last.ref}"}
    evidence.claim("one-of", options, {"given_up_ms": GIVEN_UP_MS})


@then(phrase("the setting is refused with {mqrc:Mqrc}, or else the send"))
def _(evidence: Evidence, world: World, mqrc: Mqrc) -> None:
    options = {f"option.refused at the {tried}": f"refused {answer.ref}" for tried, answer in world.tries.items()}
    evidence.claim("one-of", options, {"mqrc": int(mqrc)})


@then(phrase("both are refused with {mqrc:Mqrc} in the same words"))
def _(evidence: Evidence, world: World, mqrc: Mqrc) -> None:
    first, second = world.tries.values()
    evidence.claim("refused-with", {"call": first.ref}, {"mqrc": int(mqrc)})
    if isinstance(first.outcome, Refused):
        words = {"field.mqrc": str(first.outcome.mqrc), "field.text": first.outcome.text}
        evidence.claim("equal-fields", {"at": world.recorder.returned(second.ref)} | words)
