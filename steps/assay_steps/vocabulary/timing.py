"""Claims about when: never early, in time, after the due moment."""

from __future__ import annotations

from pytest_bdd import then

from assay_steps.evidence import Evidence
from assay_steps.parsing import phrase
from assay_steps.vocabulary.receiving import RECEIVER
from assay_steps.world import World


@then(phrase("the receiver sees it no earlier than {delay:Duration} after the send"))
@then(phrase("the receiver sees {label:Name} no earlier than {delay:Duration} after its send"))
@then(phrase("{name:Name} sees {label:Name} no earlier than {delay:Duration} after its send"))
def _(world: World, evidence: Evidence, delay: int, label: str = "message", name: str = RECEIVER) -> None:
    sent = world.messages[label]
    world.observe((name,), (sent.kid,))
    evidence.claim("not-before", {"kid": sent.kid, "call": sent.call, "actors": name}, {"delay_ms": delay})


@then(phrase("nobody sees {label:Name} earlier than {delay:Duration} after its send"))
def _(world: World, evidence: Evidence, label: str, delay: int) -> None:
    sent = world.messages[label]
    world.observe(tuple(world.consumers), (sent.kid,))
    evidence.claim("not-before", {"kid": sent.kid, "call": sent.call}, {"delay_ms": delay})


@then(phrase("the receiver sees it in time, {delay:Duration} after the send"))
@then(phrase("the receiver sees {label:Name} in time, {delay:Duration} after its send"))
@then(phrase("{name:Name} sees {label:Name} in time, {delay:Duration} after its send"))
def _(world: World, evidence: Evidence, delay: int, label: str = "message", name: str = RECEIVER) -> None:
    sent = world.messages[label]
    world.observe((name,), (sent.kid,))
    evidence.claim(
        "by",
        {"kid": sent.kid, "call": sent.call, "actors": name},
        {"delay_ms": delay, "limit_ms": world.patience.late_ms},
    )
